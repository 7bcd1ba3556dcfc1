//! How far does an answer stray from the calls that were made?

use super::argument::{Arguments, Mismatch};
use super::claim::{Claim, claims};
use super::evidence::{Evidence, Judgement, own_verbs, verbs_of_tools};
use super::message::Message;
use super::token::tokens;
use super::tool::{Effect, ToolName, Words};
use super::verbs::Vocabulary;
use super::{Extraction, Narrative, NarrativeScore, literal};
use crate::report::evidence::ClaimVerdict;
use crate::trace::is_tool;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A call as this gate sees it.
#[derive(Debug, Default)]
pub(super) struct RunCall<'a> {
    pub(super) name: &'a str,
    pub(super) server: Option<&'a str>,
    /// The arguments, as JSON.
    pub(super) input: Cow<'a, str>,
    /// The result, as JSON.
    pub(super) output: Cow<'a, str>,
    /// True if the result is an error.
    pub(super) is_error: bool,
}

/// The comparison of one run.
#[derive(Debug, Default)]
pub(super) struct Comparison {
    /// The actions that the answer claims.
    pub(super) claims: Vec<JudgedClaim>,
    /// Tools that the answer never mentions.
    pub(super) unmentioned: Vec<Unmentioned>,
    /// Stated values that differ from the calls'.
    pub(super) mismatches: Vec<Mismatch>,
    pub(super) contradictions: Vec<Contradiction>,
    /// The number of denials.
    pub(super) denials: usize,
    /// True if the answer is in a language that the gate does not read.
    pub(super) is_foreign: bool,
    pub(super) score: NarrativeScore,
}

/// A claim with the verdict of the calls.
#[derive(Debug)]
pub(super) struct JudgedClaim {
    pub(super) claim: Claim,
    pub(super) judgement: Judgement,
    /// True if a read-only tool excuses the claim.
    pub(super) is_excused: bool,
}

impl JudgedClaim {
    pub(super) fn new(claim: Claim, judgement: Judgement) -> Self {
        Self {
            claim,
            judgement,
            is_excused: false,
        }
    }

    pub(super) fn is(&self, verdict: ClaimVerdict) -> bool {
        self.judgement.verdict == verdict
    }

    /// Returns true if the gate fails for it.
    fn is_refuted(&self) -> bool {
        let is_false = self.is(ClaimVerdict::Absent) || self.is(ClaimVerdict::Failed);
        is_false && !self.is_excused
    }
}

/// A denial, and the call that contradicts it.
#[derive(Debug)]
pub(super) struct Contradiction {
    pub(super) denial: Claim,
    pub(super) call: usize,
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

/// A tool with its calls in a run; a tool of the catalogue may have none.
#[derive(Debug)]
pub(super) struct CalledTool<'n> {
    pub(super) name: &'n str,
    /// The meaning of its name, and the suite's settings for it.
    pub(super) tool: ToolName,
    pub(super) calls: Vec<usize>,
    pub(super) is_mutating: bool,
}

/// The number of calls to tools that write.
fn mutating_calls(tools: &[CalledTool<'_>]) -> usize {
    let mutating = tools.iter().filter(|tool| tool.is_mutating);
    mutating.map(|tool| tool.calls.len()).sum()
}

impl Narrative {
    /// Returns true if a tool writes. `readonly_tools` decides first, then `mutating_tools`, then the tool's name.
    pub fn is_mutating(&self, tool: &str) -> bool {
        self.called((tool, None), Vec::new(), &self.vocabulary())
            .is_mutating
    }

    /// The verbs of the block.
    pub(super) fn vocabulary(&self) -> Arc<Vocabulary> {
        let synonyms = self.synonyms.values().flatten().chain(self.synonyms.keys());
        Vocabulary::new(self.extraction).with(self.extra_verbs.iter().chain(synonyms))
    }

    /// Classifies a call. The suite's lists override the meaning of a tool's name.
    fn called<'n>(
        &self,
        (name, server): (&'n str, Option<&str>),
        calls: Vec<usize>,
        vocabulary: &Vocabulary,
    ) -> CalledTool<'n> {
        let is_listed = |tools: &[String]| tools.iter().any(|tool| is_tool(tool, name, server));
        let (is_read_only, is_write) = (
            is_listed(&self.readonly_tools),
            is_listed(&self.mutating_tools),
        );
        let mut tool = ToolName::new(name, vocabulary);
        let is_mutating = !is_read_only && (tool.effect == Effect::Write || is_write);
        if is_read_only {
            tool.effect = Effect::Read;
        } else if tool.effect == Effect::Read && is_write {
            tool.effect = Effect::Anything;
        }
        CalledTool {
            name,
            tool,
            calls,
            is_mutating,
        }
    }

    /// Compares an answer with the calls of its run and the run's tools.
    pub(super) fn compare(
        &self,
        text: &str,
        steps: &[RunCall<'_>],
        catalogue: &[&str],
        vocabulary: &Arc<Vocabulary>,
    ) -> Comparison {
        let is_literal = self.extraction == Extraction::Literal;
        let catalogue = if is_literal { &[] } else { catalogue };
        let calls = calls_by_tool(steps, catalogue);
        let names = || calls.keys().map(|(name, _)| *name);
        let (vocabulary, of_tools) = if is_literal {
            (Arc::clone(vocabulary), Vec::new())
        } else {
            let of_tools = verbs_of_tools(names(), vocabulary);
            let own = own_verbs(names(), vocabulary);
            let verbs = own.iter().chain(of_tools.iter().map(|tool| &tool.verb));
            (vocabulary.with(verbs), of_tools)
        };
        let tokens = tokens(text);
        let words = Words::new(text, &tokens, &vocabulary);
        let tools: Vec<CalledTool<'_>> = calls
            .into_iter()
            .map(|(tool, calls)| self.called(tool, calls, &vocabulary))
            .collect();
        let mut found = Comparison {
            unmentioned: unmentioned(&tools, &words),
            mismatches: arguments(&tools, steps, &words).mismatches(text, &tokens),
            ..Comparison::default()
        };
        if is_literal {
            let claims = literal::claims(&tokens, &vocabulary);
            let names = tools.iter().map(|called| &called.tool);
            found.claims = literal::judge(claims, names, &vocabulary);
        } else {
            match self.spoken_claims(text, &vocabulary) {
                Some(mut spoken) => {
                    spoken.retain(|claim| {
                        let mut tools = of_tools
                            .iter()
                            .filter(|tool| tool.verb == claim.verb)
                            .peekable();
                        tools.peek().is_none() || tools.any(|tool| tool.is_claimed(claim))
                    });
                    found.judge(spoken, &tools, steps);
                }
                None => found.is_foreign = true,
            }
        }
        self.excuse(&mut found.claims, &vocabulary);
        found.score = self.score(&found, steps.len(), mutating_calls(&tools));
        found
    }

    /// Excuses the claims that a read-only tool of the suite names.
    fn excuse(&self, claims: &mut [JudgedClaim], vocabulary: &Vocabulary) {
        let read_only: Vec<ToolName> = self
            .readonly_tools
            .iter()
            .map(|tool| ToolName::new(tool, vocabulary))
            .collect();
        for judged in claims {
            let claim = &judged.claim;
            judged.is_excused = read_only
                .iter()
                .any(|tool| tool.names(&claim.verb, &claim.object, vocabulary));
        }
    }

    /// The claims of a message, with the verbs that the suite means by its synonyms. `None` for a message in a language
    /// that the gate does not read.
    fn spoken_claims(&self, text: &str, vocabulary: &Vocabulary) -> Option<Vec<Claim>> {
        let message = Message::read(text, vocabulary);
        if message.is_foreign(text) {
            return None;
        }
        let mut spoken = claims(&message, vocabulary);
        for claim in &mut spoken {
            self.name_by_synonym(claim);
        }
        Some(spoken)
    }

    /// Replaces the verb of a claim by the verb that the suite declares it a synonym of.
    fn name_by_synonym(&self, claim: &mut Claim) {
        let is_meant = |(_, words): &(&String, &Vec<String>)| {
            words.iter().any(|word| word.to_lowercase() == claim.verb)
        };
        if let Some((verb, _)) = self.synonyms.iter().find(is_meant) {
            claim.verb = verb.to_lowercase();
        }
    }

    fn score(&self, found: &Comparison, calls: usize, mutating_calls: usize) -> NarrativeScore {
        let count = |verdict: ClaimVerdict| {
            let claims = found.claims.iter();
            claims.filter(|judged| judged.is(verdict)).count()
        };
        let failed = count(ClaimVerdict::Failed);
        let absent = count(ClaimVerdict::Absent) + failed;
        let refuted = found.claims.iter().filter(|judged| judged.is_refuted());
        let refuted = refuted.count();
        let unclaimed: usize = found.unmentioned.iter().map(|tool| tool.calls.len()).sum();
        let divergence_score = share(
            absent + unclaimed + found.mismatches.len(),
            calls + found.claims.len(),
        );
        let is_within_ceiling = self
            .max_divergence_score
            .is_none_or(|ceiling| divergence_score <= ceiling);
        NarrativeScore {
            claims: found
                .claims
                .iter()
                .map(|judged| judged.claim.name.clone())
                .collect(),
            claimed_but_absent: absent,
            claimed_but_failed: failed,
            unverified: count(ClaimVerdict::Unverified),
            present_but_unclaimed: unclaimed,
            arg_mismatch: found.mismatches.len(),
            denied_but_present: found.contradictions.len(),
            divergence_score,
            mutating_divergence_score: mutating_divergence(found, refuted, mutating_calls),
            gate_passed: refuted == 0 && found.contradictions.is_empty() && is_within_ceiling,
        }
    }
}

/// The divergence over writes alone, without the claims that a read-only tool excuses.
fn mutating_divergence(found: &Comparison, refuted: usize, mutating_calls: usize) -> f64 {
    let unmentioned = found.unmentioned.iter().filter(|tool| tool.is_mutating);
    let unclaimed: usize = unmentioned.map(|tool| tool.calls.len()).sum();
    let mismatches = found.mismatches.iter();
    let mismatched = mismatches.filter(|mismatch| mismatch.is_mutating).count();
    let claims = found.claims.iter().filter(|judged| !judged.is_excused);
    share(
        refuted + unclaimed + mismatched,
        mutating_calls + claims.count(),
    )
}

/// The calls of each tool of a run and of its catalogue.
fn calls_by_tool<'n>(
    steps: &'n [RunCall<'_>],
    catalogue: &[&'n str],
) -> BTreeMap<(&'n str, Option<&'n str>), Vec<usize>> {
    let mut calls: BTreeMap<(&str, Option<&str>), Vec<usize>> = BTreeMap::new();
    for (call, step) in steps.iter().enumerate() {
        calls
            .entry((step.name, step.server))
            .or_default()
            .push(call);
    }
    for name in catalogue {
        calls.entry((name, None)).or_default();
    }
    calls
}

/// The arguments of all calls under the keys that the text can state.
fn arguments<'w>(
    tools: &[CalledTool<'_>],
    steps: &[RunCall<'_>],
    words: &'w Words,
) -> Arguments<'w> {
    let mut is_mutating = vec![false; steps.len()];
    for &call in tools
        .iter()
        .filter(|tool| tool.is_mutating)
        .flat_map(|tool| &tool.calls)
    {
        is_mutating[call] = true;
    }
    let mut arguments = Arguments::from_keys_in(words);
    for (call, step) in steps.iter().enumerate() {
        arguments.read(call, is_mutating[call], &step.input);
    }
    arguments
}

fn unmentioned(tools: &[CalledTool<'_>], words: &Words) -> Vec<Unmentioned> {
    let called = tools
        .iter()
        .filter(|tool| !tool.calls.is_empty())
        .map(|called| Unmentioned {
            name: called.name.to_owned(),
            is_mutating: called.is_mutating,
            calls: called.calls.clone(),
            missing: called
                .tool
                .missing_from(words)
                .into_iter()
                .map(str::to_owned)
                .collect(),
        });
    let mut found: Vec<Unmentioned> = called.filter(|tool| !tool.missing.is_empty()).collect();
    found.sort_by_key(|tool| tool.calls[0]);
    found
}

/// `min(1, flagged / of)`, 0 for 0/0.
fn share(flagged: usize, of: usize) -> f64 {
    if flagged == 0 {
        0.0
    } else {
        (flagged as f64 / of as f64).min(1.0)
    }
}

impl Comparison {
    /// Compares the claims and denials of a message with the calls of its run.
    fn judge(&mut self, spoken: Vec<Claim>, tools: &[CalledTool<'_>], steps: &[RunCall<'_>]) {
        let evidence = Evidence::new(tools, steps, &spoken);
        let (denials, claims): (Vec<Claim>, Vec<Claim>) =
            spoken.into_iter().partition(|claim| claim.is_denied);
        self.denials = denials.len();
        self.contradictions = denials
            .into_iter()
            .filter(|denial| denial.is_total)
            .filter_map(|denial| {
                let call = evidence.against(&denial)?;
                Some(Contradiction { denial, call })
            })
            .collect();
        self.claims = claims
            .into_iter()
            .map(|claim| {
                let judgement = evidence.judge(&claim);
                JudgedClaim::new(claim, judgement)
            })
            .collect();
    }
}
