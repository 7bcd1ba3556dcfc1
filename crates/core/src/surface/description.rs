//! Does the description say what the tool does?

use super::look::Look;
use super::rules::{Spots, spot};
use super::words::{stem, stems, words};

const PLACE: &str = "/description";

/// So few words say nothing that the name does not.
const FEWEST_WORDS: usize = 4;

pub(super) fn is_missing(look: &Look<'_>, _: &[Look<'_>]) -> Spots {
    spot(
        PLACE,
        look.description
            .is_empty()
            .then(|| "the description is missing".to_owned()),
    )
}

pub(super) fn is_short(look: &Look<'_>, _: &[Look<'_>]) -> Spots {
    let count = words(look.description).len();
    let is_short = count > 0 && count < FEWEST_WORDS && !repeats(look);
    let said = || {
        format!(
            "{}: {:?}",
            crate::words::count(count, "word"),
            look.description
        )
    };
    spot(PLACE, is_short.then(said))
}

pub(super) fn repeats_name(look: &Look<'_>, _: &[Look<'_>]) -> Spots {
    spot(
        PLACE,
        repeats(look).then(|| format!("it says what the name says: {:?}", look.description)),
    )
}

/// Whether no word of the description is new to one who has read the name.
fn repeats(look: &Look<'_>) -> bool {
    let name = words(&look.tool.tool.name);
    let is_known = |said: &String| name.iter().any(|word| stem(word) == said);
    !look.description.is_empty() && stems(look.description).iter().all(is_known)
}
