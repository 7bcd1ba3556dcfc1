//! How is an answer read from an event stream, and continued if the stream is cut off?

use super::super::conversation::Received;
use super::super::{Misbehaviour, Observed};
use super::{ACCEPT_EVENTS, Http, LAST_EVENT_ID, Outgoing};
use crate::era::Era;
use crate::sse::{Event, Parser, SseError};
use http::{HeaderValue, header};
use mcptest_http::{media_type, root_cause};
use reqwest::Response;
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;
use tokio::time::{sleep, timeout};

const MAX_RESUMPTIONS: usize = 20;
pub(super) const DEFAULT_RETRY: Duration = Duration::from_secs(1);
/// The time to read a stream after the answer, to detect a second answer.
const AFTER_ANSWER: Duration = Duration::from_secs(2);

/// The progress of reading a stream.
#[derive(Debug, Default)]
pub(super) struct Progress {
    pub(super) events: usize,
    pub(super) last_id: Option<String>,
    pub(super) retry: Option<Duration>,
}

/// The end of a stream.
#[derive(Debug)]
pub(super) enum Cut {
    /// The stream ended normally.
    Ended { inside_event: bool },
    /// The connection broke.
    Broken { inside_event: bool, why: String },
    /// The stream cannot be continued.
    Unreadable(SseError),
}

/// The reason that no stream can be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(super) enum NoStream {
    #[error("{0}")]
    NotSent(String),
    #[error("it cannot be continued: the server answered GET with HTTP {0}")]
    Refused(u16),
    #[error("the server answered GET as {0:?}, not as an event stream")]
    OtherType(String),
}

impl Http {
    pub(super) async fn take_stream(
        self: &Arc<Self>,
        outgoing: &Outgoing,
        first: Response,
    ) -> Result<(), Misbehaviour> {
        let mut progress = Progress::default();
        let mut response = first;
        for resumed in 0.. {
            let cut = self
                .read_stream(response, Some(outgoing.id), &mut progress)
                .await;
            if !self.conversation.waits_for(outgoing.id) {
                return Ok(());
            }
            let (inside_event, why) = match cut {
                Cut::Ended { inside_event } => (inside_event, None),
                Cut::Broken { inside_event, why } => (inside_event, Some(why)),
                Cut::Unreadable(error) => return Err(unreadable(&error)),
            };
            let events = progress.events;
            let give_up = |why| Misbehaviour::StreamCut {
                events,
                inside_event,
                resumed,
                why,
            };
            let Some(after) = progress
                .last_id
                .clone()
                .filter(|_| self.era() == Era::Legacy)
            else {
                return Err(give_up(why));
            };
            if resumed == MAX_RESUMPTIONS {
                return Err(give_up(why));
            }
            sleep(progress.retry.unwrap_or(DEFAULT_RETRY)).await;
            response = match self.get_events(Some(&after)).await {
                Ok(response) => response,
                Err(why) => return Err(give_up(Some(why.to_string()))),
            };
            self.conversation.observe(Observed::StreamResumed { after });
        }
        Ok(())
    }

    /// Reads events until the stream ends, or for a moment after the answer to `within`.
    pub(super) async fn read_stream(
        self: &Arc<Self>,
        mut response: Response,
        within: Option<i64>,
        progress: &mut Progress,
    ) -> Cut {
        let mut parser = Parser::new(self.conversation.limit);
        loop {
            let is_answered = within.is_some_and(|id| !self.conversation.waits_for(id));
            let chunk = if is_answered {
                match timeout(AFTER_ANSWER, response.chunk()).await {
                    Ok(chunk) => chunk,
                    Err(_) => {
                        return Cut::Ended {
                            inside_event: false,
                        };
                    }
                }
            } else {
                response.chunk().await
            };
            let inside_event = parser.is_inside_event();
            match chunk {
                Ok(None) => return Cut::Ended { inside_event },
                Err(error) => {
                    return Cut::Broken {
                        inside_event,
                        why: root_cause(&error),
                    };
                }
                Ok(Some(bytes)) => match parser.feed(&bytes) {
                    Ok(events) => {
                        for event in events {
                            self.take_event(event, within, progress);
                        }
                    }
                    Err(error) => return Cut::Unreadable(error),
                },
            }
        }
    }

    fn take_event(self: &Arc<Self>, event: Event, within: Option<i64>, progress: &mut Progress) {
        progress.events += 1;
        if event.id.is_some() {
            progress.last_id = event.id.filter(|id| !id.is_empty());
        }
        if let Some(retry_ms) = event.retry_ms {
            progress.retry = Some(Duration::from_millis(retry_ms));
        }
        let is_message = event
            .event
            .as_deref()
            .is_none_or(|kind| kind == "message" || kind.is_empty());
        let Some(data) = event
            .data
            .filter(|data| is_message && !data.trim().is_empty())
        else {
            return;
        };
        if let Received::Asked(reply) = self.conversation.hear(&data, within) {
            self.post_and_forget(reply, None);
        }
    }

    /// Opens an event stream with GET, after the last received event.
    pub(super) async fn get_events(&self, after: Option<&str>) -> Result<Response, NoStream> {
        let mut headers = self.session_headers(None);
        headers.insert(header::ACCEPT, ACCEPT_EVENTS);
        if let Some(after) = after.and_then(|after| HeaderValue::from_str(after).ok()) {
            headers.insert(LAST_EVENT_ID, after);
        }
        let sent = self
            .client
            .get(self.url.clone())
            .headers(headers)
            .send()
            .await;
        let response = sent.map_err(|error| NoStream::NotSent(root_cause(&error)))?;
        let status = response.status();
        if !status.is_success() {
            return Err(NoStream::Refused(status.as_u16()));
        }
        match media_type(response.headers()).as_deref() {
            Some("text/event-stream") => Ok(response),
            found => Err(NoStream::OtherType(found.unwrap_or("nothing").to_owned())),
        }
    }
}

fn unreadable(error: &SseError) -> Misbehaviour {
    match error {
        SseError::TooLong(limit) => Misbehaviour::TooLong {
            bytes: None,
            limit: *limit,
        },
        SseError::NotUtf8 => Misbehaviour::NotUtf8 {
            text: "an event of the stream".to_owned(),
        },
    }
}
