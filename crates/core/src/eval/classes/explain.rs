//! Which classes were missed, in words?

use super::{Class, Reach};
use crate::eval::assertion::plural;
use crate::eval::scores::RunScores;
use crate::eval::target::Target;
use crate::trace::Call;

const MOST_FINDINGS: usize = 20;
const MOST_MEMBERS: usize = 5;

/// Says which classes were missed and which calls belong to none; each is about other targets.
pub(crate) fn explain_selection(
    reach: &Reach,
    calls: &[Call<'_>],
    classes: &[Class],
    (missed, strayed): (&[Target], &[Target]),
    scores: &mut RunScores,
) {
    for &class in reach.unreached.iter().take(MOST_FINDINGS) {
        scores.find_about(missed, why_unreached(&classes[class], calls), Vec::new());
    }
    for &call in reach.strays.iter().take(MOST_FINDINGS) {
        let message = format!("call {} `{}` is in no class", call + 1, calls[call].name);
        scores.find_about(strayed, message, Vec::new());
    }
    let more = reach.strays.len().saturating_sub(MOST_FINDINGS);
    if more > 0 {
        let are = if more == 1 { "is" } else { "are" };
        let message = format!("{more} more call{} {are} in no class", plural(more));
        scores.find_about(strayed, message, Vec::new());
    }
}

fn why_unreached(class: &Class, calls: &[Call<'_>]) -> String {
    let called = |member: &&String| calls.iter().any(|call| call.is_to(member));
    let taken: Vec<&String> = class.members.iter().filter(called).collect();
    let name = &class.name;
    if taken.is_empty() {
        format!("class `{name}` was not reached: no call to {}", listed(&class.members))
    } else {
        format!("class `{name}` was not reached: every call of {} counts for another class", listed(&taken))
    }
}

/// `` `a` or `b` ``, cut where the list is long.
pub(crate) fn listed<S: AsRef<str>>(members: &[S]) -> String {
    let shown: Vec<String> =
        members.iter().take(MOST_MEMBERS).map(|member| format!("`{}`", member.as_ref())).collect();
    let more = members.len() - shown.len();
    match (shown.as_slice(), more) {
        ([one], _) => one.clone(),
        ([first @ .., last], 0) => format!("{} or {last}", first.join(", ")),
        _ => format!("{} or {more} others", shown.join(", ")),
    }
}
