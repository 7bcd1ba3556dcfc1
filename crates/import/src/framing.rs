//! Is a file a stream of server-sent events, and which JSON is in it?

use std::borrow::Cow;

/// The fields of a server-sent event besides its data.
const OTHER_FIELDS: [&[u8]; 4] = [b":", b"event:", b"id:", b"retry:"];
const DATA: &[u8] = b"data:";

/// The JSON of server-sent events at its places in the file. Other files are unchanged.
pub(crate) fn without_framing(bytes: &[u8]) -> Cow<'_, [u8]> {
    let is_stream = is_stream(bytes);
    if !is_stream {
        return Cow::Borrowed(bytes);
    }
    let mut text = bytes.to_vec();
    for line in text.split_mut(|byte| *byte == b'\n') {
        if line.starts_with(DATA) {
            line[..DATA.len()].fill(b' ');
        } else if OTHER_FIELDS.iter().any(|field| line.starts_with(field)) {
            line.fill(b' ');
        }
    }
    Cow::Owned(text)
}

/// Returns true if the file begins like a stream of server-sent events.
pub(crate) fn is_stream(bytes: &[u8]) -> bool {
    bytes.starts_with(DATA) || OTHER_FIELDS.iter().any(|field| bytes.starts_with(field))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_data_of_an_event_stays_in_its_place() {
        let text = without_framing(b"event: message\ndata: {\"a\":1}\n\n: ping\ndata:{\"a\":2}\n");
        let expected = b"              \n      {\"a\":1}\n\n      \n     {\"a\":2}\n";
        assert_eq!(text.as_ref(), expected);
        assert_eq!(without_framing(b"{}").as_ref(), b"{}");
    }
}
