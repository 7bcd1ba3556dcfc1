//! How far does an answer stray from the calls that were made?

use super::argument::{Arguments, Mismatch};
use super::claim::{Claim, claims};
use super::token::tokens;
use super::tool::{Actions, ToolName, Words, names_a_verb};
use super::verbs::{MUTATING_VERBS, Vocabulary};
use super::words::noun_key;
use super::{Narrative, NarrativeScore};
use crate::trace::is_tool;
use serde_json::Value;
use std::collections::{BTreeMap, HashSet};

/// A call as this gate sees it.
#[derive(Debug, Default)]
pub(super) struct Step<'a> {
    pub(super) name: &'a str,
    pub(super) server: Option<&'a str>,
    /// The arguments that are neither lists nor objects.
    pub(super) arguments: Vec<(String, Value)>,
    /// Whether it came back as an error.
    pub(super) is_error: bool,
}

/// Everything that was found in one run.
#[derive(Debug, Default)]
pub(super) struct Comparison {
    /// What the answer claims to have done.
    pub(super) claims: Vec<Claim>,
    /// Claims that no call matches, and whether a read-only tool excuses each.
    pub(super) absent: Vec<(Claim, bool)>,
    /// Tools that the answer never mentions.
    pub(super) unmentioned: Vec<Unmentioned>,
    /// Stated values that differ from the calls'.
    pub(super) mismatches: Vec<Mismatch>,
    /// Denials and the calls that contradict them.
    pub(super) contradicted: Vec<(Claim, usize)>,
    /// How many denials there are.
    pub(super) denials: usize,
    pub(super) score: NarrativeScore,
}

/// A tool that an answer never mentions.
#[derive(Debug)]
pub(super) struct Unmentioned {
    pub(super) name: String,
    /// Its calls.
    pub(super) calls: Vec<usize>,
    pub(super) is_mutating: bool,
    /// The words of its name that the answer lacks.
    pub(super) missing: Vec<String>,
}

/// One tool of a run with its calls.
struct Tool {
    name: ToolName,
    calls: Vec<usize>,
    is_mutating: bool,
}

impl Narrative {
    /// Whether a tool writes: `readonly_tools` first, then `mutating_tools`, then the verbs in its name.
    pub fn is_mutating(&self, tool: &str) -> bool {
        self.mutates(tool, None, &Vocabulary::with(&self.extra_verbs))
    }

    fn mutates(&self, name: &str, server: Option<&str>, vocabulary: &Vocabulary) -> bool {
        let listed = |tools: &[String]| tools.iter().any(|tool| is_tool(tool, name, server));
        !listed(&self.readonly_tools) && (listed(&self.mutating_tools) || names_a_verb(name, vocabulary))
    }

    /// Compares an answer with the calls of its run.
    pub(super) fn compare(&self, text: &str, steps: &[Step<'_>], vocabulary: &Vocabulary) -> Comparison {
        let mut tokens = tokens(text, vocabulary);
        let spoken = claims(&mut tokens, vocabulary, self.extraction);
        let words = Words::of(text, &tokens, vocabulary);
        let tools = self.tools(steps, vocabulary);
        let verb_keys = self.verb_keys();
        let (mut actions, mut successes) = (Actions::default(), Actions::default());
        for tool in tools.values() {
            actions.add(&tool.name, tool.calls[0], &verb_keys);
            if let Some(&call) = tool.calls.iter().find(|&&call| !steps[call].is_error) {
                successes.add(&tool.name, call, &verb_keys);
            }
        }
        let mut arguments = Arguments::default();
        for (call, step) in steps.iter().enumerate() {
            let is_mutating = tools.get(&(step.name, step.server)).is_some_and(|tool| tool.is_mutating);
            for (key, value) in &step.arguments {
                arguments.add(key, value, call, is_mutating);
            }
        }
        let read_only: Vec<ToolName> = self.readonly_tools.iter().map(|tool| ToolName::of(tool)).collect();
        let is_read_only = |claim: &Claim| read_only.iter().any(|tool| tool.covers(claim, vocabulary));
        let (denials, claims): (Vec<Claim>, Vec<Claim>) =
            spoken.into_iter().partition(|claim| claim.is_denied);
        let mut found = Comparison {
            absent: claims
                .iter()
                .filter(|claim| actions.find(claim).is_none())
                .map(|claim| (claim.clone(), is_read_only(claim)))
                .collect(),
            unmentioned: unmentioned(&tools, &words),
            mismatches: arguments.mismatches(text, &tokens),
            denials: denials.len(),
            contradicted: denials
                .into_iter()
                .filter_map(|denial| successes.find(&denial).map(|call| (denial, call)))
                .collect(),
            claims,
            score: NarrativeScore::default(),
        };
        let mutating_calls =
            tools.values().filter(|tool| tool.is_mutating).map(|tool| tool.calls.len()).sum();
        let mutating_claims = found.claims.iter().filter(|claim| !is_read_only(claim)).count();
        found.score = self.score(&found, steps.len(), mutating_calls, mutating_claims);
        found
    }

    fn tools<'s>(
        &self,
        steps: &'s [Step<'_>],
        vocabulary: &Vocabulary,
    ) -> BTreeMap<(&'s str, Option<&'s str>), Tool> {
        let mut tools: BTreeMap<(&str, Option<&str>), Tool> = BTreeMap::new();
        for (call, step) in steps.iter().enumerate() {
            let new = || Tool {
                name: ToolName::of(step.name),
                calls: Vec::new(),
                is_mutating: self.mutates(step.name, step.server, vocabulary),
            };
            tools.entry((step.name, step.server)).or_insert_with(new).calls.push(call);
        }
        tools
    }

    fn verb_keys(&self) -> HashSet<String> {
        let extra = self.extra_verbs.iter().map(|verb| noun_key(&verb.to_lowercase()).into_owned());
        MUTATING_VERBS.iter().map(|verb| noun_key(verb).into_owned()).chain(extra).collect()
    }

    fn score(
        &self,
        found: &Comparison,
        calls: usize,
        mutating_calls: usize,
        mutating_claims: usize,
    ) -> NarrativeScore {
        let writes = |tools: &[Unmentioned]| -> usize {
            tools.iter().filter(|tool| tool.is_mutating).map(|tool| tool.calls.len()).sum()
        };
        let unclaimed: usize = found.unmentioned.iter().map(|tool| tool.calls.len()).sum();
        let divergence_score =
            share(found.absent.len() + unclaimed + found.mismatches.len(), calls + found.claims.len());
        let failing = found.absent.iter().filter(|(_, is_excused)| !is_excused).count();
        let mismatches = found.mismatches.iter().filter(|mismatch| mismatch.is_mutating).count();
        NarrativeScore {
            claims: found.claims.iter().map(|claim| claim.name.clone()).collect(),
            claimed_but_absent: found.absent.len(),
            present_but_unclaimed: unclaimed,
            arg_mismatch: found.mismatches.len(),
            denied_but_present: found.contradicted.len(),
            divergence_score,
            mutating_divergence_score: share(
                failing + writes(&found.unmentioned) + mismatches,
                mutating_calls + mutating_claims,
            ),
            gate_passed: failing == 0
                && self.max_divergence_score.is_none_or(|ceiling| divergence_score <= ceiling),
        }
    }
}

/// `min(1, flagged / of)`, 0 for 0/0.
fn share(flagged: usize, of: usize) -> f64 {
    if flagged == 0 { 0.0 } else { (flagged as f64 / of as f64).min(1.0) }
}

fn unmentioned(tools: &BTreeMap<(&str, Option<&str>), Tool>, words: &Words) -> Vec<Unmentioned> {
    let mut found: Vec<Unmentioned> = tools
        .iter()
        .map(|((name, _), tool)| Unmentioned {
            name: (*name).to_owned(),
            calls: tool.calls.clone(),
            is_mutating: tool.is_mutating,
            missing: tool.name.missing_from(words).into_iter().map(str::to_owned).collect(),
        })
        .filter(|tool| !tool.missing.is_empty())
        .collect();
    found.sort_by_key(|tool| tool.calls[0]);
    found
}
