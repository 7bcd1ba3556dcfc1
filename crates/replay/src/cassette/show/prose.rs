//! What text is in a message's content?

use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(borrow, default)]
    text: Option<Cow<'a, str>>,
}

/// The text of a string, or of content blocks, one per line; other content as JSON.
pub(crate) fn of_content(content: Option<&RawValue>) -> Cow<'_, str> {
    let Some(json) = content.map(RawValue::get) else {
        return Cow::Borrowed("");
    };
    if json.starts_with('"') {
        let text = serde_json::from_str::<String>(json);
        return text.map_or(Cow::Borrowed(json), Cow::Owned);
    }
    let Ok(blocks) = serde_json::from_str::<Vec<&RawValue>>(json) else {
        return Cow::Borrowed(json);
    };
    let shown: Vec<_> = blocks.into_iter().map(of_block).collect();
    Cow::Owned(shown.join("\n"))
}

fn of_block(block: &RawValue) -> Cow<'_, str> {
    let json = block.get();
    let text = serde_json::from_str::<Block<'_>>(json)
        .ok()
        .filter(|_| json.starts_with('{'));
    text.and_then(|block| block.text)
        .unwrap_or(Cow::Borrowed(json))
}
