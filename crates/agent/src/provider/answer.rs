//! One try: what does its answer, or the lack of one, mean?

use super::ask_error::span;
use super::{AskError, AskErrorKind, Deadlines, Provider, address, retry_after};
use crate::dialect::{Ask, BadReply, Reply, error_message};
use bytes::Bytes;
use mcptest_http::{CutAnswer, header_text, root_cause, whole};
use reqwest::header::{CONTENT_TYPE, HeaderMap, LOCATION};
use reqwest::{Response, StatusCode, Url};
use serde_json::Value;
use std::time::{Duration, SystemTime};
use tokio::time::{Instant, timeout_at};

const LARGEST_BODY: usize = 64 << 20;

/// A try without a message.
pub(super) struct FailedTry {
    pub(super) error: AskError,
    pub(super) tried: Tried,
}

/// The result of one try: final, or worth another try.
pub(super) enum Tried {
    Enough,
    Again { told: Option<Duration> },
}

impl From<AskError> for FailedTry {
    fn from(error: AskError) -> Self {
        Self {
            error,
            tried: Tried::Enough,
        }
    }
}

impl Provider {
    pub(super) async fn try_once(
        &self,
        ask: &Ask<'_>,
        url: &Url,
        body: Bytes,
        Deadlines {
            run: deadline,
            answer,
        }: Deadlines,
    ) -> Result<Reply, FailedTry> {
        let start = Instant::now();
        if start >= deadline {
            let message = format!("no time is left to ask {}", self.shared.name);
            return Err(AskError::new(AskErrorKind::Hung, message).into());
        }
        let until = deadline.min(start + answer);
        let hung = |what: &str| self.hung(what, until - start, until == deadline);
        let response = timeout_at(until, self.post(url, body))
            .await
            .map_err(|_| hung("no answer"))?
            .map_err(|error| self.not_reached(&error))?;
        let (status, headers) = (response.status(), response.headers().clone());
        let bytes = timeout_at(until, whole(response, LARGEST_BODY))
            .await
            .map_err(|_| hung("the answer was cut off"))?
            .map_err(|cut| self.cut_off(status, &cut))?;
        let text = String::from_utf8(bytes).map_err(|_| {
            self.unreadable(
                status,
                AskErrorKind::Malformed,
                "the answer is not UTF-8 text",
                Tried::Enough,
            )
        })?;
        if status.is_success() {
            return (self.dialect.read)(ask, &text)
                .map_err(|bad| self.malformed(status, &bad, &text));
        }
        Err(self.refused(ask, status, &text, &headers))
    }

    /// The time limit of the run, or of this answer, passed before the answer arrived.
    fn hung(&self, what: &str, after: Duration, is_end_of_run: bool) -> FailedTry {
        let message = format!("{}: {what} within {}", self.shared.name, span(after));
        if is_end_of_run {
            return AskError::new(AskErrorKind::Hung, message).into();
        }
        let message = message + " (`request_timeout`)";
        FailedTry {
            error: AskError::new(AskErrorKind::Hung, message),
            tried: Tried::Again { told: None },
        }
    }

    async fn post(&self, url: &Url, body: Bytes) -> reqwest::Result<Response> {
        let dialect = self.dialect;
        let mut request = self
            .shared
            .client
            .post(url.clone())
            .header(CONTENT_TYPE, "application/json")
            .body(body);
        for (name, value) in dialect.headers {
            request = request.header(*name, *value);
        }
        if let Some(key) = &self.shared.key {
            let (name, value) = (dialect.key_header)(&key.value);
            request = request.header(name, value);
        }
        request.send().await.map_err(reqwest::Error::without_url)
    }

    /// No answer at all.
    fn not_reached(&self, error: &reqwest::Error) -> FailedTry {
        let at = address::shown(&self.shared.base);
        let why = root_cause(error);
        let message = if error.is_connect() || error.is_timeout() {
            format!("{} cannot be reached at {at}: {why}", self.shared.name)
        } else {
            format!(
                "{} at {at} closed the connection without an answer: {why}",
                self.shared.name
            )
        };
        let error = AskError::new(AskErrorKind::Unavailable, message);
        FailedTry {
            error,
            tried: Tried::Again { told: None },
        }
    }

    fn cut_off(&self, status: StatusCode, cut: &CutAnswer) -> FailedTry {
        match cut {
            CutAnswer::Broken { bytes, why } => {
                let what = format!("the answer broke off after {bytes} bytes: {why}");
                self.unreadable(
                    status,
                    AskErrorKind::Unavailable,
                    &what,
                    Tried::Again { told: None },
                )
            }
            CutAnswer::TooLong { .. } => {
                let what = format!("the answer is longer than {} MiB", LARGEST_BODY >> 20);
                self.unreadable(status, AskErrorKind::Malformed, &what, Tried::Enough)
            }
        }
    }

    fn unreadable(
        &self,
        status: StatusCode,
        kind: AskErrorKind,
        what: &str,
        tried: Tried,
    ) -> FailedTry {
        let error = AskError::new(kind, format!("{}: {what}", self.shared.name));
        FailedTry {
            error: AskError {
                status: Some(status.as_u16()),
                ..error
            },
            tried,
        }
    }

    /// A success status without a message. An answer that a gateway made itself is retried.
    fn malformed(&self, status: StatusCode, bad: &BadReply, body: &str) -> FailedTry {
        let again = Tried::Again { told: None };
        let (kind, tried) = match bad {
            BadReply::Failed(_) if is_final(body) => (AskErrorKind::Rejected, Tried::Enough),
            BadReply::Failed(_) => (AskErrorKind::Unavailable, again),
            BadReply::Blocked(_) => (AskErrorKind::Refused, Tried::Enough),
            BadReply::Shape { .. } => (AskErrorKind::Malformed, Tried::Enough),
            BadReply::Html(_) | BadReply::Empty | BadReply::CutOff(_) | BadReply::NotJson(_) => {
                (AskErrorKind::Malformed, again)
            }
        };
        let mut failed = self.unreadable(status, kind, &bad.to_string(), tried);
        failed.error.is_of_schema = matches!(bad, BadReply::Failed(said) if speaks_of_schema(said));
        failed
    }

    /// Classifies an error status.
    fn refused(
        &self,
        ask: &Ask<'_>,
        status: StatusCode,
        body: &str,
        headers: &HeaderMap,
    ) -> FailedTry {
        let said = error_message(body);
        let mut message = format!("{} answered {}", self.shared.name, status.as_u16());
        if !said.is_empty() {
            message.push_str(&format!(": {said}"));
        }
        let mut is_of_schema = speaks_of_schema(&said);
        if is_of_request(status) {
            let tools = super::tool_index::named(body, ask.tools);
            is_of_schema |= !tools.is_empty();
            message.push_str(&tools);
        }
        // Google's status for a key that is not one.
        let is_bad_key = body.contains("API_KEY_INVALID");
        let hinted = if is_bad_key {
            StatusCode::UNAUTHORIZED
        } else {
            status
        };
        message.push_str(&self.hint(ask, hinted, header_text(headers, LOCATION)));
        let (kind, tried) = if is_transient(status, body) {
            let told = retry_after::wait(headers, body, SystemTime::now());
            (AskErrorKind::Unavailable, Tried::Again { told })
        } else {
            (AskErrorKind::Rejected, Tried::Enough)
        };
        let error = AskError {
            status: Some(status.as_u16()),
            is_of_schema,
            ..AskError::new(kind, message)
        };
        FailedTry { error, tried }
    }

    fn hint(&self, ask: &Ask<'_>, status: StatusCode, location: Option<&str>) -> String {
        match (status, &self.shared.key) {
            (StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN, Some(key)) => {
                format!(" (the key is taken from {})", key.variable)
            }
            (StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN, None) => format!(
                " (no key was sent: name the variable that holds it as `api_key_env` of the provider `{}`)",
                self.shared.name
            ),
            (StatusCode::NOT_FOUND, _) => format!(
                " (is `{}` the id of a model there, and {} the right base URL?)",
                ask.model,
                address::shown(&self.shared.base)
            ),
            (status, _) if status.is_redirection() => {
                let to = location.map_or_else(String::new, |to| {
                    format!(" to {}", crate::dialect::gist(to))
                });
                format!(" (it redirects{to}: make that the base URL)")
            }
            _ => String::new(),
        }
    }
}

/// Returns true if an error with a success status is final, by its code or its words.
fn is_final(body: &str) -> bool {
    let value: Value = serde_json::from_str(body).unwrap_or_default();
    let error = &value["error"];
    let code = ["code", "status"]
        .iter()
        .find_map(|key| error[*key].as_u64());
    let words = ["type", "code"]
        .iter()
        .filter_map(|key| error[*key].as_str());
    code.is_some_and(|code| (400..500).contains(&code) && !matches!(code, 408 | 429))
        || words.into_iter().any(|word| {
            [
                "invalid",
                "authentication",
                "permission",
                "not_found",
                "quota",
            ]
            .iter()
            .any(|part| word.contains(part))
        })
}

/// Returns true if the provider's message is about the schema of a tool.
fn speaks_of_schema(said: &str) -> bool {
    said.to_ascii_lowercase().contains("schema")
}

/// Returns true if the same request may succeed later. An exhausted quota is permanent.
fn is_transient(status: StatusCode, body: &str) -> bool {
    match status {
        StatusCode::TOO_MANY_REQUESTS => !body.contains("insufficient_quota"),
        StatusCode::REQUEST_TIMEOUT => true,
        status => status.is_server_error(),
    }
}

/// Returns true if the provider declines the request itself.
fn is_of_request(status: StatusCode) -> bool {
    matches!(
        status,
        StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY
    )
}
