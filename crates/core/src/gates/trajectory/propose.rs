//! Which expected calls would make the recorded runs pass?

use super::comparison::Comparison;
use super::recorded::RecordedCall;
use super::reference::{MatchMode, Reference};
use super::shape::{ArgumentShape, Candidate};
use super::verdict::TraceVerdict;
use crate::engine::accept::{ProposedChange, ProposedItem};
use serde_json::{Map, Value, json};
use std::borrow::Cow;

type Calls<'r> = Vec<RecordedCall<'r>>;

/// The calls that all runs make, as a replacement for the expected ones. Expected calls that fit stay unchanged.
pub(super) fn items(
    reference: &Reference,
    runs: &[Calls<'_>],
) -> Result<Option<ProposedChange>, String> {
    let is_right = |calls: &Calls<'_>| {
        TraceVerdict::new(&Comparison::new(reference, calls.clone())).mismatch_count() == 0
    };
    if runs.iter().all(is_right) {
        return Ok(None);
    }
    let runs = in_step(reference.mode, runs)?;
    if runs[0].is_empty() && !reference.mode.forbids_others() {
        return Err("the runs make no calls; an empty list accepts any run".to_owned());
    }
    let mut unused: Vec<bool> = vec![true; reference.calls.len()];
    let positions = 0..runs[0].len();
    let kept: Vec<Option<usize>> = positions
        .clone()
        .map(|at| take(&mut unused, |index| fits_all(reference, index, &runs, at)))
        .collect();
    let mut items = Vec::new();
    for (at, kept) in positions.zip(kept) {
        if let Some(index) = kept {
            items.push(ProposedItem::Kept(index));
            continue;
        }
        let mut changed = None;
        take(&mut unused, |index| {
            changed = same_keys(reference, index, &runs, at);
            changed.is_some()
        });
        items.push(ProposedItem::New(
            changed.map_or_else(|| exact(&runs, at), Ok)?,
        ));
    }
    Ok(Some(ProposedChange::Items(items)))
}

/// The runs with equal tools at every position. An error is the reason why no list of calls can describe them.
fn in_step<'r>(mode: MatchMode, runs: &[Calls<'r>]) -> Result<Vec<Calls<'r>>, String> {
    let tools = |calls: &Calls<'r>| calls.iter().map(|call| call.tool).collect::<Vec<_>>();
    let agree = |runs: &[Calls<'r>]| runs.iter().all(|calls| tools(calls) == tools(&runs[0]));
    let mut runs = runs.to_vec();
    if !agree(&runs) && !matches!(mode, MatchMode::Strict | MatchMode::Subsequence) {
        let key = |call: &RecordedCall<'_>| {
            (
                call.tool.server.map(str::to_owned),
                call.tool.name.to_owned(),
                call.args.hash(),
            )
        };
        for calls in &mut runs {
            calls.sort_by_key(key);
        }
    }
    if agree(&runs) {
        return Ok(runs);
    }
    let other = runs
        .iter()
        .position(|calls| tools(calls) != tools(&runs[0]))
        .unwrap_or_default();
    Err(format!("run 1 and run {} call different tools", other + 1))
}

/// Takes the first unused index that matches.
fn take(unused: &mut [bool], mut is_wanted: impl FnMut(usize) -> bool) -> Option<usize> {
    let index = (0..unused.len()).find(|&index| unused[index] && is_wanted(index))?;
    unused[index] = false;
    Some(index)
}

fn fits_all(reference: &Reference, index: usize, runs: &[Calls<'_>], at: usize) -> bool {
    let expected = &reference.calls[index];
    runs.iter().map(|calls| calls[at]).all(|call| {
        call.tool.is(&expected.name)
            && expected
                .shape
                .fits(&Candidate::new(call.args, call.args.hash()))
    })
}

/// An expected call that compares some of the arguments, with their recorded values. It still compares only these
/// arguments.
fn same_keys(reference: &Reference, index: usize, runs: &[Calls<'_>], at: usize) -> Option<Value> {
    let expected = &reference.calls[index];
    let ArgumentShape::Subset(Value::Object(part)) = &expected.shape else {
        return None;
    };
    let of_call = |call: RecordedCall<'_>| {
        let args = call.args.value()?;
        let member = |key: &String| Some((key.clone(), args.get(key)?.clone()));
        part.keys()
            .map(member)
            .collect::<Option<Map<String, Value>>>()
    };
    let first = of_call(runs[0][at]).filter(|_| runs[0][at].tool.is(&expected.name))?;
    let agree = runs
        .iter()
        .all(|calls| of_call(calls[at]).as_ref() == Some(&first));
    agree.then(|| json!({ "name": expected.name, "args": { "subset": first } }))
}

/// The call with its recorded arguments.
fn exact(runs: &[Calls<'_>], at: usize) -> Result<Value, String> {
    let call = runs[0][at];
    let servers = runs[0].iter().filter_map(|call| call.tool.server);
    let has_several = servers
        .clone()
        .any(|server| Some(server) != servers.clone().next());
    let name = match call.tool.server.filter(|_| has_several) {
        Some(server) => format!("{server}.{}", call.tool.name),
        None => call.tool.name.to_owned(),
    };
    let hash = call.args.hash();
    if hash.is_none() || runs.iter().any(|calls| calls[at].args.hash() != hash) {
        return Err(format!(
            "call {} is to `{name}` with arguments that differ between runs",
            at + 1
        ));
    }
    let args = call.args.value().map(Cow::into_owned).unwrap_or_default();
    Ok(json!({ "name": name, "args": { "exact": args } }))
}
