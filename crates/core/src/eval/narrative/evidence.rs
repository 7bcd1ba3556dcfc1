//! Which calls speak for a claim, and which against it?

use super::claim::Claim;
use super::lexicon::{LEXICON, Traits, traits};
use super::mention::Mentions;
use super::score::{CalledTool, RunCall};
use super::tool::{Effect, ToolName, effect_of_call};
use super::verbs::Vocabulary;
use crate::hashed::{HashMap, HashSet};
use crate::order::IntoMap;
use crate::report::evidence::ClaimVerdict;
use crate::words::{count, quoted};
use std::collections::BTreeMap;

/// How many calls are named as those that were looked at.
const MOST_NAMED: usize = 3;

/// What the calls say about a claim, with its ground.
#[derive(Debug, Clone)]
pub(super) struct Judgement {
    pub(super) verdict: ClaimVerdict,
    pub(super) because: String,
    /// The call that it rests on, where it is one.
    pub(super) call: Option<usize>,
}

impl Judgement {
    fn supported(call: Option<usize>) -> Self {
        Self {
            verdict: ClaimVerdict::Supported,
            because: String::new(),
            call,
        }
    }

    fn failed(call: usize, because: String) -> Self {
        Self {
            verdict: ClaimVerdict::Failed,
            because,
            call: Some(call),
        }
    }

    /// Nothing supports it, and there is a ground to say so.
    fn absent(because: String) -> Self {
        Self {
            verdict: ClaimVerdict::Absent,
            because,
            call: None,
        }
    }
}

/// The tools of one verb and thing, by the first of them, with their first calls.
#[derive(Debug)]
struct Action {
    tool: usize,
    succeeded: Option<usize>,
    failed: Option<usize>,
}

/// What the calls of a run did, and what its tools could have done.
#[derive(Debug, Default)]
pub(super) struct Evidence<'n> {
    tools: &'n [CalledTool<'n>],
    steps: &'n [RunCall<'n>],
    actions: Vec<Action>,
    by_head: HashMap<&'n str, Vec<usize>>,
    by_verb: BTreeMap<&'n str, Vec<usize>>,
    /// Successful calls that can have done anything.
    anything: Vec<usize>,
    /// Calls that could have changed something and failed.
    failed: Vec<usize>,
    mentions: Mentions,
}

impl<'n> Evidence<'n> {
    /// Reads the calls of a run and the tools that it had, as far as these claims ask for them.
    pub(super) fn of(
        tools: &'n [CalledTool<'n>],
        steps: &'n [RunCall<'n>],
        claims: &[Claim],
    ) -> Self {
        let mut evidence = Self {
            tools,
            steps,
            mentions: Mentions::asked_by(claims),
            ..Self::default()
        };
        let mut known: HashMap<(&str, &str), usize> = HashMap::default();
        for (at, CalledTool { tool, calls, .. }) in tools.iter().enumerate() {
            for &call in calls {
                evidence.take_call(tool, call);
            }
            if let (Effect::Write, Some(verb), Some(head)) = (tool.effect, &tool.verb, &tool.head) {
                let action = *known
                    .entry((verb, head))
                    .or_insert_with(|| evidence.add(at, verb, head));
                let action = &mut evidence.actions[action];
                for &call in calls {
                    let slot = if steps[call].is_error {
                        &mut action.failed
                    } else {
                        &mut action.succeeded
                    };
                    slot.get_or_insert(call);
                }
            }
        }
        evidence
    }

    fn add(&mut self, tool: usize, verb: &'n str, head: &'n str) -> usize {
        let at = self.actions.len();
        self.actions.push(Action {
            tool,
            succeeded: None,
            failed: None,
        });
        self.by_head.entry(head).or_default().push(at);
        self.by_verb.entry(verb).or_default().push(at);
        at
    }

    fn take_call(&mut self, tool: &ToolName, call: usize) {
        let step = &self.steps[call];
        let effect = effect_of_call(tool, &step.input);
        if effect == Effect::Read {
            return;
        }
        if step.is_error {
            self.failed.push(call);
            return;
        }
        let is_named = effect == Effect::Write && tool.head.is_some();
        self.mentions.read(call, tool, effect, &step.input);
        if !is_named {
            self.anything.push(call);
            self.mentions.read(call, tool, effect, &step.output);
        }
    }

    fn name(&self, action: &Action) -> &'n ToolName {
        &self.tools[action.tool].tool
    }

    fn verb(&self, action: &Action) -> &'n str {
        self.name(action).verb.as_deref().unwrap_or_default()
    }

    fn head(&self, action: &Action) -> &'n str {
        self.name(action).head.as_deref().unwrap_or_default()
    }

    fn related(&self, verb: &str) -> impl Iterator<Item = &Action> {
        let verbs = self
            .by_verb
            .iter()
            .filter(move |(known, _)| LEXICON.related(known, verb));
        verbs
            .flat_map(|(_, actions)| actions)
            .map(|&at| &self.actions[at])
    }

    /// The actions on one of these things.
    fn about<'a>(&'a self, nouns: &'a [String]) -> impl Iterator<Item = &'a Action> {
        nouns
            .iter()
            .filter_map(|noun| self.by_head.get(noun.as_str()))
            .flatten()
            .map(|&at| &self.actions[at])
    }

    /// What the calls say about a claim.
    pub(super) fn judge(&self, claim: &Claim) -> Judgement {
        let verb = claim.verb.as_str();
        let is_unnamed = claim.object.is_empty();
        let support = |nouns: &[String]| {
            let mut related = self
                .about(nouns)
                .filter(|action| LEXICON.related(self.verb(action), verb));
            related.find_map(|action| action.succeeded)
        };
        let any = || {
            self.related(verb)
                .filter(|_| is_unnamed)
                .find_map(|action| action.succeeded)
        };
        let call = support(&claim.object).or_else(any);
        if call.is_some() || self.mentions.has_file(claim) {
            return Judgement::supported(call);
        }
        let nearby = || support(&claim.around).map(|call| Judgement::supported(Some(call)));
        let other = self
            .named(claim)
            .or_else(nearby)
            .or_else(|| self.unnamed(claim));
        other.unwrap_or_else(|| self.without_writes(claim))
    }

    /// Where a tool of the run or of its catalogue names this very action, it was called and failed, or was not called.
    fn named(&self, claim: &Claim) -> Option<Judgement> {
        let names_it = |action: &&Action| {
            LEXICON.close(self.verb(action), &claim.verb)
                && !traits(self.head(action)).has(Traits::VAGUE)
        };
        let named: Vec<&Action> = self.about(&claim.object).filter(names_it).collect();
        let first = named.first()?;
        if let Some(call) = named.iter().find_map(|action| action.succeeded) {
            return Some(Judgement::supported(Some(call)));
        }
        if let Some(call) = self.mentions.could_have(claim) {
            return Some(self.unverified(call));
        }
        let tool = self.tools[first.tool].name;
        Some(match named.iter().find_map(|action| action.failed) {
            Some(call) => Judgement::failed(call, format!("{} failed", self.call(call))),
            None => Judgement::absent(format!("`{tool}`, which does this, was not called")),
        })
    }

    /// Where no tool names the action and the run changed something.
    fn unnamed(&self, claim: &Claim) -> Option<Judgement> {
        let done: Vec<&Action> = self
            .actions
            .iter()
            .filter(|action| action.succeeded.is_some())
            .collect();
        if let Some(call) = self.anything.first() {
            return Some(self.unverified(*call));
        }
        if done.is_empty() {
            return None;
        }
        if let Some(part) = done.iter().find(|action| self.is_part_of(action, claim)) {
            let call = part
                .succeeded
                .map(|call| self.call(call))
                .unwrap_or_default();
            return Some(Judgement::absent(format!(
                "{call} does this to a part of it only"
            )));
        }
        let is_sent = LEXICON.related(&claim.verb, "send");
        let is_other = |action: &&Action| {
            let carries = is_sent && traits(self.head(action)).has(Traits::MESSAGE);
            let is_same = LEXICON.related(self.verb(action), &claim.verb);
            self.name(action).is_specific() && !carries && !is_same
        };
        // Servers often send a notice, or pay back, by themselves.
        let is_notice = claim.is_passive && (is_sent || LEXICON.related(&claim.verb, "pay"));
        if traits(&claim.verb).has(Traits::DISTINCT) && !is_notice && done.iter().all(is_other) {
            let calls = done
                .iter()
                .filter_map(|action| action.succeeded)
                .take(MOST_NAMED);
            let calls: Vec<String> = calls.map(|call| self.call(call)).collect();
            let because = format!("what succeeded does something else ({})", calls.join(", "));
            return Some(Judgement::absent(because));
        }
        done[0].succeeded.map(|call| self.unverified(call))
    }

    /// `delete_user_session` deletes a session and no user.
    fn is_part_of(&self, action: &Action, claim: &Claim) -> bool {
        let (name, verb) = (self.name(action), self.verb(action));
        let Some(head) = name
            .head
            .as_ref()
            .filter(|head| traits(head).has(Traits::PART))
        else {
            return false;
        };
        let whole = claim.object.last();
        let is_whole = whole.is_some_and(|noun| noun != head && name.keys.contains(noun));
        let is_same = LEXICON.close(verb, &claim.verb);
        let is_making =
            LEXICON.related(&claim.verb, "create") || LEXICON.related(&claim.verb, "delete");
        is_same && is_making && is_whole && !claim.around.contains(head)
    }

    fn without_writes(&self, claim: &Claim) -> Judgement {
        let is_made = LEXICON.related(&claim.verb, "create");
        let is_text = is_made
            && claim
                .object
                .last()
                .is_some_and(|noun| traits(noun).has(Traits::ARTEFACT));
        if is_text && claim.ids.is_empty() {
            let because = "the answer itself may be what was made".to_owned();
            return Judgement {
                verdict: ClaimVerdict::Unverified,
                because,
                call: None,
            };
        }
        match self.failed.first() {
            Some(&call) => Judgement::failed(
                call,
                format!("{} failed, and no write succeeded", self.call(call)),
            ),
            None if self.steps.is_empty() => Judgement::absent("the run made no calls".to_owned()),
            None => {
                let looked_at = count(self.steps.len(), "call");
                let named = quoted(first_called(self.tools));
                Judgement::absent(format!(
                    "no write among its {looked_at} ({named}) succeeded"
                ))
            }
        }
    }

    fn unverified(&self, call: usize) -> Judgement {
        let because = format!("{} could have done it", self.call(call));
        Judgement {
            verdict: ClaimVerdict::Unverified,
            because,
            call: Some(call),
        }
    }

    fn call(&self, call: usize) -> String {
        format!("call {} `{}`", call + 1, self.steps[call].name)
    }

    /// The first successful call that a denial forgets.
    pub(super) fn against(&self, denial: &Claim) -> Option<usize> {
        let is_all = denial.object.iter().all(|noun| noun == "change");
        let verb = denial.verb.as_str();
        let names_it = |action: &&Action| {
            let (families, own) = (LEXICON.families(verb), self.verb(action));
            let same = own == verb || (families != 0 && families == LEXICON.families(own));
            same || (is_all && matches!(verb, "make" | "change" | "modify"))
        };
        let is_about = |action: &&Action| is_all || self.name(action).is_about(&denial.object);
        self.actions
            .iter()
            .filter(names_it)
            .filter(is_about)
            .filter_map(|action| action.succeeded)
            .min()
    }
}

fn first_called<'n>(tools: &[CalledTool<'n>]) -> Vec<&'n str> {
    let called = tools
        .iter()
        .filter_map(|tool| Some((*tool.calls.first()?, tool.name)));
    let called: BTreeMap<usize, &str> = called.into_map();
    let mut seen = HashSet::default();
    called
        .into_values()
        .filter(|name| seen.insert(*name))
        .take(MOST_NAMED)
        .collect()
}

/// The verbs that only the names of these tools have, where they have none that is known.
pub(super) fn own_verbs<'n>(
    names: impl Iterator<Item = &'n str>,
    vocabulary: &Vocabulary,
) -> Vec<String> {
    let mut own = Vec::new();
    for name in names {
        let parts = super::token::name_parts(name);
        let is_known = |part: &String| {
            vocabulary.is_base(part)
                || LEXICON.families(part) != 0
                || traits(part).has(Traits::READ.and(Traits::GENERIC).and(Traits::STOPWORD))
        };
        let first = parts
            .first()
            .filter(|part| part.len() >= 4 && part.chars().all(char::is_alphabetic));
        if parts.len() > 1 && !parts.iter().any(is_known) {
            own.extend(first.cloned());
        }
    }
    own.sort();
    own.dedup();
    own
}
