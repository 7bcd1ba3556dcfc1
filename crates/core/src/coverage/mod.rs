//! Which tools, parameters, values and error paths of its servers does a suite exercise?

mod exercised;
mod surface;
#[cfg(test)]
mod tests;

pub use exercised::Exercised;
pub use surface::{Parameters, Surface, parameters};

use crate::trace::full_name;
use serde::{Deserialize, Serialize};

/// The part of their servers' tools that the judged runs and calls exercised.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Coverage {
    /// Called tools as a share of listed tools, in whole percent, rounded down; absent if no
    /// recording lists a tool.
    pub percent: Option<usize>,
    /// The required percentage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold: Option<usize>,
    /// Tools that were called.
    pub tools: Share,
    /// Parameters that a call gave, including parameters of nested objects.
    pub parameters: Share,
    /// Values of enumerations and booleans that a call gave.
    pub values: Share,
    /// Tools with a successful call.
    pub successes: Share,
    /// Tools with a failed call.
    pub errors: Share,
    /// Calls of tools that no recording lists.
    pub unlisted_calls: usize,
    /// Servers without a recorded tool list.
    pub unmeasured: Vec<String>,
    /// The tools by their servers.
    pub servers: Vec<ServerCoverage>,
}

/// A count out of a total.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    /// The exercised number.
    pub covered: usize,
    /// The total number.
    pub total: usize,
}

/// One server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerCoverage {
    /// Its name in the suites; absent if a recording does not name the server of its tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its tools by their names.
    pub tools: Vec<ToolCoverage>,
}

/// One tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCoverage {
    /// Its name.
    pub name: String,
    /// The number of calls.
    pub calls: usize,
    /// The number of successful calls.
    pub successes: usize,
    /// The number of calls with an error.
    pub errors: usize,
    /// Its parameters. Parameters of nested objects have paths.
    pub parameters: Vec<ParameterCoverage>,
}

/// One parameter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParameterCoverage {
    /// Its name or path: `filter.city`.
    pub name: String,
    /// True if a call gave it.
    pub given: bool,
    /// The values that its schema lists, if any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<ValueCoverage>,
}

/// One value of an enumeration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ValueCoverage {
    /// The value, a string without its quotes.
    pub value: String,
    /// True if a call gave it.
    pub given: bool,
}

impl Share {
    fn count(&mut self, is_covered: bool) {
        self.covered += usize::from(is_covered);
        self.total += 1;
    }
}

impl std::fmt::Display for Share {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{} of {}", self.covered, self.total)
    }
}

impl ServerCoverage {
    /// A tool of it as `server.tool`.
    pub fn full_name(&self, tool: &ToolCoverage) -> String {
        full_name(self.name.as_deref(), &tool.name)
    }
}

impl ToolCoverage {
    /// The gaps in words: parameters, then values, then outcomes.
    pub fn gaps(&self) -> Vec<String> {
        let not_given = self.parameters.iter().filter(|parameter| !parameter.given);
        let mut gaps: Vec<String> = not_given.map(|parameter| parameter.name.clone()).collect();
        for parameter in self.parameters.iter().filter(|parameter| parameter.given) {
            let not_seen = parameter.values.iter().filter(|value| !value.given);
            gaps.extend(not_seen.map(|value| format!("{}={}", parameter.name, value.value)));
        }
        gaps.extend((self.successes == 0).then(|| "a success".to_owned()));
        gaps.extend((self.errors == 0).then(|| "an error".to_owned()));
        gaps
    }
}

impl Coverage {
    /// With its totals counted.
    fn counted(mut self) -> Self {
        for tool in self.servers.iter().flat_map(|server| &server.tools) {
            self.tools.count(tool.calls > 0);
            self.successes.count(tool.successes > 0);
            self.errors.count(tool.errors > 0);
            for parameter in &tool.parameters {
                self.parameters.count(parameter.given);
                parameter
                    .values
                    .iter()
                    .for_each(|value| self.values.count(value.given));
            }
        }
        self.percent = (100 * self.tools.covered).checked_div(self.tools.total);
        self
    }

    /// Why the coverage is too low, if it is. A server without a known tool list may have any
    /// number of tools.
    pub fn miss(&self) -> Option<String> {
        let threshold = self.threshold?;
        match self.percent {
            None => {
                Some("nothing was measured: no recording lists the tools of a server".to_owned())
            }
            Some(percent) if percent < threshold => Some(format!(
                "{percent}% of the tools were called; the threshold is {threshold}%"
            )),
            Some(_) if !self.unmeasured.is_empty() => Some(format!(
                "no recording lists the tools of {}",
                self.unmeasured.join(", ")
            )),
            Some(_) => None,
        }
    }

    /// Changes every text from servers and suites.
    pub fn change_texts(&mut self, change: impl Fn(&mut String)) {
        self.unmeasured.iter_mut().for_each(&change);
        for server in &mut self.servers {
            server.name.iter_mut().for_each(&change);
            for tool in &mut server.tools {
                change(&mut tool.name);
                for parameter in &mut tool.parameters {
                    change(&mut parameter.name);
                    parameter
                        .values
                        .iter_mut()
                        .for_each(|value| change(&mut value.value));
                }
            }
        }
    }
}
