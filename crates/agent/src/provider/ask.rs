//! One question: sent, sent again where that is the rule, and its answer read.

use super::answer::{Failure, Tried};
use super::ask_error::span;
use super::{AskError, AskErrorKind, Provider, address, patience};
use crate::dialect::{Ask, Reply};
use std::time::Duration;
use tokio::time::{Instant, sleep, sleep_until};

/// A try that failed and is made again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retry {
    /// Which try failed, from 1.
    pub attempt: u32,
    /// How long is waited before the next.
    pub wait: Duration,
    /// Why it failed.
    pub why: String,
}

impl Provider {
    /// Asks for the model's next message, as often as patience and the deadline allow. The observer is told of every
    /// try that is made again, before the wait.
    pub async fn ask(
        &self,
        ask: &Ask<'_>,
        deadline: Instant,
        observer: &mut (dyn FnMut(Retry) + Send),
    ) -> Result<Reply, AskError> {
        let dialect = self.0.dialect;
        let url = address::endpoint(&self.0.base, dialect.version, &(dialect.path)(ask.model));
        let body = bytes::Bytes::from((dialect.body)(ask));
        let (mut attempt, mut can_have_cost) = (1, false);
        loop {
            self.wait_out_pause(deadline, attempt).await?;
            let failure = match self.try_once(ask, &url, body.clone(), deadline).await {
                Ok(reply) => return Ok(reply),
                Err(failure) => failure,
            };
            can_have_cost |= failure.error.can_have_cost;
            let error = AskError { can_have_cost, tries: attempt, ..failure.error };
            let Tried::Again { told } = failure.tried else { return Err(self.without_key(error)) };
            let wait = self.next_wait(attempt, told);
            if attempt >= self.0.patience.tries {
                return Err(self.without_key(given_up(error)));
            }
            if Instant::now() + wait >= deadline {
                return Err(self.without_key(too_late(error, wait, told.is_some())));
            }
            let why = self.without_key(error).message;
            observer(Retry { attempt, wait, why });
            sleep(wait).await;
            attempt += 1;
        }
    }

    /// A provider that asks one of us to wait asks all of us.
    fn next_wait(&self, attempt: u32, told: Option<Duration>) -> Duration {
        match told {
            Some(wait) => {
                self.pause_until(Instant::now() + wait);
                patience::told(wait, &self.0.dice)
            }
            None => self.0.patience.wait(attempt, &self.0.dice),
        }
    }

    async fn wait_out_pause(&self, deadline: Instant, attempt: u32) -> Result<(), AskError> {
        while let Some(until) = self.paused_until().filter(|until| *until > Instant::now()) {
            if until >= deadline {
                let wait = span(until - Instant::now());
                let message = format!(
                    "{} asked to wait for {wait} more, which is longer than the time that is left",
                    self.0.name
                );
                let kind = AskErrorKind::Unavailable;
                return Err(AskError {
                    kind,
                    status: Some(429),
                    message,
                    can_have_cost: false,
                    tries: attempt - 1,
                });
            }
            sleep_until(
                until + patience::told(Duration::from_millis(100), &self.0.dice) - Duration::from_millis(100),
            )
            .await;
        }
        Ok(())
    }

    /// Some providers repeat what they were sent.
    fn without_key(&self, mut error: AskError) -> AskError {
        if let Some(key) = &self.0.key {
            error.message = error.message.replace(&key.value, &format!("${{{}}}", key.variable));
        }
        error
    }
}

fn given_up(error: AskError) -> AskError {
    let message = format!("{}; given up after {} tries", error.message, error.tries);
    AskError { message, ..error }
}

fn too_late(error: AskError, wait: Duration, is_told: bool) -> AskError {
    let wait = span(wait);
    let message = if is_told {
        format!("{}; it asks to wait for {wait}, which is longer than the time that is left", error.message)
    } else {
        format!("{}; there is no time left to wait {wait} and try again", error.message)
    };
    AskError { message, ..error }
}

impl From<AskError> for Failure {
    fn from(error: AskError) -> Self {
        Self { error, tried: Tried::Enough }
    }
}
