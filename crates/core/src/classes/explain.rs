//! Which classes were missed, in words?

use super::{Class, Reach};
use crate::engine::scores::RunScores;
use crate::engine::target::Target;
use crate::trace::Call;
use crate::words::{any_of, count};

const MOST_FINDINGS: usize = 20;

/// Reports missed classes and calls outside all classes; each finding names its targets.
pub(crate) fn explain_selection(
    reach: &Reach,
    calls: &[Call<'_>],
    classes: &[Class],
    (missed, strayed): (&[Target], &[Target]),
    scores: &mut RunScores,
) {
    for &class in reach.unreached.iter().take(MOST_FINDINGS) {
        scores.find_about(missed, why_unreached(&classes[class], calls));
    }
    for &call in reach.strays.iter().take(MOST_FINDINGS) {
        let message = format!("call {} `{}` is in no class", call + 1, calls[call].name);
        scores.find_about(strayed, message);
    }
    let more = reach.strays.len().saturating_sub(MOST_FINDINGS);
    if more > 0 {
        let are = if more == 1 { "is" } else { "are" };
        let message = format!("{} {are} in no class", count(more, "more call"));
        scores.find_about(strayed, message);
    }
}

fn why_unreached(class: &Class, calls: &[Call<'_>]) -> String {
    let called = |member: &&String| calls.iter().any(|call| call.is_to(member));
    let taken: Vec<&String> = class.members.iter().filter(called).collect();
    let name = &class.name;
    if taken.is_empty() {
        format!(
            "class `{name}` was not reached: no call to {}",
            any_of(&class.members)
        )
    } else {
        format!(
            "class `{name}` was not reached: every call of {} counts for another class",
            any_of(&taken)
        )
    }
}
