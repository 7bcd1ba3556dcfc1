//! What does an HTTP answer mean for its request?

use super::super::Misbehaviour;
use super::super::conversation::{Received, Unanswered, quote};
use super::body::{beginning, is_html, page_words, whole};
use super::{Http, Outgoing};
use crate::jsonrpc::{self, Body, Id, RpcError, code};
use http::{StatusCode, header};
use mcptest_http::{header_text, media_type};
use reqwest::{Response, Url};
use std::sync::Arc;

impl Http {
    /// Reads the answer of a request that was accepted.
    pub(super) async fn take_answer(
        self: &Arc<Self>,
        outgoing: &Outgoing,
        response: Response,
    ) -> Result<(), Misbehaviour> {
        let status = response.status().as_u16();
        let content_type = media_type(response.headers());
        match content_type.as_deref() {
            Some("text/event-stream") => return self.take_stream(outgoing, response).await,
            Some(kind) if kind == "application/json" || kind.ends_with("+json") => {}
            found => {
                let found = found.map(ToOwned::to_owned);
                return Err(of_other_type(status, found, &beginning(response).await));
            }
        }
        let bytes = whole(response, self.conversation.limit).await?;
        let text = match std::str::from_utf8(&bytes) {
            Ok(text) if text.trim().is_empty() => return Err(Misbehaviour::EmptyBody { status }),
            Ok(text) => text,
            Err(_) => {
                return Err(Misbehaviour::NotUtf8 {
                    text: quote(&String::from_utf8_lossy(&bytes)),
                });
            }
        };
        self.take_text(outgoing.id, status, text)
    }

    fn take_text(self: &Arc<Self>, id: i64, status: u16, text: &str) -> Result<(), Misbehaviour> {
        match self.conversation.hear(text, Some(id)) {
            Received::Bad(_) if is_html(None, text) => Err(Misbehaviour::Html {
                status,
                start: page_words(text),
            }),
            Received::Bad(why) => Err(Misbehaviour::Malformed {
                why,
                text: quote(text),
            }),
            Received::Stray(answered) => Err(Misbehaviour::WrongId {
                asked: id.to_string(),
                answered,
            }),
            Received::Asked(reply) => {
                self.post_and_forget(reply, None);
                Err(Misbehaviour::BadResult {
                    why: "is a request of the server's own".to_owned(),
                })
            }
            Received::Expected if self.conversation.waits_for(id) => Err(Misbehaviour::BadResult {
                why: "is a notification".to_owned(),
            }),
            Received::Expected => Ok(()),
        }
    }
}

/// A body that is neither JSON nor an event stream.
fn of_other_type(status: u16, found: Option<String>, text: &str) -> Misbehaviour {
    if text.trim().is_empty() {
        Misbehaviour::EmptyBody { status }
    } else if is_html(found.as_deref(), text) {
        Misbehaviour::Html {
            status,
            start: page_words(text),
        }
    } else {
        Misbehaviour::WrongContentType {
            found,
            body: quote(text),
        }
    }
}

/// The error for a status that is not a success.
pub(super) async fn of_refusal(
    id: i64,
    response: Response,
    url: &Url,
    had_credentials: bool,
) -> Unanswered {
    let status = response.status();
    let header = |name| header_text(response.headers(), name).map(ToOwned::to_owned);
    let (location, challenge) = (header(header::LOCATION), header(header::WWW_AUTHENTICATE));
    let content_type = media_type(response.headers());
    let text = beginning(response).await;
    if let Some(error) = own_error(id, &text) {
        return Unanswered::Rpc(error);
    }
    let number = status.as_u16();
    let body = if is_html(content_type.as_deref(), &text) {
        page_words(&text)
    } else {
        quote(&text)
    };
    Unanswered::Bad(match status {
        StatusCode::UNAUTHORIZED => Misbehaviour::Unauthorized {
            challenge,
            had_credentials,
            body,
        },
        StatusCode::FORBIDDEN => Misbehaviour::Forbidden { body },
        StatusCode::NOT_FOUND => Misbehaviour::NotFound {
            url: url.to_string(),
            body,
        },
        status if status.is_redirection() => Misbehaviour::Redirect {
            status: number,
            location,
        },
        status if status.is_server_error() => Misbehaviour::ServerError {
            status: number,
            body,
        },
        _ => Misbehaviour::UnexpectedStatus {
            status: number,
            body,
        },
    })
}

/// The JSON-RPC error in a body, if it is about this request or exists only in the modern protocol.
fn own_error(id: i64, text: &str) -> Option<RpcError> {
    let modern = [
        code::HEADER_MISMATCH,
        code::MISSING_CLIENT_CAPABILITY,
        code::UNSUPPORTED_VERSION,
    ];
    match jsonrpc::parse(text).ok()?.body {
        Body::Error {
            id: Some(Id::Number(own)),
            error,
        } if own == id => Some(error),
        Body::Error { id: None, error } if modern.contains(&error.code) => Some(error),
        _ => None,
    }
}
