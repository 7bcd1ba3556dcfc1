//! Which calls speak for a claim, and which against it?

use super::carried::Carried;
use super::claim::Claim;
use super::identifier::{Identifier, IdentifierKind, Kinds};
use super::lexicon::{LEXICON, Traits, noun_key, traits};
use super::mention::Mentions;
use super::reported::Reported;
use super::score::{CalledTool, RunCall};
use super::tool::{Effect, ToolName, effect_of_call};
use super::verbs::Vocabulary;
use crate::hashed::HashSet;
use crate::report::evidence::ClaimVerdict;
use crate::words::{count, quoted};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// The maximum number of calls that a reason names.
const MOST_NAMED: usize = 3;

/// The verdict of the calls on a claim, with the reason.
#[derive(Debug, Clone)]
pub(super) struct Judgement {
    pub(super) verdict: ClaimVerdict,
    pub(super) because: String,
    /// The call that decides the verdict, if a single call does.
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

    /// No call supports the claim, for the given reason.
    fn absent(because: String) -> Self {
        Self {
            verdict: ClaimVerdict::Absent,
            because,
            call: None,
        }
    }
}

/// A tool that writes, with its calls.
#[derive(Debug)]
struct Action {
    tool: usize,
    succeeded: Vec<usize>,
    failed: Vec<usize>,
    /// Which kinds of identifiers each of its successful calls was given.
    gives: Kinds,
}

/// The similarity between the verb of a tool and the verb of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kinship {
    /// The one may have done what the other says.
    Neighbour,
    Family,
    /// Both name the same action.
    Close,
    Same,
}

/// The relation of the calls to one identifier of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Carrier {
    /// A call that supports the claim has it.
    Did(usize),
    /// Only a call that failed has it.
    Failed(usize),
    /// Another write has it, or nothing says that the calls were about another.
    Unclear,
    /// Each call that could support the claim has another.
    Other,
}

/// The effects of a run's calls, and the possible effects of its tools.
#[derive(Debug, Default)]
pub(super) struct Evidence<'n> {
    tools: &'n [CalledTool<'n>],
    steps: &'n [RunCall<'n>],
    actions: Vec<Action>,
    /// The action of each call that writes.
    action_of: BTreeMap<usize, usize>,
    /// Successful calls that can have done anything.
    anything: Vec<usize>,
    /// Calls that could have changed something and failed.
    failed: Vec<usize>,
    /// Successful calls that only looked.
    reads: Vec<usize>,
    mentions: Mentions,
    carried: Carried,
    /// The objects and identifiers of reports. Reads are searched for them only if a report is refuted.
    reported: Reported,
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
            carried: Carried::asked_by(claims),
            reported: Reported::asked_by(claims),
            ..Self::default()
        };
        // A tool of the catalogue is the tool that was called, under whatever server.
        let mut known: BTreeMap<(&str, Option<&str>, &[String]), usize> = BTreeMap::new();
        let mut by_call: Vec<(usize, usize)> = Vec::new();
        for (at, CalledTool { tool, calls, .. }) in tools.iter().enumerate() {
            by_call.extend(calls.iter().map(|&call| (call, at)));
            let (Effect::Write, Some(verb)) = (tool.effect, tool.verb.as_deref()) else {
                continue;
            };
            let action = match known.entry((verb, tool.head.as_deref(), &tool.nouns)) {
                Entry::Occupied(known) => *known.get(),
                Entry::Vacant(free) => *free.insert(evidence.add(at)),
            };
            evidence
                .action_of
                .extend(calls.iter().map(|&call| (call, action)));
        }
        by_call.sort_unstable();
        for (call, at) in by_call {
            evidence.take_call(&tools[at].tool, call);
        }
        evidence
    }

    fn add(&mut self, tool: usize) -> usize {
        self.actions.push(Action {
            tool,
            succeeded: Vec::new(),
            failed: Vec::new(),
            gives: Kinds::ALL,
        });
        self.actions.len() - 1
    }

    fn take_call(&mut self, tool: &ToolName, call: usize) {
        let step = &self.steps[call];
        let effect = effect_of_call(tool, &step.input);
        if effect == Effect::Read {
            if !step.is_error {
                self.reads.push(call);
            }
            return;
        }
        let given = self.carried.read(call, &step.input, tool.head.as_deref());
        let action = self
            .action_of
            .get(&call)
            .copied()
            .filter(|_| effect == Effect::Write);
        if step.is_error {
            self.failed.push(call);
            if let Some(action) = action {
                self.actions[action].failed.push(call);
            }
            return;
        }
        self.carried.read(call, &step.output, None);
        self.mentions.read(call, tool, effect, &step.input);
        if let Some(action) = action {
            let action = &mut self.actions[action];
            action.succeeded.push(call);
            action.gives = action.gives.common(given);
        } else {
            self.anything.push(call);
            self.mentions.read(call, tool, effect, &step.output);
        }
    }

    fn name(&self, action: &Action) -> &'n ToolName {
        &self.tools[action.tool].tool
    }

    fn head(&self, action: &Action) -> &'n str {
        self.name(action).head.as_deref().unwrap_or_default()
    }

    fn verbs(&self, action: &Action) -> impl Iterator<Item = &'n str> + use<'n> {
        let name = self.name(action);
        name.verb.as_deref().into_iter().chain(name.nominal)
    }

    fn kinship(&self, action: &Action, claim: &Claim) -> Option<Kinship> {
        let spoken = || std::iter::once(claim.verb.as_str()).chain(claim.nominal);
        let pairs = self
            .verbs(action)
            .flat_map(|own| spoken().map(move |said| (own, said)));
        let head = self.head(action);
        let is_content = head.is_empty() || traits(head).has(Traits::CARRIER);
        let moves_money = traits(head).has(Traits::MONEY);
        let of = |(own, said): (&str, &str)| {
            if own == said {
                Some(Kinship::Same)
            } else if LEXICON.close(own, said) {
                Some(Kinship::Close)
            } else if LEXICON.related(own, said) {
                Some(Kinship::Family)
            } else if LEXICON.neighbours(own, said)
                || (is_content && LEXICON.is_content(own) && LEXICON.is_content(said))
                || (moves_money && traits(said).has(Traits::MONEY_VERB))
                || (traits(head).has(Traits::MESSAGE) && LEXICON.related(said, "send"))
            {
                Some(Kinship::Neighbour)
            } else {
                None
            }
        };
        pairs.filter_map(of).max()
    }

    /// Judges a claim by the calls.
    pub(super) fn judge(&self, claim: &Claim) -> Judgement {
        let judgement = self.by_writes(claim);
        let is_refuted = matches!(
            judgement.verdict,
            ClaimVerdict::Absent | ClaimVerdict::Failed
        );
        if !is_refuted {
            return judgement;
        }
        match self.reported(claim, &judgement) {
            Some(call) => Judgement {
                verdict: ClaimVerdict::Unverified,
                because: format!("{} may have shown it", self.call(call)),
                call: Some(call),
            },
            None => judgement,
        }
    }

    fn by_writes(&self, claim: &Claim) -> Judgement {
        let supporters = self.supporters(claim);
        if !supporters.is_empty() {
            let rival = self
                .named(claim)
                .into_iter()
                .find(|rival| self.is_nearer(rival, &supporters, claim));
            return match rival {
                Some(rival) => self.not_done(claim, &[rival]),
                None => self.held_to_identifiers(claim, &supporters),
            };
        }
        if self.mentions.has_file(claim) {
            return Judgement::supported(None);
        }
        let named = self.named(claim);
        if named.is_empty() {
            self.unnamed(claim)
        } else {
            self.not_done(claim, &named)
        }
    }

    /// The tools whose successful calls do what is claimed, the nearest first.
    fn supporters(&self, claim: &Claim) -> Vec<&Action> {
        let mut found: Vec<(u8, &Action)> = Vec::new();
        for action in self
            .actions
            .iter()
            .filter(|action| !action.succeeded.is_empty())
        {
            let Some(kinship) = self.kinship(action, claim) else {
                continue;
            };
            let head = self.name(action).head.as_ref();
            let is_object = head.is_none_or(|head| claim.object.contains(head));
            // "Made a refund" names what was done, and not of what.
            let by_noun = claim
                .nominal
                .is_some_and(|noun| self.verbs(action).any(|verb| verb == noun));
            let is_unnamed = (claim.object.is_empty() && head.is_some()) || by_noun;
            let distance = match kinship {
                Kinship::Neighbour => continue,
                // A tool of one word does this to whatever it is given.
                Kinship::Family if head.is_none() => continue,
                _ if is_object => 0,
                _ if is_unnamed => 1,
                Kinship::Same | Kinship::Close
                    if self.is_put_there(action, claim) || self.changes_part_of(action, claim) =>
                {
                    2
                }
                _ if head.is_some_and(|head| claim.around.contains(head)) => 3,
                _ => continue,
            };
            found.push((distance, action));
        }
        found.sort_by_key(|(distance, _)| *distance);
        found.into_iter().map(|(_, action)| action).collect()
    }

    /// Returns true if the claim names the place that the tool puts things into.
    fn is_put_there(&self, action: &Action, claim: &Claim) -> bool {
        let is_named =
            |noun: &String| claim.destination.contains(noun) || claim.object.contains(noun);
        self.name(action).destinations.iter().any(is_named)
    }

    /// Returns true if the tool changes a part of the thing that the claim reports as changed: `modify_order_items`
    /// modifies an order.
    fn changes_part_of(&self, action: &Action, claim: &Claim) -> bool {
        let nouns = &self.name(action).nouns;
        LEXICON.close(&claim.verb, "update")
            && !claim.object.is_empty()
            && claim.object.iter().all(|noun| nouns.contains(noun))
    }

    /// The tools that name this very action and were not called with success.
    fn named(&self, claim: &Claim) -> Vec<&Action> {
        let names_it = |action: &&Action| {
            let head = self.head(action);
            let is_object = claim.object.iter().any(|noun| noun == head);
            action.succeeded.is_empty()
                && self.kinship(action, claim) >= Some(Kinship::Close)
                && ((is_object && !traits(head).has(Traits::VAGUE))
                    || self.is_put_there(action, claim)
                    || self.changes_part_of(action, claim))
        };
        self.actions.iter().filter(names_it).collect()
    }

    /// Returns true if a tool that was not called fits the claim better than every tool that was called.
    fn is_nearer(&self, rival: &Action, supporters: &[&Action], claim: &Claim) -> bool {
        let nouns = |action: &Action| -> HashSet<&'n str> {
            let is_said =
                |noun: &&String| claim.object.contains(noun) || claim.destination.contains(noun);
            let nouns = self.name(action).nouns.iter().filter(is_said);
            nouns.map(String::as_str).collect()
        };
        let (own, kinship) = (nouns(rival), self.kinship(rival, claim));
        supporters.iter().all(|other| {
            let others = nouns(other);
            kinship >= self.kinship(other, claim)
                && others.is_subset(&own)
                && own.len() > others.len()
        })
    }

    /// A tool names the action, and none of its calls succeeded.
    fn not_done(&self, claim: &Claim, named: &[&Action]) -> Judgement {
        let names_object =
            |action: &&Action| claim.object.iter().any(|noun| noun == self.head(action));
        let fills = named.iter().copied().any(|action| names_object(&action));
        if let Some(call) = self.mentions.could_have(claim, fills) {
            return self.unverified(call);
        }
        let failed = named.iter().find_map(|action| action.failed.first());
        match (failed, named.first()) {
            (Some(&call), _) => Judgement::failed(call, format!("{} failed", self.call(call))),
            (None, Some(first)) => {
                let tool = self.tools[first.tool].name;
                Judgement::absent(format!("`{tool}`, which does this, was not called"))
            }
            (None, None) => self.unnamed(claim),
        }
    }

    /// Looks up each name and number of a claim, call by call: what one call did says nothing of another thing.
    fn held_to_identifiers(&self, claim: &Claim, supporters: &[&Action]) -> Judgement {
        let first = supporters[0].succeeded[0];
        let mut did = None;
        let (mut unclear, mut other) = (None, None);
        let mut has_found = Kinds::default();
        let carriers: Vec<(&Identifier, Carrier)> = claim
            .ids
            .iter()
            .filter(|id| id.kind != IdentifierKind::Amount)
            .map(|id| (id, self.carrier(id, claim, supporters)))
            .collect();
        for (id, carrier) in &carriers {
            match carrier {
                Carrier::Failed(call) => {
                    let because = format!("{}, which has `{}`, failed", self.call(*call), id.text);
                    return Judgement::failed(*call, because);
                }
                Carrier::Did(call) => {
                    did = did.or(Some(*call));
                    has_found.add(id.kind);
                }
                Carrier::Unclear => unclear = unclear.or(Some(*id)),
                Carrier::Other => other = other.or(Some(*id)),
            }
        }
        for id in &claim.listed {
            if let Carrier::Failed(call) = self.carrier(id, claim, supporters) {
                let because = format!("{}, which has `{}`, failed", self.call(call), id.text);
                return Judgement::failed(call, because);
            }
        }
        // Of "issues 1, 2 and 3" one was found among the calls, so that the others would be there too.
        let is_missing = |(id, carrier): &&(&Identifier, Carrier)| {
            *carrier == Carrier::Unclear && has_found.has(id.kind)
        };
        other = other.or_else(|| {
            carriers
                .iter()
                .filter(|(id, _)| id.is_decisive())
                .find(is_missing)
                .map(|(id, _)| *id)
        });
        if let Some(id) = other {
            let (called, name) = (self.call(first), &id.text);
            return Judgement::absent(format!("no call has `{name}`; {called} is about another"));
        }
        match unclear.filter(|id| id.is_decisive()) {
            Some(id) => Judgement {
                verdict: ClaimVerdict::Unverified,
                because: format!("no call has `{}`", id.text),
                call: Some(first),
            },
            None => Judgement::supported(did.or(Some(first))),
        }
    }

    fn carrier(&self, id: &Identifier, claim: &Claim, supporters: &[&Action]) -> Carrier {
        let calls = self.carried.calls(id);
        let supports = |call: &&usize| {
            supporters
                .iter()
                .any(|action| action.succeeded.binary_search(call).is_ok())
        };
        if let Some(call) = calls.iter().find(supports) {
            return Carrier::Did(*call);
        }
        if calls.iter().any(|call| !self.steps[*call].is_error) {
            return Carrier::Unclear;
        }
        let is_of_claim = |call: &&usize| {
            let action = self.action_of.get(*call).map(|&at| &self.actions[at]);
            action.is_some_and(|action| self.kinship(action, claim) >= Some(Kinship::Family))
        };
        if let Some(call) = calls.iter().find(is_of_claim) {
            return Carrier::Failed(*call);
        }
        // What is made gets its number from the server.
        let is_given = !matches!(id.kind, IdentifierKind::Number | IdentifierKind::Code)
            || !LEXICON.related(&claim.verb, "create");
        let shows_another = supporters.iter().all(|action| action.gives.has(id.kind));
        if id.is_decisive() && is_given && shows_another {
            Carrier::Other
        } else if id.is_decisive() && supporters.iter().any(|action| self.is_told(action)) {
            Carrier::Unclear
        } else {
            Carrier::Did(supporters[0].succeeded[0])
        }
    }

    /// Returns true if the recording has the tool's arguments.
    fn is_told(&self, action: &Action) -> bool {
        let is_told = |call: &usize| self.steps[*call].input.len() > "{}".len();
        action.succeeded.iter().any(is_told)
    }

    /// Where no tool names the action and the run changed something.
    fn unnamed(&self, claim: &Claim) -> Judgement {
        if claim.is_answer {
            return Judgement {
                verdict: ClaimVerdict::Unverified,
                because: "the answer itself may be what was made".to_owned(),
                call: None,
            };
        }
        if let Some(call) = self.anything.first() {
            return self.unverified(*call);
        }
        let done: Vec<&Action> = self
            .actions
            .iter()
            .filter(|action| !action.succeeded.is_empty())
            .collect();
        if done.is_empty() {
            return self.without_writes();
        }
        if let Some(part) = done.iter().find(|action| self.is_part_of(action, claim)) {
            let call = self.call(part.succeeded[0]);
            return Judgement::absent(format!("{call} does this to a part of it only"));
        }
        let is_sent = LEXICON.related(&claim.verb, "send");
        // Servers often send a notice, or pay back, by themselves.
        let is_paid = ["pay", "refund"].iter().any(|verb| {
            LEXICON.related(&claim.verb, verb)
                || claim
                    .nominal
                    .is_some_and(|noun| LEXICON.related(noun, verb))
        });
        if claim.is_passive && (is_sent || is_paid) {
            return self.unverified(done[0].succeeded[0]);
        }
        let candidate = done.iter().find(|action| self.could_have(action, claim));
        // "I shared it", and the call that shares failed.
        let tried = || {
            let is_close = |action: &&Action| self.kinship(action, claim) >= Some(Kinship::Close);
            let failed = self.actions.iter().filter(is_close);
            failed.filter_map(|action| action.failed.first()).min()
        };
        match (candidate, tried()) {
            (Some(action), _) => self.unverified(action.succeeded[0]),
            (None, Some(&call)) => Judgement::failed(call, format!("{} failed", self.call(call))),
            (None, None) => {
                let calls = done.iter().map(|action| self.call(action.succeeded[0]));
                let calls: Vec<String> = calls.take(MOST_NAMED).collect();
                let calls = calls.join(", ");
                Judgement::absent(format!("what succeeded does something else ({calls})"))
            }
        }
    }

    /// Returns true if a write that succeeded shares the claim's verb family or its object.
    fn could_have(&self, action: &Action, claim: &Claim) -> bool {
        if self.kinship(action, claim).is_some() {
            return true;
        }
        let is_distinct = traits(&claim.verb).has(Traits::DISTINCT);
        let head = self.head(action);
        // `update_issue` may have closed "it".
        let own = noun_key(&claim.verb);
        let is_unnamed = claim.object.iter().all(|noun| **noun == *own);
        let verb = self.name(action).verb.as_deref().unwrap_or_default();
        if is_unnamed && traits(verb).has(Traits::LOOSE) && !self.has_tool_for(&claim.verb) {
            return true;
        }
        let shares = claim
            .object
            .iter()
            .chain(&claim.around)
            .any(|noun| noun == head);
        shares && !(is_distinct && self.name(action).is_specific())
    }

    /// Returns true if a tool has exactly this verb in its name, called or not.
    fn has_tool_for(&self, verb: &str) -> bool {
        let is_named = |action: &Action| self.verbs(action).any(|own| own == verb);
        self.actions.iter().any(is_named)
    }

    /// `delete_user_session` deletes a session and no user.
    fn is_part_of(&self, action: &Action, claim: &Claim) -> bool {
        let name = self.name(action);
        let Some(head) = name
            .head
            .as_ref()
            .filter(|head| traits(head).has(Traits::PART))
        else {
            return false;
        };
        let whole = claim.object.last();
        let is_whole = whole.is_some_and(|noun| noun != head && name.keys.contains(noun));
        let is_same = self.kinship(action, claim) >= Some(Kinship::Close);
        let is_making =
            LEXICON.related(&claim.verb, "create") || LEXICON.related(&claim.verb, "delete");
        is_same && is_making && is_whole && !claim.around.contains(head)
    }

    fn without_writes(&self) -> Judgement {
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

    /// The read that may have returned what the claim reports.
    fn reported(&self, claim: &Claim, judgement: &Judgement) -> Option<usize> {
        if !claim.is_report || self.was_tried(claim, judgement) {
            return None;
        }
        let reads = self.reads.iter().map(|&call| (call, &self.steps[call]));
        self.reported.first_read(claim, reads)
    }

    /// Returns true if the claim failed because the call that would have done it failed.
    fn was_tried(&self, claim: &Claim, judgement: &Judgement) -> bool {
        let call = judgement
            .call
            .filter(|_| judgement.verdict == ClaimVerdict::Failed);
        let action = call.and_then(|call| self.action_of.get(&call));
        action.is_some_and(|&at| self.kinship(&self.actions[at], claim) >= Some(Kinship::Close))
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
            let own = self.name(action).verb.as_deref().unwrap_or_default();
            let families = LEXICON.families(verb);
            let same = own == verb || (families != 0 && families == LEXICON.families(own));
            same || (is_all && matches!(verb, "make" | "change" | "modify"))
        };
        let is_about = |action: &&Action| is_all || self.name(action).is_about(&denial.object);
        self.actions
            .iter()
            .filter(names_it)
            .filter(is_about)
            .filter_map(|action| action.succeeded.first().copied())
            .min()
    }
}

fn first_called<'n>(tools: &[CalledTool<'n>]) -> Vec<&'n str> {
    let called = tools
        .iter()
        .filter_map(|tool| Some((*tool.calls.first()?, tool.name)));
    let called: BTreeMap<usize, &str> = called.collect();
    let mut seen = HashSet::default();
    called
        .into_values()
        .filter(|name| seen.insert(*name))
        .take(MOST_NAMED)
        .collect()
}

/// The first words of the names of tools that contain no known verb: verbs that only these tools use.
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
