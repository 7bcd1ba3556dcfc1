//! Which words does a name or a text have, and which of them are forms of one word?

/// Words that do not describe a tool.
const EMPTY: &str = "a an and are as at be by can for from function get given in into is it its method of on or return \
    returns that the these this those to tool use used uses using which will with you your";

/// The words in lower case, split at everything except letters and digits, and between a small
/// letter and a capital. In scripts without spaces, every character is a word.
pub(super) fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_small = false;
    for character in text.chars() {
        let is_word = character.is_alphanumeric();
        let is_alone = is_word && ('\u{2e80}'..='\u{d7ff}').contains(&character);
        if !is_word || is_alone || (was_small && character.is_uppercase()) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| is_word) {
            word.extend(character.to_lowercase());
        }
        if is_alone {
            words.push(String::new());
        }
        was_small = character.is_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}

/// The stem that the forms of an English word share: `creates`, `created` and `creating` are `creat`.
pub(super) fn stem(word: &str) -> &str {
    let ending = ["ies", "ing", "es", "ed", "s", "y", "e"]
        .into_iter()
        .find(|ending| {
            word.len() >= ending.len() + 3 && word.ends_with(ending) && !word.ends_with("ss")
        });
    let stem = word
        .strip_suffix(ending.unwrap_or_default())
        .unwrap_or(word);
    let mut last = stem.bytes().rev();
    let is_doubled = matches!(ending, Some("ing" | "ed")) && last.next() == last.next();
    if is_doubled && stem.is_ascii() && !stem.ends_with("ll") {
        &stem[..stem.len() - 1]
    } else {
        stem
    }
}

/// The stems of the meaningful words.
pub(super) fn stems(text: &str) -> Vec<String> {
    let is_telling = |word: &String| !EMPTY.split_whitespace().any(|empty| empty == word);
    words(text)
        .iter()
        .filter(|word| is_telling(word))
        .map(|word| stem(word).to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_texts_are_cut_into_words() {
        assert_eq!(
            words("getUserByID list-files API_v2"),
            ["get", "user", "by", "id", "list", "files", "api", "v2"]
        );
        assert_eq!(words("天気 now"), ["天", "気", "now"]);
    }

    #[test]
    fn forms_of_a_word_have_one_stem() {
        for forms in [
            "creates created creating create",
            "query queries",
            "file files",
            "stopped stopping stop",
        ] {
            let mut stems: Vec<&str> = forms.split(' ').map(stem).collect();
            stems.dedup();
            assert_eq!(stems.len(), 1, "{stems:?}");
        }
        assert_eq!(stem("pass"), "pass");
    }
}
