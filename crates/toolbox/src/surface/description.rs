//! Does the description say what the tool does?

use super::look::Look;
use super::rules::Spot;
use super::words::{stem, stems, words};
use mcptest_core::words::count;

const PLACE: &str = "/description";

/// A shorter description cannot add much to the name.
const FEWEST_WORDS: usize = 4;

pub(super) fn is_missing(look: &Look<'_>, _: &[Look<'_>]) -> Vec<Spot> {
    if look.description.is_empty() {
        vec![Spot::new(PLACE, "the description is missing")]
    } else {
        Vec::new()
    }
}

pub(super) fn is_short(look: &Look<'_>, _: &[Look<'_>]) -> Vec<Spot> {
    let words = words(look.description).len();
    if words == 0 || words >= FEWEST_WORDS || repeats(look) {
        return Vec::new();
    }
    let what = format!("{}: {:?}", count(words, "word"), look.description);
    vec![Spot::new(PLACE, what)]
}

pub(super) fn repeats_name(look: &Look<'_>, _: &[Look<'_>]) -> Vec<Spot> {
    if !repeats(look) {
        return Vec::new();
    }
    let what = format!("it only repeats the name: {:?}", look.description);
    vec![Spot::new(PLACE, what)]
}

/// Returns true if every word of the description is already in the name.
fn repeats(look: &Look<'_>) -> bool {
    let name = words(&look.tool.tool.name);
    let is_known = |said: &String| name.iter().any(|word| stem(word) == said);
    !look.description.is_empty() && stems(look.description).iter().all(is_known)
}
