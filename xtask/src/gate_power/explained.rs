//! Does each gate's page say which edits it does not see?

use super::edits::EDITS;
use super::measure::{Power, Tally};

const HEADING: &str = "## What it does not see";

/// The differences between a gate's page and the measurements.
pub(super) fn complaints_about(power: &Power) -> Vec<String> {
    let mut complaints = Vec::new();
    let mut complain = |text: String| complaints.push(format!("`{}:` {text}", power.key));
    let total: Tally = power.outcomes.iter().map(|outcome| outcome.total()).sum();
    if total.tried == 0 {
        complain("has no example to edit".to_owned());
    } else if total.flipped == 0 {
        complain(format!(
            "passes whatever is edited: none of {} edits turns it over",
            total.tried
        ));
    }
    let listed = listed(power.doc);
    for (edit, outcome) in EDITS.iter().zip(&power.outcomes) {
        let reason = listed
            .iter()
            .find(|(name, _)| name == edit.name)
            .map(|(_, reason)| reason);
        let Tally { flipped, tried } = outcome.total();
        match reason {
            None if flipped < tried => complain(format!(
                "is turned over by `{}` in {flipped} of {tried} cases, and `{HEADING}` on its page does not say why \
                 not in all",
                edit.name
            )),
            Some(_) if flipped == tried => complain(format!(
                "is turned over by `{}` in all of {tried} cases, and its page says that it does not see it",
                edit.name
            )),
            Some(reason) if reason.is_empty() => {
                complain(format!(
                    "does not see `{}`, and its page gives no reason",
                    edit.name
                ));
            }
            _ => {}
        }
    }
    for (name, _) in listed
        .iter()
        .filter(|(name, _)| EDITS.iter().all(|edit| edit.name != name))
    {
        complain(format!(
            "lists `{name}` on its page, but no edit has this name"
        ));
    }
    complaints
}

/// The edits that a page lists, each with its reason: `- **one edit**, **another**: the reason`.
fn listed(page: &str) -> Vec<(String, String)> {
    let section = page.lines().skip_while(|line| *line != HEADING).skip(1);
    let mut items: Vec<String> = Vec::new();
    for line in section.take_while(|line| !line.starts_with("## ")) {
        if let Some(item) = line.strip_prefix("- ") {
            items.push(item.to_owned());
        } else if let (Some(more), Some(item)) = (line.strip_prefix("  "), items.last_mut()) {
            item.push_str(&format!(" {more}"));
        }
    }
    let named = |item: &String| {
        let (names, reason) = item.split_once(':').unwrap_or((item, ""));
        let reason = reason.trim().to_owned();
        let names = names.split("**").skip(1).step_by(2).map(str::to_owned);
        names.map(|name| (name, reason.clone())).collect::<Vec<_>>()
    };
    items.iter().flat_map(named).collect()
}

#[cfg(test)]
mod tests {
    use super::super::measure::Outcome;
    use super::*;

    fn outcome(flipped: usize, tried: usize) -> Outcome {
        Outcome {
            in_one_run: Tally { flipped, tried },
            ..Outcome::default()
        }
    }

    /// The first edit always turns the gate over, the second in some cases.
    fn power(doc: &'static str, flipped: usize, tried: usize) -> Power {
        let mut outcomes = vec![Outcome::default(); EDITS.len()];
        outcomes[0] = outcome(1, 1);
        outcomes[1] = outcome(flipped, tried);
        Power {
            key: "gate",
            doc,
            outcomes,
        }
    }

    const PAGE: &str = "# gate\n\n## What it does not see\n\n- **swap two calls**: order\n  is open\n\n## More\n\n- **drop a call**: no\n";

    #[test]
    fn an_edit_that_changes_nothing_needs_a_reason_on_the_page() {
        assert!(complaints_about(&power(PAGE, 0, 3)).is_empty());
        assert!(complaints_about(&power(PAGE, 2, 3)).is_empty());
        assert_eq!(complaints_about(&power("# gate\n", 0, 3)).len(), 1);
        let no_reason = "## What it does not see\n- **swap two calls**:\n";
        assert_eq!(complaints_about(&power(no_reason, 0, 3)).len(), 1);
    }

    #[test]
    fn a_line_about_an_edit_that_is_always_seen_or_unknown_is_out_of_date() {
        assert_eq!(complaints_about(&power(PAGE, 3, 3)).len(), 1);
        assert_eq!(complaints_about(&power(PAGE, 0, 0)).len(), 1);
        let page = "## What it does not see\n- **swap two calls**: a\n- **swap calls**: b\n";
        assert_eq!(complaints_about(&power(page, 0, 1)).len(), 1);
    }

    #[test]
    fn several_edits_may_share_a_reason() {
        let page = "## What it does not see\n\n- **one**, **two** and **three**: `a:`\n  and b\n";
        let because = |name: &str| (name.to_owned(), "`a:` and b".to_owned());
        assert_eq!(listed(page), ["one", "two", "three"].map(because));
    }

    #[test]
    fn a_gate_that_nothing_turns_over_is_complained_about() {
        let none = Power {
            key: "gate",
            doc: "",
            outcomes: vec![Outcome::default(); EDITS.len()],
        };
        assert_eq!(complaints_about(&none), ["`gate:` has no example to edit"]);
        let mut blind = power(PAGE, 0, 3);
        blind.outcomes[0] = Outcome::default();
        assert!(complaints_about(&blind)[0].contains("none of 3 edits"));
    }
}
