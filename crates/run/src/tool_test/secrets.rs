//! What must not be written into the recording of a tool test?

use super::recording::Header;
use mcptest_redact::Redactor;
use std::borrow::Cow;
use std::sync::LazyLock;

static BARE: LazyLock<Option<Redactor>> = LazyLock::new(|| Redactor::builder().build().ok());

/// The header without what looks like a secret or stands under a secret name.
///
/// Values of the environment play no part: a recording must not be stale where they are not set. Other literals stay:
/// the suite beside the recording says them too.
pub(crate) fn without_secrets(header: Header) -> Header {
    let Some(redactor) = &*BARE else { return header };
    let text = serde_json::to_string(&header).unwrap_or_default();
    let Cow::Owned(clean) = redactor.json(&text) else { return header };
    match serde_json::from_str::<Header>(&clean) {
        Ok(clean) => clean.in_place_of(&header),
        Err(_) => header,
    }
}
