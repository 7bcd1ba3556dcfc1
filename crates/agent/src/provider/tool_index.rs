//! Which tool does a provider mean, when it names one by its number?

use crate::dialect::Offered;

/// The beginnings of a number, the most specific one first.
const MARKS: [&str; 3] = ["function_declarations[", "tools[", "tools."];

/// The tools that an error names by their numbers, in words that go after it.
pub(super) fn named(error: &str, tools: &[Offered]) -> String {
    let Some(mark) = MARKS.iter().find(|mark| error.contains(**mark)) else {
        return String::new();
    };
    let mut numbers: Vec<usize> = Vec::new();
    for (at, _) in error.match_indices(mark) {
        let rest = &error[at + mark.len()..];
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let number = rest[..digits]
            .parse()
            .ok()
            .filter(|number| *number < tools.len());
        numbers.extend(number.filter(|number| !numbers.contains(number)));
    }
    let said: Vec<String> = numbers
        .iter()
        .map(|number| format!("number {number} is `{}`", tools[*number].full_name))
        .collect();
    if said.is_empty() {
        String::new()
    } else {
        format!(" (tool {})", said.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_count_tools_is_understood() {
        let tool = |name: &str| Offered {
            name: name.replace('.', "__"),
            full_name: name.to_owned(),
            description: None,
            input_schema: Box::default(),
        };
        let tools = [tool("docs.find"), tool("docs.list")];
        for (error, said) in [
            (
                "tools.1.custom.input_schema: JSON schema is invalid.",
                " (tool number 1 is `docs.list`)",
            ),
            (
                r#"{"message":"Invalid","param":"tools[0].function.parameters"}"#,
                " (tool number 0 is `docs.find`)",
            ),
            (
                "tools[0].function_declarations[1].name: bad\ntools[0].function_declarations[0].name: bad",
                " (tool number 1 is `docs.list`, number 0 is `docs.find`)",
            ),
            ("tools.7.custom: bad", ""),
            ("Invalid 'tools': array too long.", ""),
            ("messages.1: bad", ""),
        ] {
            assert_eq!(named(error, &tools), said, "{error}");
        }
    }
}
