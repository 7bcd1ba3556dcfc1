//! Does the description say what the tool does?

use super::look::Look;
use super::rules::Spots;
use super::words::{stem, stems, words};

const PLACE: &str = "/description";

/// So few words say nothing that the name does not.
const FEWEST_WORDS: usize = 4;

fn spot(what: String) -> Spots {
    vec![(PLACE.to_owned(), what)]
}

pub(super) fn is_missing(look: &Look<'_>, _: &[Look<'_>]) -> Spots {
    if look.description.is_empty() { spot("there is no description".to_owned()) } else { Vec::new() }
}

pub(super) fn is_short(look: &Look<'_>, _: &[Look<'_>]) -> Spots {
    let count = words(look.description).len();
    let is_short = count > 0 && count < FEWEST_WORDS && !repeats(look);
    if is_short {
        spot(format!("{}: {:?}", crate::words::count(count, "word"), look.description))
    } else {
        Vec::new()
    }
}

pub(super) fn repeats_name(look: &Look<'_>, _: &[Look<'_>]) -> Spots {
    if repeats(look) {
        spot(format!("it says what the name says: {:?}", look.description))
    } else {
        Vec::new()
    }
}

/// Whether no word of the description is new to one who has read the name.
fn repeats(look: &Look<'_>) -> bool {
    let name = words(&look.tool.tool.name);
    let is_known = |said: &String| name.iter().any(|word| stem(word) == said);
    !look.description.is_empty() && stems(look.description).iter().all(is_known)
}
