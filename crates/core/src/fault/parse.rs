//! Which fault does this text name, and what should the user write instead if it names none?

use super::kind::{ANY, FaultEntry, FaultKind};
use crate::problem::{Problem, nearest};
use crate::suite::read::Field;
use std::str::FromStr;

/// Why a string is not a fault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}{}", help.as_ref().map(|help| format!(": {help}")).unwrap_or_default())]
pub struct FaultError {
    /// The problem.
    pub message: String,
    /// The text to write instead.
    pub help: Option<String>,
}

impl FaultError {
    fn new(message: String, help: impl Into<Option<String>>) -> Self {
        Self {
            message,
            help: help.into(),
        }
    }
}

impl From<FaultError> for Problem {
    fn from(error: FaultError) -> Self {
        Problem {
            help: error.help,
            ..Problem::error(error.message)
        }
    }
}

/// `name` or `name:number`.
pub(crate) fn split(written: &str) -> (&str, Option<&str>) {
    match written.trim().split_once(':') {
        Some((name, number)) => (name, Some(number.trim())),
        None => (written.trim(), None),
    }
}

/// The kind of a name with `-` or `_`.
pub(super) fn find(name: &str) -> Option<&'static FaultEntry> {
    let name = name.replace('_', "-");
    FaultKind::ALL.iter().find(|entry| entry.name == name)
}

fn usages(is_listed: fn(&FaultEntry) -> bool) -> String {
    let listed = FaultKind::ALL.iter().filter(|entry| is_listed(entry));
    format!(
        "the kinds are {}",
        listed.map(FaultEntry::usage).collect::<Vec<_>>().join(", ")
    )
}

fn unknown(name: &str, is_listed: fn(&FaultEntry) -> bool) -> FaultError {
    let names = FaultKind::ALL
        .iter()
        .filter(|entry| is_listed(entry))
        .map(|entry| entry.name);
    let near = nearest(name, names)
        .map(|near| format!("did you mean `{near}`? "))
        .unwrap_or_default();
    let help = format!("{near}{}", usages(is_listed));
    FaultError::new(format!("`{name}` is not a kind of fault"), help)
}

impl FaultEntry {
    /// The entry of a kind that can be injected into the calls of an agent.
    pub(crate) fn injectable(name: &str) -> Result<&'static Self, FaultError> {
        match find(name) {
            Some(entry) if entry.is_injectable() => Ok(entry),
            Some(entry) => {
                let message = format!(
                    "`{}` cannot be injected into the calls of an agent",
                    entry.name
                );
                let help = "only `mcptest mock` and `mcptest proxy` support it";
                Err(FaultError::new(
                    message,
                    format!("{help}; {}", usages(Self::is_injectable)),
                ))
            }
            None => Err(unknown(name, Self::is_injectable)),
        }
    }

    /// The key of a suite's fault that can give the number.
    pub(crate) fn number_key(&self) -> Option<&'static str> {
        self.number
            .map(|number| number.key)
            .filter(|key| !key.is_empty())
    }

    /// The fault with this number, if it takes one.
    pub(crate) fn numbered(&self, written: Option<&str>) -> Result<FaultKind, FaultError> {
        let name = self.name;
        let help = || format!("write `{}`, as in `{}`", self.usage(), self.example);
        match (self.number, written) {
            (None, None) => Ok(self.example),
            (None, Some(_)) => Err(FaultError::new(format!("`{name}` takes no number"), None)),
            (Some(_), None) => Err(FaultError::new(
                format!("`{name}` is missing its number"),
                help(),
            )),
            (Some(number), Some(written)) => {
                let most = if number.least == ANY {
                    i64::MAX.into()
                } else {
                    u64::MAX.into()
                };
                let parsed = written
                    .parse()
                    .ok()
                    .filter(|parsed| (number.least..=most).contains(parsed));
                parsed.map(number.make).ok_or_else(|| {
                    let least = match number.least {
                        ANY => String::new(),
                        least => format!(" of at least {least}"),
                    };
                    let message = format!("`{name}` takes a whole number{least}, not `{written}`");
                    FaultError::new(message, help())
                })
            }
        }
    }
}

/// Any kind, as mocks and proxies have them: `slow:250`, with `-` or `_` in the name.
impl FromStr for FaultKind {
    type Err = FaultError;

    fn from_str(written: &str) -> Result<Self, FaultError> {
        let (name, number) = split(written);
        find(name)
            .ok_or_else(|| unknown(name, |_| true))?
            .numbered(number)
    }
}

impl FaultKind {
    /// A fault of the wire, as `slow:250`.
    #[doc(hidden)]
    pub fn read(field: &mut Field<'_>) -> Option<Self> {
        let written = written(field, |_| true)?;
        written
            .parse()
            .map_err(|error: FaultError| field.report(error.into()))
            .ok()
    }

    /// A fault that can be injected into the calls of an agent, as `slow:250`.
    pub(crate) fn read_injectable(field: &mut Field<'_>) -> Option<Self> {
        let written = written(field, FaultEntry::is_injectable)?;
        let (name, number) = split(&written);
        let parsed = FaultEntry::injectable(name).and_then(|entry| entry.numbered(number));
        parsed.map_err(|error| field.report(error.into())).ok()
    }
}

/// Reads the text of a kind; the schema has examples.
pub(crate) fn written(field: &mut Field<'_>, is_listed: fn(&FaultEntry) -> bool) -> Option<String> {
    let written = field.string();
    let listed = FaultKind::ALL.iter().filter(|entry| is_listed(entry));
    let examples: Vec<String> = listed.map(|entry| entry.example.to_string()).collect();
    field.amend_schema("examples", serde_json::json!(examples));
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_read_back_as_it_is_shown_in_both_spellings() {
        for entry in FaultKind::ALL {
            let shown = entry.example.to_string();
            assert_eq!(shown.parse(), Ok(entry.example), "{shown}");
            let (name, number) = split(&shown);
            let underlined = format!("{}:{}", name.replace('-', "_"), number.unwrap_or_default());
            assert_eq!(
                underlined.trim_end_matches(':').parse(),
                Ok(entry.example),
                "{underlined}"
            );
        }
        assert_eq!(
            "error:-32603".parse(),
            Ok(FaultKind::Error { code: -32603 })
        );
    }

    #[test]
    fn a_fault_that_is_none_lists_the_kinds_and_what_to_write() {
        let said = |written: &str| written.parse::<FaultKind>().unwrap_err().to_string();
        assert!(said("hnag").starts_with(
            "`hnag` is not a kind of fault: did you mean `hang`? the kinds are none, hang"
        ));
        assert!(said("weather").contains("slow:<ms>, recover-after:<n>"));
        assert_eq!(
            said("slow"),
            "`slow` is missing its number: write `slow:<ms>`, as in `slow:500`"
        );
        assert_eq!(said("hang:3"), "`hang` takes no number");
        let help = "write `recover-after:<n>`, as in `recover-after:2`";
        let message = "`recover-after` takes a whole number of at least 1, not `0`";
        assert_eq!(said("recover_after:0"), format!("{message}: {help}"));
        assert!(said("slow:-1").starts_with("`slow` takes a whole number of at least 0, not `-1`"));
        assert!(said("error:soon").starts_with("`error` takes a whole number, not `soon`"));
    }

    #[test]
    fn what_only_the_wire_has_cannot_be_injected() {
        let said = |name: &str| FaultEntry::injectable(name).unwrap_err().to_string();
        assert!(said("wrong_id").starts_with(
            "`wrong-id` cannot be injected into the calls of an agent: only `mcptest mock` and `mcptest proxy` support it"
        ));
        assert!(
            !said("weather").contains("wrong-id") && !said("wrong-id").ends_with("duplicate-reply")
        );
    }
}
