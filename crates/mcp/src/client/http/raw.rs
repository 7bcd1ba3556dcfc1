//! How does a server answer a string that is posted verbatim?

use super::super::Misbehaviour;
use super::super::raw::RawAnswer;
use super::{Http, body, connector};
use crate::sse::Parser;
use mcptest_http::media_type;

impl Http {
    /// Posts a string, with headers that replace the session's.
    pub(in crate::client) async fn post_raw(
        &self,
        text: &str,
        headers: &[(&str, &str)],
    ) -> Result<RawAnswer, Misbehaviour> {
        let headers = connector::header_map(headers)?;
        // A header with a name replaces the one of that name.
        let response = self.post(text, None, |own| own.extend(headers)).await?;
        let status = response.status().as_u16();
        let is_stream = media_type(response.headers()).as_deref() == Some("text/event-stream");
        let text = if is_stream {
            first_event(response).await
        } else {
            body::beginning(response).await
        };
        Ok(RawAnswer { status, body: text })
    }
}

/// The first message of a stream; empty if it ends before.
async fn first_event(mut response: reqwest::Response) -> String {
    let mut parser = Parser::new(1 << 20);
    while let Ok(Some(chunk)) = response.chunk().await {
        let Ok(events) = parser.feed(&chunk) else {
            break;
        };
        if let Some(data) = events
            .into_iter()
            .find_map(|event| event.data.filter(|data| !data.is_empty()))
        {
            return data;
        }
    }
    String::new()
}
