//! How much of an answer's body is read: all, or as much as a message can use?

use super::super::Misbehaviour;
use super::super::conversation::quote;
use mcptest_http::CutAnswer;
use reqwest::Response;
use std::time::Duration;
use tokio::time::timeout;

const EXCERPT_BYTES: usize = 16 << 10;
const EXCERPT_PATIENCE: Duration = Duration::from_secs(2);

/// The whole body.
pub(super) async fn whole(response: Response, limit: usize) -> Result<Vec<u8>, Misbehaviour> {
    mcptest_http::whole(response, limit)
        .await
        .map_err(|cut| match cut {
            CutAnswer::TooLong { bytes } => Misbehaviour::TooLong { bytes, limit },
            CutAnswer::Broken { bytes, why } => Misbehaviour::TruncatedBody { bytes, why },
        })
}

/// The part of the body that a message can use. mcptest does not wait for a server that sends it slowly.
pub(super) async fn beginning(mut response: Response) -> String {
    let mut body = Vec::new();
    let read = async {
        while body.len() < EXCERPT_BYTES
            && let Ok(Some(chunk)) = response.chunk().await
        {
            body.extend_from_slice(&chunk);
        }
    };
    let _ = timeout(EXCERPT_PATIENCE, read).await;
    String::from_utf8_lossy(&body).into_owned()
}

/// True for a page for people.
pub(super) fn is_html(content_type: Option<&str>, body: &str) -> bool {
    let start = body
        .trim_start()
        .get(..9)
        .unwrap_or_default()
        .to_ascii_lowercase();
    content_type.is_some_and(|kind| kind == "text/html" || kind == "application/xhtml+xml")
        || start.starts_with("<!doctype")
        || start.starts_with("<html")
}

/// A page's title, or its first words.
pub(super) fn page_words(body: &str) -> String {
    let lower = body.to_ascii_lowercase();
    let title = lower.find("<title>").and_then(|start| {
        let start = start + "<title>".len();
        let end = lower[start..].find("</title>")?;
        Some(body[start..start + end].trim())
    });
    quote(title.filter(|title| !title.is_empty()).unwrap_or(body))
}
