//! What does a gate's block in a suite require, and do the runs meet it?

use super::accept::Proposal;
use super::assertion::Assertion;
use super::facts::{AgentFacts, why_doubtful, why_nothing_matches};
use super::gate::{Gate, GateKind, GateTrait, ReadNamed};
use super::outlook::Outlook;
use super::recording::Recording;
use super::scores::{Said, Scores};
use super::target::Target;
use crate::grade::Question;
use crate::problem::{Level, Problem, Sources, Span};
use crate::report::{Expectation, Finding, GateReport, Remark, Status};
use crate::row::AgentRow;
use crate::suite::read::Block;
use crate::suite::{Agent, Variant};
use crate::trace::Run;
use std::path::Path;

/// A gate's block in a suite, ready to judge.
pub struct GateBlock {
    /// Its entry in the registry.
    pub(crate) kind: &'static GateKind,
    pub(crate) gate: Box<dyn Gate>,
    variants: Vec<(Variant, Box<dyn Gate>)>,
    /// The tools that it names, each with its place.
    named: Vec<(String, Span)>,
    /// The servers of its agent.
    servers: Vec<String>,
    pub(crate) expect: Vec<Assertion<Target>>,
    /// The assertions on each run if `expect:` has none: the default gate.
    pub(crate) of_each_run: Vec<Assertion<Target>>,
    /// The required share of runs, if the suite does not require all of them.
    pub(crate) min_pass_rate: Option<Assertion<Target>>,
    key_span: Span,
    /// The line of the suite that the block begins on, known once the suite is complete.
    suite_line: Option<usize>,
    /// A digest of the block in the suite.
    pub(crate) digest: String,
}

impl std::fmt::Debug for GateBlock {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "GateBlock({})", self.key())
    }
}

impl GateBlock {
    pub(crate) fn read(
        kind: &'static GateKind,
        block: &mut Block<'_>,
        digest: String,
        key_span: Span,
    ) -> Self {
        let (gate, named) = block.with_tools(kind.read);
        let written = read_expect(kind, block);
        let beside = gate.expect_beside(written.is_some());
        let expect: Vec<_> = written
            .unwrap_or_else(|| kind.default_expect().collect())
            .into_iter()
            .chain(beside.into_iter().map(Assertion::bound))
            .collect();
        let of_each_run = default_of_each_run(kind, &*gate, &expect);
        let min_pass_rate = kind.read_min_pass_rate(block);
        let digest = Self::digest_with_agent(kind, block, digest);
        let servers = block.sibling("servers", |field| field.list(|item| item.string()));
        let variants = gate.recording().variants;
        Self {
            kind,
            gate,
            variants,
            named,
            servers: servers.unwrap_or_default(),
            expect,
            of_each_run,
            min_pass_rate,
            key_span,
            suite_line: None,
            digest,
        }
    }

    /// Looks up the lines that the block and its assertions are written on.
    pub(crate) fn find_lines(&mut self, sources: &Sources) {
        let is_written = self.key_span != Span::default();
        self.suite_line = is_written.then(|| sources.file_and_line(self.key_span).line);
        let written = self.expect.iter_mut().chain(&mut self.min_pass_rate);
        written.for_each(|assertion| assertion.find_line(sources));
    }

    /// The block's key.
    pub fn key(&self) -> &'static str {
        self.kind.key
    }

    /// The block's question to judges about every run.
    pub fn question(&self) -> Option<&Question> {
        self.gate.question()
    }

    /// The digest of the block in the suite.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// The numbers that the gate measures.
    pub fn targets(&self) -> &'static [Target] {
        self.kind.targets
    }

    /// Returns true if judges decide the gate.
    pub(crate) fn is_graded(&self) -> bool {
        self.question().is_some_and(|question| !question.is_advice)
    }

    /// Returns true if the gate has this trait.
    pub fn is(&self, one: GateTrait) -> bool {
        self.kind.is(one)
    }

    /// Returns true if the gate compares the runs of a row, so that a single run has no result.
    pub fn compares_runs(&self) -> bool {
        self.is(GateTrait::ComparesRuns)
    }

    /// Returns true if the block can name files.
    pub(crate) fn reads_files(&self) -> bool {
        self.is(GateTrait::ComparesWithBaseline) || self.is(GateTrait::ReadsFiles)
    }

    /// Reads the files that the block names.
    pub(crate) fn read_files(
        &mut self,
        agent: &Agent,
        suite: &Path,
        read: ReadNamed<'_>,
    ) -> Option<Problem> {
        self.gate.read_files(agent, suite, read)
    }

    /// Returns true if the gate judges runs that are recorded only for it.
    pub fn judges_side_runs(&self) -> bool {
        self.kind.side_words().is_some()
    }

    /// The variants that the block needs, each a separate row.
    pub fn variants(&self) -> impl Iterator<Item = Variant> {
        self.variants.iter().map(|(variant, _)| *variant)
    }

    /// The block's requests for recording.
    pub(crate) fn recording(&self, variant: Option<Variant>) -> Recording<'_> {
        self.gate_for(variant).recording()
    }

    /// The gate of a variant.
    pub(crate) fn gate_for(&self, variant: Option<Variant>) -> &dyn Gate {
        let own = self
            .variants
            .iter()
            .find(|(known, _)| Some(*known) == variant);
        own.map_or(&*self.gate, |(_, gate)| &**gate)
    }

    /// The problems that are visible at load time.
    pub(crate) fn lint(&self, agent: &AgentFacts<'_>) -> Vec<Problem> {
        let facts = AgentFacts {
            key_span: self.key_span,
            named: &self.named,
            expect: &self.expect,
            ..*agent
        };
        let written = facts.written().chain(&self.min_pass_rate);
        let written = written.filter_map(|assertion| assertion.lint(agent.runs));
        written.chain(self.gate.lint(&facts)).collect()
    }

    /// Returns true if any runs could make the gate fail.
    pub(crate) fn can_fail(&self) -> bool {
        self.is(GateTrait::CanBeRefuted) || !self.expect.is_empty()
    }

    /// The verdict over `of` runs that begin with these, if the other runs cannot change it.
    pub(crate) fn outlook(&self, runs: &[Run<'_>], of: usize) -> Option<bool> {
        let scores = self.gate.score(runs);
        let outlook = |target: &Target| {
            if target.is_pass_rate {
                let passed = runs.len() - self.failed_runs(&*self.gate, runs, &scores).len();
                Outlook::from_good_runs(target, passed, runs.len(), of)
            } else {
                self.gate.outlook(target, &scores, runs, of)
            }
        };
        let decided: Vec<Option<bool>> = self
            .asserted()
            .map(|assertion| assertion.decided(&outlook(&assertion.target)))
            .collect();
        if scores.is_refuted || decided.contains(&Some(false)) {
            return Some(false);
        }
        (!self.is(GateTrait::CanBeRefuted) && decided.iter().all(|decided| *decided == Some(true)))
            .then_some(true)
    }

    /// Scores the runs and checks the numbers against the block's expectations.
    pub fn judge(&self, row_name: &str, runs: &[Run<'_>]) -> GateReport {
        self.judge_variant(None, row_name, runs)
    }

    /// Judges the runs of one variant.
    pub fn judge_variant(
        &self,
        variant: Option<Variant>,
        row_name: &str,
        runs: &[Run<'_>],
    ) -> GateReport {
        self.report(variant, row_name, runs, self.gate_for(variant).score(runs))
    }

    /// Judges the runs of a row, with its other gates.
    pub(crate) fn judge_beside(
        &self,
        row: AgentRow<'_>,
        row_name: &str,
        runs: &[Run<'_>],
    ) -> GateReport {
        let scores = self.gate_for(row.variant).score_beside(runs, row);
        self.report(row.variant, row_name, runs, scores)
    }

    /// Judges runs that were made only for the gate.
    pub(crate) fn judge_side(
        &self,
        variant: Option<Variant>,
        row_name: &str,
        ordinary: &[Run<'_>],
        side: &[Run<'_>],
    ) -> GateReport {
        self.report(
            variant,
            row_name,
            side,
            self.gate_for(variant).score_side(ordinary, side),
        )
    }

    /// The change to the block that makes these runs pass. `None` if the block contains no key that runs could
    /// update.
    pub fn propose(&self, row: AgentRow<'_>, runs: &[Run<'_>]) -> Option<Proposal> {
        self.gate_for(row.variant).propose(runs, row)
    }

    /// Why labels of runs cannot measure the gate.
    pub fn why_not_calibrated(&self) -> Option<&'static str> {
        if self.is(GateTrait::DecidesRuns) {
            Some("it counts passed runs, which the labels already give")
        } else if self.is(GateTrait::ComparesWithBaseline) {
            Some("it compares the runs with a baseline's runs")
        } else if self.judges_side_runs() {
            Some("it judges its own extra runs, which have no labels")
        } else {
            None
        }
    }

    /// Returns true if a single run can pass or fail the assertions.
    pub fn judges_one_run(&self) -> bool {
        let is_refused = |problem: Problem| problem.level == Level::Error;
        self.can_fail()
            && !self
                .asserted()
                .any(|assertion| assertion.lint(1).is_some_and(is_refused))
    }

    /// Why the gate cannot judge a run that stands alone, as a clause: `it compares the runs of a test`.
    pub fn why_not_alone(&self) -> Option<&'static str> {
        if self.compares_runs() {
            Some("it compares the runs of a test")
        } else if self.is(GateTrait::DecidesRuns) {
            Some("it counts the runs of a test")
        } else if self.is(GateTrait::ComparesWithBaseline) {
            Some("it compares the runs of a test with a baseline")
        } else if self.min_pass_rate.is_some() {
            Some("its `min_pass_rate:` is a share of the runs of a test")
        } else if self.can_fail() && !self.judges_one_run() {
            Some("no single run can meet its `expect:`")
        } else {
            None
        }
    }

    fn report(
        &self,
        variant: Option<Variant>,
        row_name: &str,
        runs: &[Run<'_>],
        mut scores: Scores,
    ) -> GateReport {
        let gate = self.gate_for(variant);
        let failed_runs = self.set_pass_rate(gate, runs, &mut scores);
        for target in self.kind.targets {
            scores.values.entry(target.name).or_insert(None);
        }
        let expectations = self.check(&scores);
        let passed =
            !scores.is_refuted && expectations.iter().all(|expectation| expectation.passed);
        lead_with_failed(&mut scores.findings, &expectations);
        let remarks = self.remarks(&mut scores);
        let line = gate.line(row_name, &scores);
        GateReport {
            key: self.key().to_owned(),
            status: if scores.is_ungraded {
                Status::Error
            } else if passed {
                Status::Passed
            } else {
                Status::Failed
            },
            summary: scores.summary.clone().filter(|_| line.is_none()),
            line,
            not_exercised: self.why_not_exercised(gate, runs, &scores),
            scored_runs: None,
            failed_runs,
            targets: scores
                .values
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect(),
            expectations,
            explanation: scores.findings,
            remarks,
            tables: scores.tables,
            grades: scores.grades,
            evidence: None,
            suite_line: self.suite_line.filter(|_| !passed),
        }
    }

    /// Checks the numbers against everything that the block asserts.
    fn check(&self, scores: &Scores) -> Vec<Expectation> {
        let mut expectations: Vec<Expectation> = self
            .asserted()
            .map(|assertion| assertion.check(scores.value(assertion.target.name)))
            .collect();
        // Reports of thousands of rows are in memory at once.
        expectations.shrink_to_fit();
        expectations
    }

    /// The reason that the verdict proves nothing: nothing was measured, nothing counted for an
    /// asserted number, or the runs lack the tools of the block.
    fn why_not_exercised(
        &self,
        gate: &dyn Gate,
        runs: &[Run<'_>],
        scores: &Scores,
    ) -> Option<String> {
        let nothing_counted = || {
            self.asserted()
                .find_map(|assertion| scores.why_vacuous(assertion.target.name))
        };
        let unmatched = || why_nothing_matches(&gate.tool_names(&self.named), runs, &self.servers);
        let doubtful = || why_doubtful(&gate.tool_names(&self.named), runs, &self.servers);
        scores
            .not_exercised
            .clone()
            .or_else(nothing_counted)
            .or_else(unmatched)
            .or_else(doubtful)
    }

    /// The remarks of the row, independent of the verdict. A partial result needs no remark if the suite asserts how
    /// large it must be.
    fn remarks(&self, scores: &mut Scores) -> Vec<Remark> {
        let is_asserted = |target: &str| self.asserted().any(|one| one.target.name == target);
        let remarks = std::mem::take(&mut scores.remarks).into_iter();
        let remark = |said: Said| Remark {
            is_partial: said.remark.is_partial && !is_asserted(said.about),
            ..said.remark
        };
        remarks.map(remark).collect()
    }
}

/// The assertions of `expect:`, if the block has one.
fn read_expect(kind: &GateKind, block: &mut Block<'_>) -> Option<Vec<Assertion<Target>>> {
    if kind.targets.is_empty() {
        return None;
    }
    let written = block.optional(
        "expect",
        "Assertions on the gate's targets [default: the default gate]",
        |field| Assertion::<Target>::read_list(field, kind.targets),
    );
    if written.as_ref().is_some_and(Vec::is_empty) && !block.is_describing() {
        let problem = Problem::error("an empty `expect:` asserts nothing");
        block.report_at(
            "expect",
            problem.help("remove it for the default gate, or name a target"),
        );
    }
    written
}

/// The default assertions on each run; none if `expect:` has an assertion on each run.
fn default_of_each_run(
    kind: &GateKind,
    gate: &dyn Gate,
    expect: &[Assertion<Target>],
) -> Vec<Assertion<Target>> {
    let is_asked = |one: &Assertion<Target>| kind.asks_of_each_run(&one.target);
    if expect.iter().any(is_asked) {
        return Vec::new();
    }
    let beside = gate.expect_beside(false).into_iter().map(Assertion::bound);
    kind.default_expect()
        .chain(beside)
        .filter(is_asked)
        .collect()
}

/// Moves findings about a failed expectation to the front; they name its target. Otherwise keeps
/// their order.
fn lead_with_failed(findings: &mut [Finding], expectations: &[Expectation]) {
    let has_failed = |target: &String| {
        expectations
            .iter()
            .any(|one| !one.passed && one.target == *target)
    };
    for finding in &mut *findings {
        finding.targets.retain(has_failed);
    }
    findings.sort_by_key(|finding| finding.targets.is_empty());
}
