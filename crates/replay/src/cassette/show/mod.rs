//! What happened in these runs, for a person to read?

mod order;
mod prose;

use super::fingerprint::is_tampered;
use super::parse::{Cassette, CassetteRun, Stopped};
use mcptest_core::escape::{clipped, escape as visible};
use mcptest_core::trace::{
    CallResult, CatalogueTool, FaultEvent, Header, Tokens, Trace, Turn, full_name,
};
use order::Step;
pub(crate) use prose::of_content as prose_of_content;
use std::fmt::Write;

/// Limits on the shown part of a cassette.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// Only the run with this number.
    pub run: Option<usize>,
    /// Show long texts in full.
    pub full: bool,
    /// Use colour.
    pub colour: bool,
}

const CLIP: usize = 100;
const LABEL: usize = 11;

/// The header and each run as a timeline; whatever the model wrote cannot steer the terminal.
pub fn timeline(cassette: &Cassette<'_>, options: Options) -> String {
    let mut page = Page::new(options.full, options.colour);
    page.header(cassette);
    let is_shown = |run: &&CassetteRun<'_>| options.run.is_none_or(|number| run.number == number);
    for run in cassette.runs.iter().filter(is_shown) {
        page.run(run);
    }
    if let Some(number) = options
        .run
        .filter(|number| !cassette.runs.iter().any(|run| run.number == *number))
    {
        let _ = writeln!(page.text, "\nThis cassette has no run {number}.");
    }
    page.text
}

/// The lines of a timeline; no text in them can steer the terminal.
pub(crate) struct Page {
    text: String,
    is_full: bool,
    colour: bool,
}

/// The style of a line's label, with the colours of a run's report.
#[derive(Clone, Copy)]
pub(crate) enum Look {
    /// An event.
    Plain,
    /// An explanation.
    Dim,
    /// A key fact.
    Bold,
    /// A failure.
    Bad,
}

impl Page {
    /// An empty page.
    pub(crate) fn new(is_full: bool, colour: bool) -> Self {
        Self {
            text: String::new(),
            is_full,
            colour,
        }
    }

    /// The text of the page.
    pub(crate) fn into_text(self) -> String {
        self.text
    }

    /// An empty line.
    pub(crate) fn blank(&mut self) {
        self.text.push('\n');
    }

    fn header(&mut self, cassette: &Cassette<'_>) {
        if let Some(header) = &cassette.header {
            self.recorded_with(header);
        }
        let pinned = cassette
            .header
            .as_ref()
            .and_then(|header| header.fingerprint.as_deref());
        self.labelled(
            "",
            "fingerprint",
            pinned.unwrap_or("unpinned: not checked for changes of the suite"),
        );
        if cassette.header.as_ref().is_some_and(is_tampered) {
            self.labelled("", "", "this header was changed after the recording");
        }
        let (whole, lines) = (cassette.whole_runs(), cassette.runs.len());
        let broken = match lines - whole {
            0 => String::new(),
            1 => ", and an unreadable line".to_owned(),
            broken => format!(", and {broken} unreadable lines"),
        };
        self.labelled("", "runs", &format!("{whole}{broken}"));
        if let Some(Stopped { after, of }) = cassette.stopped {
            self.labelled(
                "",
                "stopped",
                &format!("after {after} of {of} runs: the verdict was decided"),
            );
        }
    }

    fn recorded_with(&mut self, header: &Header) {
        self.labelled("", "agent", &header.agent);
        self.labelled(
            "",
            "model",
            header.model.as_deref().unwrap_or("not recorded"),
        );
        for prompt in &header.prompt {
            self.labelled("", "prompt", prompt);
        }
        if let Some(system_prompt) = &header.system_prompt {
            self.labelled("", "system", system_prompt);
        }
        let parameters: Vec<_> = header
            .parameters
            .iter()
            .map(|(key, value)| format!("{key} {value}"))
            .collect();
        if !parameters.is_empty() {
            self.labelled("", "parameters", &parameters.join(", "));
        }
        if let Some(tools) = &header.catalogue {
            self.tools(tools);
        }
        for (tool, why) in &header.left_out {
            self.labelled("", "skipped", &format!("{tool}: {why}"));
        }
        for (server, text) in header.instructions.iter().flatten() {
            self.labelled("", "instructed", &format!("{server}: {text}"));
        }
    }

    fn tools(&mut self, tools: &[CatalogueTool]) {
        let names: Vec<_> = tools
            .iter()
            .map(|tool| full_name(tool.server.as_deref(), &tool.name))
            .collect();
        let listed = format!("{}: {}", names.len(), names.join(", "));
        self.labelled("", "tools", &listed);
        for (tool, name) in tools.iter().zip(&names) {
            for mend in &tool.mended {
                self.labelled("", "mended", &format!("{name}: {mend}"));
            }
        }
    }

    fn run(&mut self, run: &CassetteRun<'_>) {
        self.blank();
        match &run.trace {
            Ok(trace) => {
                self.line(Look::Bold, &format!("run {}", run.number), "");
                self.trace(trace);
            }
            Err(problem) => {
                let _ = writeln!(self.text, "line {}\n  unreadable  {problem}", run.line);
            }
        }
    }

    fn trace(&mut self, trace: &Trace<'_>) {
        if let Some(trace_id) = &trace.trace_id {
            self.labelled("  ", "trace", trace_id);
        }
        let results = order::results_by_call(trace);
        for step in order::steps(trace) {
            match step {
                Step::Turn(turn) if self.is_repeated(turn, trace) || is_empty(turn) => {}
                Step::Turn(turn) => {
                    self.labelled("  ", &turn.role, &prose::of_content(turn.content));
                }
                Step::Call(index) => self.call(trace, index, &results[index]),
            }
        }
        if let Some(response) = &trace.final_response
            && (self.is_full || !closes_with(trace, response))
        {
            self.labelled("  ", "final", response);
        }
        for call in &trace.unmade_calls {
            let name = full_name(call.server.as_deref(), &call.name);
            self.labelled("  ", "not made", &name);
        }
        for error in &trace.errors {
            self.labelled("  ", "error", &prose::of_content(Some(error)));
        }
        for delegation in trace.delegations.iter().flatten() {
            self.labelled(
                "  ",
                "hand-off",
                &format!("{} → {}", delegation.from, delegation.to),
            );
        }
        if let Some(stop_reason) = &trace.stop_reason {
            self.labelled("  ", "stop", stop_reason);
        }
        self.totals(trace);
    }

    /// Returns true for a tool's message that repeats the result beside its call.
    fn is_repeated(&self, turn: &Turn<'_>, trace: &Trace<'_>) -> bool {
        !self.is_full && turn.role == "tool" && !trace.tool_results.is_empty()
    }

    fn call(&mut self, trace: &Trace<'_>, index: usize, results: &[&CallResult<'_>]) {
        let call = &trace.tool_calls[index];
        let arguments = match (call.args, &call.args_text) {
            (Some(args), _) => args.get().to_owned(),
            (None, Some(text)) => format!("(not JSON) {text}"),
            (None, None) => String::new(),
        };
        let mark = if call.distractor { " (distractor)" } else { "" };
        let caller = call
            .sub_agent()
            .map(|agent| format!(" (by {})", clipped(&agent, CLIP)))
            .unwrap_or_default();
        let name = full_name(call.server.as_deref(), &call.name);
        self.line(
            Look::Bold,
            &format!("  → {} {}{caller}{mark}", index + 1, clipped(&name, CLIP)),
            &arguments,
        );
        for fault in trace
            .faults
            .iter()
            .flatten()
            .filter(|fault| fault.call_index == index)
        {
            self.line(Look::Bad, "  !", &fault_line(fault));
        }
        for result in results {
            let look = if result.is_failure() {
                Look::Bad
            } else {
                Look::Plain
            };
            self.line(look, "  ←", &result_line(result));
        }
    }

    fn totals(&mut self, trace: &Trace<'_>) {
        let Tokens {
            prompt,
            completion,
            total,
            cache_read,
            cache_write,
            reasoning,
            ..
        } = trace.conversation.tokens;
        let counts = [
            ("prompt", prompt),
            ("from a cache", cache_read.filter(|count| *count > 0)),
            ("to a cache", cache_write.filter(|count| *count > 0)),
            ("completion", completion),
            ("thoughts", reasoning.filter(|count| *count > 0)),
            ("total", total),
        ];
        let mut parts: Vec<_> = counts
            .iter()
            .filter_map(|(name, count)| count.map(|count| format!("{count} {name}")))
            .collect();
        parts.extend(trace.conversation.cost_usd.map(|cost| format!("${cost}")));
        if !parts.is_empty() {
            self.labelled("  ", "tokens", &parts.join(", "));
        }
        if let Some(duration_ms) = trace.conversation.duration_ms {
            self.labelled("  ", "duration", &format!("{duration_ms} ms"));
        }
    }

    /// A line with a label before the text.
    pub(crate) fn labelled(&mut self, indent: &str, label: &str, text: &str) {
        let label = clipped(label, LABEL);
        self.line(Look::Dim, &format!("{indent}{label:LABEL$}"), text);
    }

    /// One line with the text shortened; or all lines of the full text, each behind a bar, so that
    /// no line of the text begins a line of the page.
    pub(crate) fn line(&mut self, look: Look, lead: &str, text: &str) {
        let text = text.trim_end();
        let head = self.painted(look, &visible(lead));
        if !self.is_full {
            let _ = writeln!(
                self.text,
                "{}",
                format!("{head} {}", clipped(text, CLIP)).trim_end()
            );
            return;
        }
        let gap = " ".repeat(lead.chars().count().saturating_sub(1)) + "|";
        let mut head = head;
        for line in text.split('\n') {
            let _ = writeln!(
                self.text,
                "{}",
                format!("{head} {}", visible(line)).trim_end()
            );
            head.clone_from(&gap);
        }
    }

    fn painted(&self, look: Look, text: &str) -> String {
        let code = match look {
            Look::Plain => return text.to_owned(),
            Look::Dim => "2",
            Look::Bold => "1",
            Look::Bad => "1;31",
        };
        if self.colour {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }
}

/// Returns true for a message without text, such as a message that only makes calls.
fn is_empty(turn: &Turn<'_>) -> bool {
    prose::of_content(turn.content).trim().is_empty()
}

/// Returns true if the last message is the assistant's and says this.
fn closes_with(trace: &Trace<'_>, response: &str) -> bool {
    trace.conversation.turns.last().is_some_and(|turn| {
        turn.role == "assistant" && prose::of_content(turn.content).trim() == response.trim()
    })
}

fn fault_line(fault: &FaultEvent<'_>) -> String {
    let cost = fault
        .virtual_ms
        .map_or_else(String::new, |cost| format!(", {cost} ms"));
    let told = if fault.detected { "" } else { ", not detected" };
    format!("fault {} ({}{cost}{told})", fault.name, fault.kind)
}

fn result_line(result: &CallResult<'_>) -> String {
    if let Some(error) = &result.error {
        let code = error
            .code
            .map_or_else(String::new, |code| format!(" {code}"));
        return format!(
            "protocol error{code} {}",
            error.message.as_deref().unwrap_or_default()
        );
    }
    let status = if result.is_error { "error" } else { "ok" };
    match (result.content, result.structured) {
        (None, None) => status.to_owned(),
        (None, Some(structured)) => format!("{status} {}", structured.get()),
        (content, _) => format!("{status} {}", prose::of_content(content)),
    }
}

#[cfg(test)]
mod tests;
