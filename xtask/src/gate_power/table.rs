//! How is the power of the gates shown on a page?

use super::edits::{EDITS, MOST_PLACES};
use super::measure::{Outcome, Power, Tally};

/// The page in the documentation.
pub(super) fn page(powers: &[Power]) -> String {
    let mut page = format!(
        "# What the gates see\n\n\
         A gate that passes good runs proves little until it is known which bad runs it fails. Here the recorded runs of \
         the [examples](../examples) are edited in small ways, and each gate judges them again. The tables say how many \
         of the edits turned its verdict over, of how many that were tried; — is an edit for which its examples have no \
         place.\n\n\
         No gate is meant to see everything. Each page says under \"What it does not see\" which edits can leave its \
         verdict as it was, and why. `cargo xtask gate-power` fails when a gate sees less or more than its page and this \
         one say; with `--write` it writes this one.\n\n\
         | Edit | What is edited, at each place of a run (at most {MOST_PLACES}) |\n|---|---|\n"
    );
    for edit in EDITS {
        page.push_str(&format!("| {} | {} |\n", edit.name, edit.doc));
    }
    page.push_str("\n## In one run\n\nOne run is edited at one place; the other runs stay.\n\n");
    page.push_str(&table(powers, |outcome| outcome.in_one_run));
    page.push_str(
        "\n## In every run\n\nAll runs are edited at the same place, or at their last one. A gate with a floor below \
         100% lets a slip in one run pass; what goes wrong every time it should see.\n\n",
    );
    page.push_str(&table(powers, |outcome| outcome.in_every_run));
    page
}

fn table(powers: &[Power], tally: fn(&Outcome) -> Tally) -> String {
    let names: Vec<&str> = EDITS.iter().map(|edit| edit.name).collect();
    let rows: String = powers.iter().map(|power| row(power, tally)).collect();
    format!(
        "| Gate | Share | {} |\n|---|--:|{}\n{rows}",
        names.join(" | "),
        "--:|".repeat(EDITS.len())
    )
}

fn row(power: &Power, tally: fn(&Outcome) -> Tally) -> String {
    let total: Tally = power.outcomes.iter().map(tally).sum();
    let percent = (total.flipped * 100)
        .checked_div(total.tried)
        .unwrap_or_default();
    let cells: Vec<String> = power
        .outcomes
        .iter()
        .map(|outcome| cell(tally(outcome)))
        .collect();
    format!(
        "| [`{0}`](reference/{0}.md#what-it-does-not-see) | {percent}% ({1}) | {2} |\n",
        power.key,
        cell(total),
        cells.join(" | ")
    )
}

fn cell(tally: Tally) -> String {
    if tally.tried == 0 {
        "—".to_owned()
    } else {
        format!("{}/{}", tally.flipped, tally.tried)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_the_share_over_all_edits_floored_and_a_dash_where_none_was_tried() {
        let outcome = |flipped, tried| Outcome {
            in_one_run: Tally { flipped, tried },
            in_every_run: Tally {
                flipped: 9,
                tried: 9,
            },
        };
        let power = Power {
            key: "gate",
            doc: "",
            outcomes: vec![outcome(2, 2), outcome(0, 1), outcome(0, 0)],
        };
        assert_eq!(
            row(&power, |outcome| outcome.in_one_run),
            "| [`gate`](reference/gate.md#what-it-does-not-see) | 66% (2/3) | 2/2 | 0/1 | — |\n"
        );
    }
}
