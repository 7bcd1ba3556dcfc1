//! How is a request sent to a provider, retried and answered?

use super::answer::{FailedTry, Tried};
use super::ask_error::span;
use super::{AskError, AskErrorKind, Deadlines, Provider, address, retry};
use crate::dialect::{Ask, Reply};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// A wait before the next try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retry {
    /// The try that failed, from 1; 0 if none failed because the provider asked another request to
    /// wait.
    pub attempt: u32,
    /// The delay before the next try.
    pub wait: Duration,
    /// Why it failed, or is not made yet.
    pub why: String,
}

impl Provider {
    /// Requests the model's next message, and retries as the policy and the deadline allow. Calls
    /// the observer before every wait.
    pub async fn ask(
        &self,
        ask: &Ask<'_>,
        deadlines: Deadlines,
        observer: &mut (dyn FnMut(Retry) + Send),
    ) -> Result<Reply, AskError> {
        let deadline = deadlines.run;
        let dialect = self.dialect;
        let url = address::endpoint(
            &self.shared.base,
            dialect.version,
            &(dialect.path)(ask.model),
        );
        let body = bytes::Bytes::from((dialect.body)(ask));
        let mut attempt = 1;
        let mut earlier: Option<AskError> = None;
        loop {
            self.wait_out_pause(deadline, attempt, observer).await?;
            let FailedTry { mut error, tried } =
                match self.try_once(ask, &url, body.clone(), deadlines).await {
                    Ok(reply) => return Ok(reply),
                    Err(failure) => failure,
                };
            error.tries = attempt;
            self.hide_key(&mut error.message);
            let Tried::Again { told } = tried else {
                return Err(most_telling(error, earlier));
            };
            let wait = self.next_wait(attempt, told);
            let end = if attempt >= self.retry.tries {
                Some(format!("; given up after {attempt} tries"))
            } else {
                (Instant::now() + wait >= deadline).then(|| too_late(told))
            };
            if let Some(end) = end {
                error.go_on(&end);
                return Err(error);
            }
            observer(Retry {
                attempt,
                wait,
                why: error.message.clone(),
            });
            earlier = Some(error);
            sleep(wait).await;
            attempt += 1;
        }
    }

    /// If a provider asks one request to wait, all requests to it wait.
    fn next_wait(&self, attempt: u32, told: Option<Duration>) -> Duration {
        match told {
            Some(wait) => {
                self.pause_until(Instant::now() + wait);
                retry::with_jitter(wait)
            }
            None => self.retry.wait(attempt),
        }
    }

    async fn wait_out_pause(
        &self,
        deadline: Instant,
        attempt: u32,
        observer: &mut (dyn FnMut(Retry) + Send),
    ) -> Result<(), AskError> {
        while let Some(until) = self.paused_until().filter(|until| *until > Instant::now()) {
            let wait = retry::with_jitter(until - Instant::now());
            if Instant::now() + wait >= deadline {
                let message = format!(
                    "{} asked to wait {} more, which is longer than the remaining time",
                    self.shared.name,
                    span(wait)
                );
                let error = AskError::new(AskErrorKind::Unavailable, message);
                return Err(AskError {
                    tries: attempt - 1,
                    ..error
                });
            }
            observer(Retry {
                attempt: 0,
                wait,
                why: format!("{} asked to wait", self.shared.name),
            });
            sleep(wait).await;
        }
        Ok(())
    }

    /// Hides the key, because some providers repeat their input.
    fn hide_key(&self, message: &mut String) {
        if let Some(key) = &self.shared.key {
            *message = message.replace(&key.value, &format!("${{{}}}", key.variable));
        }
    }
}

const TOO_LATE: &str = "; no time is left to try again";

fn too_late(told: Option<Duration>) -> String {
    match told {
        Some(told) => {
            format!(
                "; it asks to wait {}, which is longer than the remaining time",
                span(told)
            )
        }
        None => TOO_LATE.to_owned(),
    }
}

/// The error to report: a timeout in a later try says less than the cause of the earlier failure.
fn most_telling(error: AskError, earlier: Option<AskError>) -> AskError {
    match earlier {
        Some(mut earlier) if error.kind == AskErrorKind::Hung => {
            earlier.tries = error.tries;
            earlier.go_on(TOO_LATE);
            earlier
        }
        _ => error,
    }
}
