//! How did all calls of all runs do on each axis?

use super::catalogue::{Catalogue, Standing};
use super::{DISCOVERY, EFFICIENCY, ERROR_RECOVERY, PARAMETERIZATION, SYNTAX};
use crate::classes::{Class, Discovery, Members};
use crate::engine::target::Target;
use crate::hashed::{HashMap, HashSet};
use crate::json;
use crate::report::Finding;
use crate::trace::{Call, CallResult, Header, Run, Tool};
use std::collections::BTreeSet;

const MOST_FINDINGS: usize = 20;

/// The share of good items among the counted ones.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct AxisShare {
    pub(super) good: usize,
    pub(super) all: usize,
}

impl AxisShare {
    fn count(&mut self, is_good: bool) {
        self.good += usize::from(is_good);
        self.all += 1;
    }

    /// The percentage, rounded down; 100 if nothing was counted.
    pub(super) fn percent(self) -> usize {
        (100 * self.good).checked_div(self.all).unwrap_or(100)
    }
}

/// The five axes over all runs.
#[derive(Debug, Default)]
pub(super) struct Axes {
    pub(super) discovery: AxisShare,
    pub(super) parameterization: AxisShare,
    pub(super) syntax: AxisShare,
    pub(super) error_recovery: AxisShare,
    pub(super) efficiency: AxisShare,
    pub(super) findings: Vec<Finding>,
}

impl Axes {
    pub(super) fn over(classes: &[Class], runs: &[Run<'_>]) -> Self {
        let mut axes = Self::default();
        let mut catalogues: HashMap<*const Header, Option<Catalogue<'_>>> = HashMap::default();
        let members = Members::new(classes);
        for run in runs {
            let mut none = None;
            let catalogue = match run.header {
                Some(header) => catalogues
                    .entry(std::ptr::from_ref(header))
                    .or_insert_with(|| header.catalogue.as_deref().map(Catalogue::new)),
                None => &mut none,
            };
            let walk = AxesWalk {
                run: run.number,
                calls: &run.trace.tool_calls,
                results: run.trace.results_by_call(),
            };
            axes.arguments(&walk, catalogue.as_mut());
            let classes_of = walk.classes_of(&members);
            axes.recoveries(&walk, &classes_of, classes.len());
            axes.repeats(&walk);
        }
        let discovery = Discovery::over(classes, runs);
        axes.discovery = AxisShare {
            good: discovery.reached,
            all: discovery.declared,
        };
        let missed = discovery.missed.into_iter();
        axes.findings
            .extend(missed.map(|missed| Finding::new(None, missed).about(&[DISCOVERY])));
        axes
    }

    /// Parameterization and syntax: does each call name an existing tool, with arguments that fit?
    fn arguments(&mut self, walk: &AxesWalk<'_>, mut catalogue: Option<&mut Catalogue<'_>>) {
        for (at, call) in walk.calls.iter().enumerate() {
            let standing = catalogue
                .as_mut()
                .map(|catalogue| catalogue.standing_of(call));
            let fault = if standing == Some(Standing::Unknown) {
                Some("names no tool of the catalogue".to_owned())
            } else if !has_object(call) {
                Some("has arguments that are not a JSON object".to_owned())
            } else {
                let code = walk.results[at].and_then(|result| result.error.as_ref()?.code);
                let code = code.filter(|code| (-32602..=-32600).contains(code));
                code.map(|code| format!("was refused by the protocol with {code}"))
            };
            self.syntax.count(fault.is_none());
            if let Some(Standing::Checked(fits)) = standing {
                self.parameterization.count(fits);
                if !fits && fault.is_none() {
                    let message = format!(
                        "{} has arguments that do not fit its schema",
                        walk.called(at)
                    );
                    let found = self.find(walk, PARAMETERIZATION, message);
                    if let (Some(found), Some(catalogue)) = (found, catalogue.as_mut()) {
                        found.diff = catalogue.differences(call);
                    }
                }
            }
            if let Some(fault) = fault {
                self.find(walk, SYNTAX, format!("{} {fault}", walk.called(at)));
            }
        }
    }

    /// Error recovery: from the last call to the first, the tools and classes that succeed later.
    fn recoveries(
        &mut self,
        walk: &AxesWalk<'_>,
        classes_of: &HashMap<Tool<'_>, BTreeSet<usize>>,
        classes: usize,
    ) {
        let mut later_tools: HashSet<Tool<'_>> = HashSet::default();
        let mut later_classes = vec![false; classes];
        let mut given_up = Vec::new();
        for (at, call) in walk.calls.iter().enumerate().rev() {
            let own_classes = || classes_of.get(&Tool::from(call)).into_iter().flatten();
            match walk.results[at].map(CallResult::is_failure) {
                Some(true) => {
                    let recovers = later_tools.contains(&Tool::from(call))
                        || own_classes().any(|&class| later_classes[class]);
                    self.error_recovery.count(recovers);
                    given_up.extend((!recovers).then_some(at));
                }
                Some(false) => {
                    later_tools.insert(Tool::from(call));
                    for &class in own_classes() {
                        later_classes[class] = true;
                    }
                }
                None => {}
            }
        }
        for at in given_up.into_iter().rev() {
            let message = format!(
                "{} failed, and no later call of its kind succeeded",
                walk.called(at)
            );
            self.find(walk, ERROR_RECOVERY, message);
        }
    }

    /// Efficiency: an equal call in the same run counts once.
    fn repeats(&mut self, walk: &AxesWalk<'_>) {
        let mut first: HashMap<(Tool<'_>, u128), usize> = HashMap::default();
        for (at, call) in walk.calls.iter().enumerate() {
            let written = call.args.map(|args| json::hash(args.get()));
            let text = call.args_text.as_deref().map(json::hash);
            let before = *first
                .entry((Tool::from(call), written.or(text).unwrap_or_default()))
                .or_insert(at);
            self.efficiency.count(before == at);
            if before != at {
                self.find(
                    walk,
                    EFFICIENCY,
                    format!("{} repeats call {}", walk.called(at), before + 1),
                );
            }
        }
    }

    /// The finding, unless the run has enough of its kind.
    fn find(
        &mut self,
        walk: &AxesWalk<'_>,
        about: Target,
        message: String,
    ) -> Option<&mut Finding> {
        let of_run = self
            .findings
            .iter()
            .rev()
            .take_while(|found| found.run == Some(walk.run));
        let alike = of_run.filter(|found| found.targets.iter().any(|target| target == about.name));
        if alike.count() >= MOST_FINDINGS {
            return None;
        }
        self.findings
            .push(Finding::new(Some(walk.run), message).about(&[about]));
        self.findings.last_mut()
    }
}

/// One run on its way through the axes.
struct AxesWalk<'t> {
    run: usize,
    calls: &'t [Call<'t>],
    results: Vec<Option<&'t CallResult<'t>>>,
}

impl<'t> AxesWalk<'t> {
    fn called(&self, at: usize) -> String {
        format!("call {} `{}`", at + 1, self.calls[at].name)
    }

    /// The classes of each distinct tool.
    fn classes_of(&self, members: &Members<'_>) -> HashMap<Tool<'t>, BTreeSet<usize>> {
        let mut found = HashMap::default();
        for tool in self.calls.iter().map(Tool::from) {
            found
                .entry(tool)
                .or_insert_with(|| members.classes_of(tool));
        }
        found
    }
}

/// Returns true if the arguments are an object. Omitted arguments are an empty object.
fn has_object(call: &Call<'_>) -> bool {
    let is_object = call
        .args
        .is_none_or(|args| args.get().trim_start().starts_with('{'));
    is_object && call.args_text.is_none()
}
