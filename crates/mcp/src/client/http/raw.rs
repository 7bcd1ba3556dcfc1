//! A string that is posted as it is, and what is answered to it.

use super::super::{Misbehaviour, raw::RawAnswer};
use super::{ACCEPT_BOTH, Http, JSON, SESSION, body, connector, failure};
use crate::sse::Parser;
use crate::tape::Direction;
use http::header;
use mcptest_http::{header_text, media_type};

impl Http {
    /// Posts a string, with headers that replace the session's.
    pub(in crate::client) async fn post_raw(
        &self,
        text: &str,
        headers: &[(&str, &str)],
    ) -> Result<RawAnswer, Misbehaviour> {
        let owned: Vec<(String, String)> =
            headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        self.conversation.tap(Direction::Client, text);
        let mut all = self.session_headers(None);
        all.insert(header::ACCEPT, ACCEPT_BOTH);
        all.insert(header::CONTENT_TYPE, JSON);
        // A header with a name replaces the one of that name.
        all.extend(connector::header_map(&owned)?);
        let sent = self.client.post(self.url.clone()).headers(all).body(text.to_owned()).send().await;
        let response = sent.map_err(|error| failure::of_request(&error, &self.url, self.connect_timeout))?;
        let status = response.status().as_u16();
        let session = header_text(response.headers(), SESSION).map(ToOwned::to_owned);
        let is_stream = media_type(response.headers()).as_deref() == Some("text/event-stream");
        let text = if is_stream { first_event(response).await } else { body::beginning(response).await };
        Ok(RawAnswer { status, session, body: text })
    }

    pub(in crate::client) fn session_id(&self) -> Option<String> {
        self.session.lock().id.clone()
    }
}

/// The first message of a stream; empty when it ends before.
async fn first_event(mut response: reqwest::Response) -> String {
    let mut parser = Parser::new(1 << 20);
    while let Ok(Some(chunk)) = response.chunk().await {
        let Ok(events) = parser.feed(&chunk) else { break };
        if let Some(data) = events.into_iter().find_map(|event| event.data.filter(|data| !data.is_empty())) {
            return data;
        }
    }
    String::new()
}
