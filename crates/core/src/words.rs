//! How are numbers and names put into sentences?

use serde::Serialize;

/// `1 run`, `2 runs`.
pub fn count(number: usize, thing: &str) -> String {
    format!("{number} {thing}{}", plural(number))
}

/// `1 run`, `2,000 runs`.
pub fn count_grouped(number: u64, thing: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {thing}{plural}", grouped(number))
}

/// The plural ending for this number.
pub(crate) fn plural(number: usize) -> &'static str {
    if number == 1 { "" } else { "s" }
}

/// `52,110`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// ` and 3 more`; empty for 0.
pub fn and_more(more: usize) -> String {
    if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    }
}

/// The first few names, and the number of others.
pub fn some_of<'n>(names: impl Iterator<Item = &'n str>) -> String {
    const MOST: usize = 12;
    let mut names: Vec<&str> = names.collect();
    let more = and_more(names.len().saturating_sub(MOST));
    names.truncate(MOST);
    format!("{}{more}", names.join(", "))
}

/// `` `a` or `b` ``, shortened if the list is long.
pub(crate) fn any_of<S: AsRef<str>>(names: &[S]) -> String {
    const MOST: usize = 5;
    let shown: Vec<String> = names
        .iter()
        .take(MOST)
        .map(|name| format!("`{}`", name.as_ref()))
        .collect();
    let more = names.len() - shown.len();
    match (shown.as_slice(), more) {
        ([one], _) => one.clone(),
        ([first @ .., last], 0) => format!("{} or {last}", first.join(", ")),
        _ => format!("{} or {more} others", shown.join(", ")),
    }
}

/// The distinct items, in order of first occurrence.
pub fn distinct<T: PartialEq>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut kept = Vec::new();
    for item in items {
        if !kept.contains(&item) {
            kept.push(item);
        }
    }
    kept
}

/// The word that a value is written as in JSON.
pub fn word_of(value: impl Serialize) -> String {
    serde_json::to_value(value)
        .ok()
        .and_then(|value| value.as_str().map(str::to_owned))
        .unwrap_or_default()
}

/// `` `a`, `b` ``
pub(crate) fn quoted<S: AsRef<str>>(names: impl IntoIterator<Item = S>) -> String {
    let quoted = names.into_iter().map(|name| format!("`{}`", name.as_ref()));
    quoted.collect::<Vec<_>>().join(", ")
}

/// The first characters of a text, with an ellipsis if more follow.
pub fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// The words of a name or a text: split at everything except letters and digits, and between a
/// small letter and a capital.
pub fn words_in(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .flat_map(camel_words)
}

/// `readUserFile` as `read`, `User` and `File`.
pub(crate) fn camel_words(name: &str) -> impl Iterator<Item = &str> {
    let mut rest = name;
    std::iter::from_fn(move || {
        let mut before = ' ';
        let end = rest.find(|letter: char| {
            let begins = letter.is_uppercase() && before.is_lowercase();
            before = letter;
            begins
        });
        let word;
        (word, rest) = rest.split_at(end.unwrap_or(rest.len()));
        (!word.is_empty()).then_some(word)
    })
}
