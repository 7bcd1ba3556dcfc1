//! How is text from a model shown on one line, without letting it steer the terminal?

pub(super) use mcptest_core::escape::escape as visible;

/// The first `limit` characters made visible, with an ellipsis when there are more.
pub(super) fn clipped(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((end, _)) => format!("{}…", visible(&text[..end])),
        None => visible(text).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clip_counts_characters_not_bytes() {
        assert_eq!(clipped("天気予報", 2), "天気…");
        assert_eq!(clipped("天気", 2), "天気");
    }
}
