//! One request over HTTP: sent, sent again where that is the rule, and its answer read.

use super::super::conversation::Unanswered;
use super::super::link::{Deadline, Link};
use super::super::{Misbehaviour, Observed, handshake};
use super::{Http, Outgoing, SESSION, answer};
use crate::era::Era;
use http::{StatusCode, header};
use mcptest_http::header_text;
use reqwest::Response;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep};

const MAX_TRIES: usize = 10;
const LEAST_WAIT: Duration = Duration::from_millis(50);

impl Http {
    /// Runs a request to its end; whatever that is goes to the conversation.
    pub(super) async fn exchange(self: &Arc<Self>, outgoing: Outgoing) {
        if let Err(why) = self.try_exchange(&outgoing).await {
            self.conversation.fail(outgoing.id, Unanswered::Bad(why));
        }
    }

    async fn try_exchange(self: &Arc<Self>, outgoing: &Outgoing) -> Result<(), Misbehaviour> {
        let mut is_renewed = false;
        for tries in 1.. {
            let session = self.session.lock().id.clone();
            let named = outgoing
                .headers
                .iter()
                .map(|(name, value)| (name.clone(), value.clone()));
            let response = self
                .post(&outgoing.line, Some(&outgoing.method), |own| {
                    own.extend(named);
                })
                .await?;
            match response.status() {
                status if status.is_success() => return self.take(outgoing, response).await,
                StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
                    self.wait_to_retry(outgoing, response, tries).await?;
                }
                StatusCode::NOT_FOUND if session.is_some() && outgoing.method != "initialize" => {
                    if is_renewed {
                        return Err(Misbehaviour::SessionExpired);
                    }
                    is_renewed = true;
                    self.renew(session).await?;
                }
                _ => {
                    self.take_refusal(outgoing, response).await;
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    async fn take(
        self: &Arc<Self>,
        outgoing: &Outgoing,
        response: Response,
    ) -> Result<(), Misbehaviour> {
        if outgoing.method == "initialize" && self.era() == Era::Legacy {
            self.session.lock().id =
                header_text(response.headers(), SESSION).map(ToOwned::to_owned);
        }
        self.take_answer(outgoing, response).await
    }

    async fn take_refusal(&self, outgoing: &Outgoing, response: Response) {
        let had_credentials = self.headers.contains_key(http::header::AUTHORIZATION);
        let why = answer::of_refusal(outgoing.id, response, &self.url, had_credentials).await;
        self.conversation.fail(outgoing.id, why);
    }

    async fn wait_to_retry(
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
                let body = super::super::conversation::quote(&answer::beginning(response).await);
                Err(Misbehaviour::TryLater {
                    status,
                    retry_after,
                    tries,
                    body,
                })
            }
        }
    }

    /// Begins a new session to replace one that the server has forgotten.
    async fn renew(self: &Arc<Self>, forgotten: Option<String>) -> Result<(), Misbehaviour> {
        let _one_at_a_time = self.renewing.lock().await;
        if self.session.lock().id != forgotten {
            return Ok(());
        }
        self.conversation.observe(Observed::SessionRenewed);
        let link = Link::Http(Arc::clone(self), None);
        match handshake::initialize(&link, Deadline::after(self.connect_timeout)).await {
            Ok(_) => Ok(()),
            Err(error) => Err(error.misbehaviour.clone()),
        }
    }
}

/// The wait, when it is given in seconds. A date is reported as it is, not waited for.
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
