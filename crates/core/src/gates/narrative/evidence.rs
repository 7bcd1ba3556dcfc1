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

    /// No call supports the claim, because of this.
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
    /// The kinds of identifiers that each of its successful calls was given.
    gives: Kinds,
}

/// The similarity between the verb of a tool and the verb of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kinship {
    /// One may have done what the other describes.
    Neighbour,
    Family,
    /// Both name the same action.
    Close,
    Same,
}

/// The distance between a tool's effect and the claimed action, the nearest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Distance {
    /// The tool does this to the object of the claim.
    Object,
    /// The claim names no object.
    Unnamed,
    /// The claim names the place that the tool puts things into, or the whole of which the tool
    /// changes a part.
    Container,
    /// The claim names the tool's object besides its own.
    Around,
}

/// The relation of the calls to one identifier of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Carrier {
    /// A call that supports the claim has it.
    Did(usize),
    /// Only a call that failed has it.
    Failed(usize),
    /// Another write has it, or the calls do not show what they were about.
    Unclear,
    /// Each call that could support the claim has a different one.
    Other,
}

impl Carrier {
    fn did(self) -> Option<usize> {
        match self {
            Self::Did(call) => Some(call),
            Self::Failed(_) | Self::Unclear | Self::Other => None,
        }
    }
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
    /// Successful calls that only read.
    reads: Vec<usize>,
    mentions: Mentions,
    carried: Carried,
    /// The objects and identifiers of reports. Reads are searched for them only if a report is refuted.
    reported: Reported,
}

impl<'n> Evidence<'n> {
    /// Reads the calls of a run and the tools that it had, as far as these claims ask for them.
    pub(super) fn new(
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
            evidence.read_call(&tools[at].tool, call);
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

    fn read_call(&mut self, tool: &ToolName, call: usize) {
        let step = &self.steps[call];
        let effect = effect_of_call(tool, &step.input);
        if effect == Effect::Read {
            if !step.is_error {
                self.reads.push(call);
            }
            return;
        }
        let given = self.carried.read(call, &step.input, tool.head.as_deref());
        let written = self
            .action_of
            .get(&call)
            .filter(|_| effect == Effect::Write);
        let action = written.map(|&at| &mut self.actions[at]);
        if step.is_error {
            self.failed.push(call);
            if let Some(action) = action {
                action.failed.push(call);
            }
            return;
        }
        self.carried.read(call, &step.output, None);
        self.mentions.read(call, tool, effect, &step.input);
        if let Some(action) = action {
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
        let head = self.head(action);
        let spoken = || std::iter::once(claim.verb.as_str()).chain(claim.nominal);
        self.verbs(action)
            .flat_map(|own| spoken().map(move |said| (own, said)))
            .filter_map(|(own, said)| kinship_of_verbs(own, said, head))
            .max()
    }

    /// Judges a claim by the calls.
    pub(super) fn judge(&self, claim: &Claim) -> Judgement {
        let judgement = self
            .failed_for_a_name(claim)
            .or_else(|| self.failed_for_some(claim))
            .unwrap_or_else(|| self.by_writes(claim));
        let is_refuted = matches!(
            judgement.verdict,
            ClaimVerdict::Absent | ClaimVerdict::Failed
        );
        if !is_refuted {
            return self.in_doubt_of_all(claim).unwrap_or(judgement);
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
                None => self.by_identifiers(claim, &supporters),
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

    /// The tools whose successful calls do the claimed action, the nearest first.
    fn supporters(&self, claim: &Claim) -> Vec<&Action> {
        let mut found: Vec<(Distance, &Action)> = self
            .actions
            .iter()
            .filter(|action| !action.succeeded.is_empty())
            .filter_map(|action| Some((self.distance(action, claim)?, action)))
            .collect();
        found.sort_by_key(|(distance, _)| *distance);
        found.into_iter().map(|(_, action)| action).collect()
    }

    /// The distance from a tool's effect to the claimed action, if the tool can support the claim.
    fn distance(&self, action: &Action, claim: &Claim) -> Option<Distance> {
        let kinship = self.kinship(action, claim)?;
        let head = self.name(action).head.as_ref();
        // "Made a refund" names what was done, and not of what.
        let by_noun = claim
            .nominal
            .is_some_and(|noun| self.verbs(action).any(|verb| verb == noun));
        let is_unnamed = (claim.object.is_empty() && head.is_some()) || by_noun;
        match kinship {
            Kinship::Neighbour => None,
            // A tool of one word does this to whatever it is given.
            Kinship::Family if head.is_none() => None,
            _ if head.is_none_or(|head| claim.object.contains(head)) => Some(Distance::Object),
            _ if is_unnamed => Some(Distance::Unnamed),
            Kinship::Same | Kinship::Close
                if self.is_put_there(action, claim) || self.changes_part_of(action, claim) =>
            {
                Some(Distance::Container)
            }
            _ if head.is_some_and(|head| claim.around.contains(head)) => Some(Distance::Around),
            _ => None,
        }
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

    /// The claimed action names a tool, but none of its calls succeeded.
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

    /// Looks up each name and number of a claim call by call, because a call about one thing does
    /// not support a claim about another.
    fn by_identifiers(&self, claim: &Claim, supporters: &[&Action]) -> Judgement {
        let first = supporters[0].succeeded[0];
        let carriers: Vec<(&Identifier, Carrier)> = claim
            .ids
            .iter()
            .filter(|id| id.kind != IdentifierKind::Amount)
            .map(|id| (id, self.carrier(id, claim, supporters)))
            .collect();
        let listed = claim
            .listed
            .iter()
            .map(|id| (id, self.carrier(id, claim, supporters)));
        for (id, carrier) in carriers.iter().copied().chain(listed) {
            if let Carrier::Failed(call) = carrier {
                let because = format!("{}, which has `{}`, failed", self.call(call), id.text);
                return Judgement::failed(call, because);
            }
        }
        if let Some(id) = id_of_another(&carriers) {
            let (called, name) = (self.call(first), &id.text);
            return Judgement::absent(format!(
                "no call has `{name}`; {called} is about something \
            different"
            ));
        }
        let unclear = carriers
            .iter()
            .find(|(_, carrier)| *carrier == Carrier::Unclear);
        if let Some((id, _)) = unclear.filter(|(id, _)| id.is_decisive()) {
            return Judgement {
                verdict: ClaimVerdict::Unverified,
                because: format!("no call has `{}`", id.text),
                call: Some(first),
            };
        }
        let did = carriers.iter().find_map(|(_, carrier)| carrier.did());
        Judgement::supported(did.or(Some(first)))
    }

    /// "I added Alice and Bob", and the call for Bob failed. A later success may have done it by
    /// his id, unless it has a different name.
    fn failed_for_a_name(&self, claim: &Claim) -> Option<Judgement> {
        let may_do_it = |call: &usize| {
            let action = self.action_of.get(call).map(|&at| &self.actions[at]);
            action.is_some_and(|action| self.kinship(action, claim) >= Some(Kinship::Family))
        };
        let has_done_it = |call: &usize| {
            let is_general = self.anything.binary_search(call).is_ok();
            !self.steps[*call].is_error && (is_general || may_do_it(call))
        };
        let is_retried = |failed: usize| {
            (failed + 1..self.steps.len())
                .filter(may_do_it)
                .any(|call| !self.steps[call].is_error && !self.carried.names_more(call, failed))
        };
        claim.proper_names.iter().find_map(|name| {
            let calls = self.carried.calls(name);
            let has_succeeded = calls.iter().any(has_done_it);
            let failed = calls.into_iter().find(may_do_it)?;
            if has_succeeded || is_retried(failed) {
                return None;
            }
            let because = format!("{}, which has `{}`, failed", self.call(failed), name.text);
            Some(Judgement::failed(failed, because))
        })
    }

    /// "I sent all three emails", and one failed. A call with a list may have sent several.
    fn failed_for_some(&self, claim: &Claim) -> Option<Judgement> {
        let count = claim.count.filter(|_| self.anything.is_empty())?;
        let family = self
            .actions
            .iter()
            .filter(|action| self.kinship(action, claim) >= Some(Kinship::Family));
        let (mut succeeded, mut failed) = (0, Vec::new());
        for action in family {
            succeeded += action.succeeded.len();
            if claim.object.iter().any(|noun| noun == self.head(action)) {
                failed.extend(&action.failed);
            }
            let mut done = action.succeeded.iter();
            if done.any(|call| has_list_of_several(&self.steps[*call].input)) {
                return None;
            }
        }
        let call = *failed.iter().min()?;
        let is_batch = succeeded > 0 && succeeded < count && succeeded + failed.len() >= count;
        is_batch.then(|| {
            let failure = self.call(call);
            Judgement::failed(
                call,
                format!("{failure} failed, and only {succeeded} of {count} succeeded"),
            )
        })
    }

    /// "I closed all issues", and the last such call failed. The failure may not matter, for example
    /// if that issue was closed before, so the claim is not refuted.
    fn in_doubt_of_all(&self, claim: &Claim) -> Option<Judgement> {
        if !claim.is_of_all {
            return None;
        }
        let of_family = || {
            self.actions
                .iter()
                .filter(|action| self.kinship(action, claim) >= Some(Kinship::Family))
        };
        let last_success = of_family()
            .filter_map(|action| action.succeeded.last())
            .max()?;
        // "Each of the issues" names the issues around it.
        let named = || claim.object.iter().chain(&claim.around);
        let is_of_object = |action: &&Action| named().any(|noun| noun == self.head(action));
        let call = of_family()
            .filter(is_of_object)
            .filter_map(|action| action.failed.last().copied())
            .max()?;
        (call > *last_success).then(|| Judgement {
            verdict: ClaimVerdict::Unverified,
            because: format!("{} failed, and the message claims all", self.call(call)),
            call: Some(call),
        })
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
        } else if id.is_decisive() && supporters.iter().any(|action| self.has_arguments(action)) {
            Carrier::Unclear
        } else {
            Carrier::Did(supporters[0].succeeded[0])
        }
    }

    /// Returns true if the recording has the tool's arguments.
    fn has_arguments(&self, action: &Action) -> bool {
        let has_arguments = |call: &usize| self.steps[*call].input.len() > "{}".len();
        action.succeeded.iter().any(has_arguments)
    }

    /// Judges a claim whose action matches no tool, in a run that changed something.
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
        if claim.is_passive && may_be_done_by_server(claim) {
            return self.unverified(done[0].succeeded[0]);
        }
        if let Some(action) = done.iter().find(|action| self.could_have(action, claim)) {
            return self.unverified(action.succeeded[0]);
        }
        if let Some(call) = self.first_attempt(claim) {
            return Judgement::failed(call, format!("{} failed", self.call(call)));
        }
        let named: Vec<String> = done
            .iter()
            .map(|action| self.call(action.succeeded[0]))
            .take(MOST_NAMED)
            .collect();
        let named = named.join(", ");
        Judgement::absent(format!(
            "every successful write does something else ({named})"
        ))
    }

    /// The failed sharing call of "I shared it".
    fn first_attempt(&self, claim: &Claim) -> Option<usize> {
        self.actions
            .iter()
            .filter(|action| self.kinship(action, claim) >= Some(Kinship::Close))
            .filter_map(|action| action.failed.first().copied())
            .min()
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

    /// The read that may have returned the reported facts.
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

/// Returns true if a JSON text contains a list with two or more items.
fn has_list_of_several(json: &str) -> bool {
    let mut open = Vec::new();
    let mut is_text = false;
    let mut bytes = json.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' if is_text => {
                bytes.next();
            }
            b'"' => is_text = !is_text,
            _ if is_text => {}
            b'[' | b'{' => open.push(byte),
            b']' | b'}' => {
                open.pop();
            }
            b',' if open.last() == Some(&b'[') => return true,
            _ => {}
        }
    }
    false
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

/// The first words of tools' names without a known verb: verbs that only these tools use.
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

/// A verb that reports an action only of its tool's object: with `confirm_booking`, "I confirmed
/// your booking" is a claim, but "I confirmed the price" is not.
#[derive(Debug)]
pub(super) struct VerbOfTool {
    pub(super) verb: String,
    /// The thing, in compared form.
    object: String,
}

impl VerbOfTool {
    /// Returns true if the claim is about the thing.
    pub(super) fn is_claimed(&self, claim: &Claim) -> bool {
        self.verb == claim.verb && claim.object.contains(&self.object)
    }
}

/// The verbs of tools that have a family but make no claim on their own. An agent also reviews what
/// it reads.
pub(super) fn verbs_of_tools<'n>(
    names: impl Iterator<Item = &'n str>,
    vocabulary: &Vocabulary,
) -> Vec<VerbOfTool> {
    let is_ambiguous = |verb: &str| {
        !vocabulary.is_base(verb)
            && LEXICON.families(verb) != 0
            && !traits(verb).has(Traits::READ)
            && verb != "review"
    };
    let verb_of = |name: &str| {
        let verb = super::token::name_parts(name).into_iter().next()?;
        let object = ToolName::new(name, vocabulary).head?;
        is_ambiguous(&verb).then_some(VerbOfTool { verb, object })
    };
    names.filter_map(verb_of).collect()
}

/// The similarity between the verb of a tool with this object and the verb of a claim.
fn kinship_of_verbs(own: &str, said: &str, head: &str) -> Option<Kinship> {
    if own == said {
        return Some(Kinship::Same);
    }
    if LEXICON.close(own, said) {
        return Some(Kinship::Close);
    }
    if LEXICON.related(own, said) {
        return Some(Kinship::Family);
    }
    let object = traits(head);
    let is_content = head.is_empty() || object.has(Traits::CARRIER);
    let is_neighbour = LEXICON.neighbours(own, said)
        || (is_content && LEXICON.is_content(own) && LEXICON.is_content(said))
        || (object.has(Traits::MONEY) && traits(said).has(Traits::MONEY_VERB))
        || (object.has(Traits::MESSAGE) && LEXICON.related(said, "send"));
    is_neighbour.then_some(Kinship::Neighbour)
}

/// The identifier that no call was about: each call has a different one, or another identifier of
/// the claim was found. If one of "issues 1, 2 and 3" was found, the others would be too.
fn id_of_another<'c>(carriers: &[(&'c Identifier, Carrier)]) -> Option<&'c Identifier> {
    let mut found = Kinds::default();
    for (id, carrier) in carriers {
        if carrier.did().is_some() {
            found.add(id.kind);
        }
    }
    let other = carriers
        .iter()
        .find(|(_, carrier)| *carrier == Carrier::Other);
    let missing = || {
        carriers.iter().find(|(id, carrier)| {
            *carrier == Carrier::Unclear && id.is_decisive() && found.has(id.kind)
        })
    };
    other.or_else(missing).map(|(id, _)| *id)
}

/// Returns true if servers often do this on their own, such as sending notices or paying back.
fn may_be_done_by_server(claim: &Claim) -> bool {
    let verbs = || std::iter::once(claim.verb.as_str()).chain(claim.nominal);
    let is_paid = verbs().any(|verb| {
        ["pay", "refund"]
            .iter()
            .any(|payment| LEXICON.related(verb, payment))
    });
    is_paid || LEXICON.related(&claim.verb, "send")
}
