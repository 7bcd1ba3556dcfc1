//! Which tools may `init` call although none is marked read-only? A question on the terminal.

use crate::draft::OfferedCall;
use mcptest_command::output;
use mcptest_core::escape::escape;
use mcptest_core::words::count;
use std::io::IsTerminal;

/// Asks on a terminal. Elsewhere no call is allowed.
pub(super) fn ask(offers: &[OfferedCall]) -> Vec<usize> {
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        return Vec::new();
    }
    output::stderr(&question(offers));
    loop {
        let mut answer = String::new();
        let read = std::io::stdin().read_line(&mut answer);
        if !matches!(read, Ok(1..)) {
            // The end of the input ends no line.
            output::stderr("\n");
            return Vec::new();
        }
        match chosen(&answer, offers) {
            Ok(places) => return places,
            Err(unknown) => output::stderr(&format!(
                "no tool is called `{}`; names, numbers or `all`: ",
                escape(&unknown)
            )),
        }
    }
}

fn question(offers: &[OfferedCall]) -> String {
    const WIDEST_ARGUMENTS: usize = 60;
    let mut text = format!(
        "no tool is marked read-only, so a call may change something; {} can be called twice for a test:\n",
        count(offers.len(), "tool")
    );
    for (at, offer) in offers.iter().enumerate() {
        let arguments = console::truncate_str(&offer.arguments, WIDEST_ARGUMENTS, "…");
        text.push_str(&format!(
            "  {:>2}  {} {}\n",
            at + 1,
            escape(&offer.tool),
            escape(&arguments)
        ));
    }
    text + "which may be called? names, numbers or `all`; Enter for none: "
}

/// The places of the chosen calls, or the word that names none of them.
fn chosen(answer: &str, offers: &[OfferedCall]) -> Result<Vec<usize>, String> {
    let words = answer.split(|c: char| c.is_whitespace() || c == ',');
    let mut places = Vec::new();
    for word in words.filter(|word| !word.is_empty()) {
        let named = offers.iter().position(|offer| offer.tool == word);
        let number = word.parse::<usize>().ok().and_then(|n| n.checked_sub(1));
        match named.or(number.filter(|at| *at < offers.len())) {
            Some(at) => places.push(at),
            None if word == "all" => places.extend(0..offers.len()),
            None if word == "none" => {}
            None => return Err(word.to_owned()),
        }
    }
    places.sort_unstable();
    places.dedup();
    Ok(places)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offers() -> Vec<OfferedCall> {
        let offer = |tool: &str| OfferedCall {
            tool: tool.to_owned(),
            arguments: "{ id: text }".to_owned(),
        };
        ["find_order", "delete_order"].map(offer).into()
    }

    #[test]
    fn calls_are_chosen_by_name_by_number_or_all_together() {
        let chosen = |answer: &str| chosen(answer, &offers());
        assert_eq!(chosen("\n"), Ok(vec![]));
        assert_eq!(chosen("none\n"), Ok(vec![]));
        assert_eq!(chosen("delete_order, 1\n"), Ok(vec![0, 1]));
        assert_eq!(chosen("all\n"), Ok(vec![0, 1]));
        assert_eq!(chosen("1 3\n"), Err("3".to_owned()));
    }

    #[test]
    fn the_question_shows_each_call_with_its_arguments() {
        let question = question(&offers());
        assert!(
            question.contains("\n   2  delete_order { id: text }\nwhich may be called?"),
            "{question}"
        );
    }
}
