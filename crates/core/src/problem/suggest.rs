//! Which known word did the author mean?

/// The known word nearest to `word`, if one is near enough to be a slip of the pen.
pub fn nearest<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let folded = fold(word);
    let limit = (folded.chars().count() / 3).clamp(1, 4);
    known
        .into_iter()
        .filter(|candidate| *candidate != word)
        .map(|candidate| {
            (
                strsim::damerau_levenshtein(&folded, &fold(candidate)),
                candidate,
            )
        })
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// "Did you mean", or what else to say where no known word is near.
pub fn did_you_mean<'k>(
    word: &str,
    known: impl IntoIterator<Item = &'k str>,
    otherwise: impl FnOnce() -> String,
) -> String {
    nearest(word, known).map_or_else(otherwise, |near| format!("did you mean `{near}`?"))
}

fn fold(word: &str) -> String {
    word.chars()
        .take(100)
        .filter(|c| !matches!(c, '-' | '_' | ' '))
        .flat_map(char::to_lowercase)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_slip_finds_its_word_and_a_stranger_finds_none() {
        let known = ["trajectory", "golden_path", "prompt", "runs"];
        assert_eq!(nearest("trajektory", known), Some("trajectory"));
        assert_eq!(nearest("goldenPath", known), Some("golden_path"));
        assert_eq!(nearest("rnus", known), Some("runs"));
        assert_eq!(nearest("weather", known), None);
    }
}
