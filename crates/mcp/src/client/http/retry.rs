//! The server asks to come back later: is it asked again, and when?

use super::super::conversation::quote;
use super::super::{Misbehaviour, Observed};
use super::{Http, Outgoing, body};
use http::header;
use mcptest_http::header_text;
use reqwest::Response;
use std::time::Duration;
use tokio::time::{Instant, sleep};

const MAX_TRIES: usize = 10;
const LEAST_WAIT: Duration = Duration::from_millis(50);

impl Http {
    /// Waits as long as the server asks, or gives up. `tries` is the number of times that the
    /// request was sent.
    pub(super) async fn wait_to_retry(
        &self,
        outgoing: &Outgoing,
        response: Response,
        tries: usize,
    ) -> Result<(), Misbehaviour> {
        let status = response.status().as_u16();
        let retry_after =
            header_text(response.headers(), header::RETRY_AFTER).map(ToOwned::to_owned);
        let wait = retry_after
            .as_deref()
            .and_then(retry_wait)
            .map(|wait| wait.max(LEAST_WAIT));
        match wait {
            Some(wait) if tries < MAX_TRIES && Instant::now() + wait < outgoing.deadline.at => {
                let after_ms = wait.as_millis() as u64;
                self.conversation
                    .observe(Observed::Retried { status, after_ms });
                sleep(wait).await;
                Ok(())
            }
            _ => {
                let body = quote(&body::beginning(response).await);
                Err(Misbehaviour::TryLater {
                    status,
                    retry_after,
                    tries,
                    body,
                })
            }
        }
    }
}

/// The delay, if it is given in seconds. A date is reported verbatim, and mcptest does not wait for it.
fn retry_wait(text: &str) -> Option<Duration> {
    let seconds: f64 = text.trim().parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_seconds_are_waited_for() {
        assert_eq!(retry_wait("2"), Some(Duration::from_secs(2)));
        assert_eq!(retry_wait("-1"), None);
        assert_eq!(retry_wait("Wed, 21 Oct 2026 07:28:00 GMT"), None);
    }
}
