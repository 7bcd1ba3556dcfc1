//! How is the whole body of an answer read, within a limit?

use reqwest::Response;
use std::error::Error;

/// Why the body of an answer is not whole.
#[derive(Debug)]
pub enum CutAnswer {
    /// It exceeds the limit.
    TooLong {
        /// The declared size, if any.
        bytes: Option<usize>,
    },
    /// The connection broke.
    Broken {
        /// The number of bytes received.
        bytes: usize,
        /// The innermost cause.
        why: String,
    },
}

/// The whole body of an answer.
pub async fn whole(mut response: Response, limit: usize) -> Result<Vec<u8>, CutAnswer> {
    let declared = response
        .content_length()
        .and_then(|length| usize::try_from(length).ok());
    if let Some(bytes) = declared.filter(|bytes| *bytes > limit) {
        return Err(CutAnswer::TooLong { bytes: Some(bytes) });
    }
    let mut body = Vec::new();
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) => body.extend_from_slice(&chunk),
            Ok(None) => return Ok(body),
            Err(error) => {
                let why = root_cause(&error.without_url());
                return Err(CutAnswer::Broken {
                    bytes: body.len(),
                    why,
                });
            }
        }
        if body.len() > limit {
            return Err(CutAnswer::TooLong { bytes: None });
        }
    }
}

/// The innermost cause of an error, which is the most specific.
pub fn root_cause(error: &(dyn Error + 'static)) -> String {
    causes(error)
        .last()
        .map_or_else(|| error.to_string(), ToString::to_string)
}

/// An error and its causes, the innermost last.
pub fn causes<'a>(
    error: &'a (dyn Error + 'static),
) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error: &&'a (dyn Error + 'static)| {
        (*error).source()
    })
}
