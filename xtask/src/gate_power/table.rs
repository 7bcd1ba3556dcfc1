//! How is the power of the gates shown on a page?

use super::edits::{EDITS, MOST_PLACES};
use super::measure::{Outcome, Power, Tally};

/// The page in the documentation.
pub(super) fn page(powers: &[Power]) -> String {
    let mut page = format!(
        "# Which defects the gates see\n\n\
         A gate that passes good runs proves little. It must also fail bad runs. `cargo xtask gate-power` makes small \
         edits to the recorded runs of the [examples](../examples), and each gate judges the runs again. The tables show \
         how many of the edits changed the gate's verdict, out of all that were tried; — means that its examples have no \
         place for the edit.\n\n\
         No gate is meant to see everything. The section \"What it does not see\" of each gate's page lists the edits \
         that can leave the verdict unchanged, with reasons. `cargo xtask gate-power` fails if a gate sees less or more \
         than its page and this page list. With `--write`, it writes this page.\n\n\
         | Edit | What is edited, at each place of a run (at most {MOST_PLACES}) |\n|---|---|\n"
    );
    for edit in EDITS {
        page.push_str(&format!("| {} | {} |\n", edit.name, edit.doc));
    }
    page.push_str(
        "\n## In one run\n\nOne run is edited at one place; the other runs stay unchanged.\n\n",
    );
    page.push_str(&table(powers, |outcome| outcome.in_one_run));
    page.push_str(
        "\n## In every run\n\nEvery run is edited at the same place, or at its last place if it has fewer. A gate with a floor below \
         100% tolerates a slip in one run. It should see a defect that is in every run.\n\n",
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
