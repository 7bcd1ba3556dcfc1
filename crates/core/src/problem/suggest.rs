//! Which known word did the author mean?

/// The known word most similar to `word`, if it is similar enough to be a typing error.
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

/// Shorter names are too similar for one differing letter to be a typing error.
const SHORTEST_SLIP: usize = 6;

/// "Did you mean", or other advice if no known word is similar.
pub fn did_you_mean<'k>(
    word: &str,
    known: impl IntoIterator<Item = &'k str>,
    otherwise: impl FnOnce() -> String,
) -> String {
    nearest(word, known).map_or_else(otherwise, |near| format!("did you mean `{near}`?"))
}

/// Returns true if a name is most likely a misspelling of another: it has another case or other separators, or lacks
/// one letter. A name with a different letter is a different name: `get_user` and `set_user`.
pub(crate) fn is_slip(written: &str, other: &str) -> bool {
    let (written, other) = (fold(written), fold(other));
    let lengths = [&written, &other].map(|name| name.chars().count());
    let is_long = lengths.into_iter().all(|length| length >= SHORTEST_SLIP);
    let lacks_one = || {
        lengths[0].abs_diff(lengths[1]) == 1 && strsim::damerau_levenshtein(&written, &other) == 1
    };
    written == other || (is_long && lacks_one())
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
    use super::{is_slip, nearest};

    #[test]
    fn a_slip_finds_its_word_and_a_stranger_finds_none() {
        let known = ["trajectory", "golden_path", "prompt", "runs"];
        assert_eq!(nearest("trajektory", known), Some("trajectory"));
        assert_eq!(nearest("goldenPath", known), Some("golden_path"));
        assert_eq!(nearest("rnus", known), Some("runs"));
        assert_eq!(nearest("weather", known), None);
    }

    #[test]
    fn another_letter_makes_another_name_and_a_lacking_one_is_a_slip() {
        for (written, other) in [
            ("delete_repos", "delete_repo"),
            ("deleteRepo", "delete_repo"),
            ("delete-repo", "delete_repo"),
            ("lösche_datei", "lösche_datein"),
        ] {
            assert!(is_slip(written, other), "{written} {other}");
        }
        for (written, other) in [
            ("get_user", "set_user"),
            ("read", "reads"),
            ("delete_page", "delete_pages_all"),
        ] {
            assert!(!is_slip(written, other), "{written} {other}");
        }
    }
}
