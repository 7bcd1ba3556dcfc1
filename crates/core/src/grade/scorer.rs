//! `scorers:` which of the user's programs compute numbers for each run, and what may they print?

use super::{Asks, Found, Question};
use crate::problem::Problem;
use crate::suite::OwnAgent;
use crate::suite::read::{Block, Field};
use serde_json::Value;
use std::collections::BTreeMap;

/// The key in a suite, and the root of the targets.
pub(crate) const SCORERS: &str = "scorers";
/// The version of a scorer's input.
pub(super) const INPUT: u32 = 1;
const TIMEOUT_MS: u64 = 60_000;
/// The limit for an answer; an object of numbers is never longer.
const LONGEST: usize = 64 << 10;

/// The numbers of a scorer for one run: a number, or true or false, for each of its keys.
pub type Numbers = BTreeMap<String, Value>;

/// A program that reads a run and prints numbers.
#[derive(Debug, Clone)]
pub struct Scorer {
    /// The name of its numbers: `scorers.NAME.KEY`.
    pub name: String,
    /// The program.
    pub program: OwnAgent,
    /// The time limit for one run.
    pub timeout_ms: u64,
}

impl Question {
    /// Reads one entry of `scorers:`.
    pub(crate) fn read_scorer(field: &mut Field<'_>) -> Option<Self> {
        let (span, scope) = (field.span(), field.reading.scope());
        field.try_block(|block: &mut Block<'_>| {
            let doc = "The name of its numbers, as `scorers.NAME.KEY` in `expect:`";
            let name = block.required("name", doc, |f| f.name());
            let program = OwnAgent::read_block(block, &scope);
            let doc = "The time limit for one run, such as `30s` [default: 60s]";
            let timeout_ms = block
                .optional("timeout", doc, |f| f.limit_ms())
                .unwrap_or(TIMEOUT_MS);
            let name = name?;
            let is_odd = |c: char| !c.is_alphanumeric() && c != '_' && c != '-';
            if name.contains(is_odd) && !block.is_describing() {
                let problem = Problem::error(format!("`{name}` cannot be part of a target"));
                let help = "name a scorer with letters, digits, `_` and `-`";
                block.report(
                    problem
                        .at(block.key_span("name").unwrap_or(span))
                        .help(help),
                );
            }
            let scorer = Scorer {
                name,
                program: program?,
                timeout_ms,
            };
            Some(Self::new(Asks::Scorer(Box::new(scorer)), span))
        })
    }

    /// The program, unless a model answers.
    pub fn scorer(&self) -> Option<&Scorer> {
        if let Asks::Scorer(scorer) = &self.asks {
            Some(scorer)
        } else {
            None
        }
    }
}

impl Scorer {
    /// Its path in a test, under which its numbers are kept.
    pub fn check(&self) -> String {
        format!("{SCORERS}.{}", self.name)
    }

    /// Parses the printed numbers.
    pub fn read(printed: &str) -> Result<Numbers, String> {
        const WANTED: &str =
            "a scorer prints one JSON object of numbers, such as {\"length\": 0.4, \"ok\": true}";
        if printed.len() > LONGEST {
            return Err(format!(
                "it printed {} bytes; the limit is {LONGEST}; {WANTED}",
                printed.len()
            ));
        }
        let begin: String = printed.chars().take(80).collect();
        let read: Result<Numbers, _> = serde_json::from_str(printed);
        let scores = read.map_err(|error| match printed {
            "" => format!("it printed nothing; {WANTED}"),
            _ => format!("it printed {begin:?}, which mcptest cannot read: {error}; {WANTED}"),
        })?;
        match scores.iter().find(|(_, value)| !is_score(value)) {
            Some((key, _)) => Err(format!("`{key}` is not a number, true or false; {WANTED}")),
            None if scores.is_empty() => Err(format!("it printed no number; {WANTED}")),
            None => Ok(scores),
        }
    }
}

pub(super) fn is_score(value: &Value) -> bool {
    value.is_number() || value.is_boolean()
}

/// All that scorers gave a run, by its targets.
pub(crate) fn scores_of(found: &[Found]) -> Numbers {
    let given = found
        .iter()
        .filter_map(|found| Some((&found.check, &found.grade.as_ref().ok()?.scores)));
    given
        .flat_map(|(check, scores)| {
            scores
                .iter()
                .map(move |(key, value)| (format!("{check}.{key}"), value.clone()))
        })
        .collect()
}
