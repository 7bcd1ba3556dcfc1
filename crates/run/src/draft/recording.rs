//! Which requirements do these recorded runs meet?

use super::calls::{Calls, Gate};
use super::entry::{self, variable_name};
use super::observed::Expectation;
use super::page::count;
use super::{Draft, DraftError, judged, path, tool_recording, why_not, yaml};
use mcptest_core::report::{Status, TestReport};
use mcptest_core::trace::Header;
use mcptest_files as files;
use mcptest_mcp::tape::{self, TapeServer};
use mcptest_replay::cassette::{Cassette, Recording, is_pattern};
use mcptest_replay::tool_test::is_tool_test;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

const SHOWN_RUNS: usize = 10;
const SHOWN_CALLS: usize = 12;

/// Drafts a suite that judges this recording at its path, and passes.
pub fn from_recording(file: &Path, out: &Path, name: Option<&str>) -> Result<Draft, DraftError> {
    if !file.exists() {
        return Err(DraftError::Missing(file.to_owned()));
    }
    if files::identity(file) == files::identity(out) {
        let reason = "the suite would be written over the recording that it judges";
        return Err(DraftError::hopeless(
            out,
            reason,
            "name another file with `-o FILE`",
        ));
    }
    let recording = Recording::open(file)?;
    if is_tool_test(&recording) {
        return tool_recording::draft(file, recording.bytes(), out, name);
    }
    let mut page = AgentPage::from_cassette(file, &recording.cassette()?, out, name)?;
    // The way to the recording leads through this folder.
    super::make_folder(out)?;
    page.is_asked = page.can_ask(out);
    let none = BTreeMap::new();
    loop {
        let text = page.text(out);
        let rows = judged(out, &text, &none, &none)?;
        let Some(failed) = rows.iter().find(|row| why_not(row).is_some()) else {
            return Ok(page.into_draft(out, text));
        };
        if is_error(failed) || !page.weaken(failed) {
            return Err(hopeless(file, why_not(failed).unwrap_or_default()));
        }
    }
}

/// Returns true if a string contains nothing secret.
fn is_clean(text: &str) -> bool {
    mcptest_replay::clean(text) == text
}

fn is_error(row: &TestReport) -> bool {
    row.status == Status::Error
}

fn hopeless(file: &Path, reason: String) -> DraftError {
    let help = "a suite for it could not pass; `mcptest show` prints its contents";
    DraftError::hopeless(file, reason, help)
}

/// The recording as `cassette:` names it, relative to the suite.
fn way_to(file: &Path, out: &Path) -> Result<String, DraftError> {
    let out = files::whole(out);
    let way = path::between(out.parent().unwrap_or(Path::new("/")), &files::whole(file));
    match way.to_str() {
        Some(way) if !is_pattern(way) && !way.contains("{model}") => Ok(way.to_owned()),
        _ => {
            let reason = "`cassette:` would take its name for a pattern";
            Err(DraftError::hopeless(file, reason, "rename the file"))
        }
    }
}

fn name_of(header: Option<&Header>, file: &Path) -> String {
    let recorded = header
        .map(|header| header.agent.trim().to_owned())
        .filter(|name| !name.is_empty());
    let stem = || {
        file.file_stem()
            .map(|stem| stem.to_string_lossy().into_owned())
            .unwrap_or_default()
    };
    recorded.unwrap_or_else(|| format!("{} as recorded", stem()))
}

/// The server of a tape.
fn tape_server(file: &Path) -> Option<TapeServer> {
    let bytes = files::read(file, files::RECORDING).ok()?;
    let first = String::from_utf8_lossy(bytes.split(|byte| *byte == b'\n').next()?).into_owned();
    let header =
        tape::is_tape(&first).then(|| serde_json::from_str::<tape::Header>(&first).ok())??;
    Some(header.server).filter(|server| !server.command.is_empty() || server.url.is_some())
}

/// The expectations that hold in every run.
fn expectations(runs: &[&mcptest_core::trace::Trace<'_>]) -> Vec<Expectation> {
    let mut expected = Vec::new();
    if runs.iter().all(|run| {
        run.final_response
            .as_ref()
            .is_some_and(|text| !text.is_empty())
    }) {
        expected.push(Expectation::new(
            "final_response",
            json!({ "length": { "gte": 1 } }),
        ));
    }
    let results = || runs.iter().flat_map(|run| &run.tool_results);
    if results().next().is_some() && results().all(|result| !result.is_error) {
        expected.push(Expectation::new(
            "tool_results[*].is_error",
            json!({ "not": { "contains": true } }),
        ));
    }
    expected
}

struct AgentPage {
    file: PathBuf,
    cassette: String,
    name: String,
    runs: usize,
    /// The server of a tape.
    server: Option<TapeServer>,
    /// The name for that server.
    server_name: Option<String>,
    header: Option<Header>,
    /// True if the suite contains the prompt.
    is_asked: bool,
    walked: Vec<Vec<String>>,
    expect: Vec<Expectation>,
    gates: Vec<Gate>,
}

impl AgentPage {
    fn from_cassette(
        file: &Path,
        cassette: &Cassette<'_>,
        out: &Path,
        server_name: Option<&str>,
    ) -> Result<Self, DraftError> {
        let mut runs = Vec::new();
        for run in &cassette.runs {
            let trace = run
                .trace
                .as_ref()
                .map_err(|problem| hopeless(file, format!("run {}: {problem}", run.number)))?;
            runs.push(trace);
        }
        let calls = Calls::from_runs(&runs);
        let header = cassette.header.as_ref();
        let mut gates = calls.gates();
        gates.retain(|gate| is_clean(&gate.lines.join("\n")));
        Ok(Self {
            file: file.to_owned(),
            cassette: way_to(file, out)?,
            name: mcptest_replay::clean(&name_of(header, file)).into_owned(),
            runs: runs.len(),
            server: tape_server(file),
            server_name: server_name.map(str::to_owned),
            header: header
                .filter(|header| header.model.is_some() || !header.prompt.is_empty())
                .cloned(),
            is_asked: true,
            walked: calls.walked(),
            expect: expectations(&runs),
            gates,
        })
    }

    /// Returns true if the prompt can be reproduced.
    fn can_ask(&self, out: &Path) -> bool {
        let mut question = String::new();
        self.write_question(&mut question);
        let none = BTreeMap::new();
        is_clean(&question)
            && judged(out, &self.text(out), &none, &none)
                .is_ok_and(|rows| !rows.iter().any(is_error))
    }

    fn into_draft(self, out: &Path, text: String) -> Draft {
        let runs = count(self.runs, "recorded run");
        let said = format!("{runs} of `{}`, judged from {}", self.name, self.cassette);
        Draft {
            path: out.to_owned(),
            text,
            said: vec![said],
            is_judged: true,
            records: false,
            recordings: Vec::new(),
        }
    }

    /// Removes requirements that do not hold. Returns false if all hold.
    fn weaken(&mut self, row: &TestReport) -> bool {
        let before = (self.gates.len(), self.expect.len());
        self.gates.retain(|gate| {
            row.gates
                .iter()
                .all(|judged| judged.key != gate.key || judged.status == Status::Passed)
        });
        let failed = |target: &str| {
            row.runs
                .iter()
                .flat_map(|run| &run.expectations)
                .any(|one| !one.passed && one.target == target)
        };
        self.expect.retain(|one| !failed(one.target()));
        before != (self.gates.len(), self.expect.len())
    }

    fn text(&self, out: &Path) -> String {
        let mut text = String::new();
        self.write_comment(&mut text);
        let servers = match self.write_tape_server(out, &mut text) {
            Some(server) => vec![server],
            None => self.write_recorded_servers(&mut text),
        };
        text.push_str("\nagents:\n");
        let _ = write!(
            text,
            "  - name: {}\n    cassette: {}\n    runs: {}\n",
            yaml::text(&self.name),
            yaml::text(&self.cassette),
            self.runs
        );
        if !servers.is_empty() {
            let servers: Vec<String> = servers.iter().map(|name| yaml::text(name)).collect();
            let _ = writeln!(text, "    servers: [{}]", servers.join(", "));
        }
        self.write_question(&mut text);
        self.write_expectations(&mut text);
        if self.header.is_some() && !self.is_asked {
            text.push_str("run_options:\n  stale: warn\n");
        }
        text
    }

    /// Writes the origin of the suite, and the calls of the runs.
    fn write_comment(&self, text: &mut String) {
        let file = yaml::comment(&self.file.display().to_string());
        let runs = count(self.runs, "recorded run");
        let _ = writeln!(
            text,
            "# Drafted by `mcptest init --from-cassette` from {file}: {runs}.\n#"
        );
        for (at, names) in self.walked.iter().take(SHOWN_RUNS).enumerate() {
            let _ = writeln!(text, "#   run {}: {}", at + 1, calls_in_words(names));
        }
        if self.walked.len() > SHOWN_RUNS {
            text.push_str("#   …\n");
        }
        text.push_str(
            "# `mcptest run` judges them: offline, the same every time. `mcptest \
        explain` lists further checks.\n",
        );
    }

    fn write_expectations(&self, text: &mut String) {
        if !self.expect.is_empty() {
            text.push_str("    # In each run:\n    expect:\n");
        }
        for expectation in &self.expect {
            let _ = writeln!(text, "      - {}", expectation.yaml());
        }
        for gate in &self.gates {
            let _ = writeln!(text, "    # {}\n    {}:", gate.about, gate.key);
            for line in &gate.lines {
                let _ = writeln!(text, "      {line}");
            }
        }
    }

    /// Writes the server of a tape, and returns its name.
    fn write_tape_server(&self, out: &Path, text: &mut String) -> Option<String> {
        let server = self.server.as_ref()?;
        let name = self.server_name.as_ref().or(server.name.as_ref());
        let name = name.map_or("server", String::as_str).to_owned();
        let here = files::whole(Path::new("."));
        let out = files::whole(out);
        mcptest_replay::remember_words(&server.command);
        let without_secrets = |word: &str| with_variables(&mcptest_replay::clean(word));
        let words: Vec<String> = server
            .command
            .iter()
            .map(|word| without_secrets(word))
            .collect();
        let url = server.url.as_deref().map(without_secrets);
        let entry =
            entry::of_template(&words, url.as_deref(), out.parent().unwrap_or(&here), &here);
        let _ = write!(text, "\nservers:\n  {}:\n", yaml::text(&name));
        for line in entry {
            let _ = writeln!(text, "    {line}");
        }
        Some(name)
    }

    /// Writes the servers of the header, and returns their names.
    fn write_recorded_servers(&self, text: &mut String) -> Vec<String> {
        let servers = match &self.header {
            Some(header) if self.is_asked => &header.servers,
            _ => return Vec::new(),
        };
        if !servers.is_empty() {
            text.push_str("\nservers:\n");
        }
        for (name, entry) in servers {
            let entry = Value::Object(tool_recording::as_written(entry));
            let _ = writeln!(
                text,
                "  {}: {}",
                yaml::text(name),
                tool_recording::template(&entry)
            );
        }
        servers.keys().cloned().collect()
    }

    /// Writes the agent and its question exactly as in the header. Any difference would make the
    /// recording stale.
    fn write_question(&self, text: &mut String) {
        let Some(header) = &self.header else { return };
        if !self.is_asked {
            text.push_str(
                "    # The recording contains more of the question than this suite; \
            `stale: warn` judges it anyway:\n",
            );
        }
        for line in question_lines(header) {
            if self.is_asked {
                let _ = writeln!(text, "    {line}");
            } else {
                let comment = yaml::comment(&mcptest_replay::clean(&line));
                let _ = writeln!(text, "    # {comment}");
            }
        }
    }
}

/// `search → open → …`.
fn calls_in_words(names: &[String]) -> String {
    if names.is_empty() {
        return "no calls".to_owned();
    }
    let mut shown: Vec<String> = names
        .iter()
        .take(SHOWN_CALLS)
        .map(|name| yaml::comment(&mcptest_replay::clean(name)))
        .collect();
    if names.len() > SHOWN_CALLS {
        shown.push("…".to_owned());
    }
    shown.join(" → ")
}

/// The keys of an agent that define its question.
fn question_lines(header: &Header) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(model) = &header.model {
        lines.push(format!("model: {}", yaml::template(model)));
    }
    match &header.prompt[..] {
        [] => {}
        [prompt] => lines.push(format!("prompt: {}", yaml::template(prompt))),
        turns => {
            let turns: Vec<String> = turns.iter().map(|turn| yaml::template(turn)).collect();
            lines.push(format!("turns: [{}]", turns.join(", ")));
        }
    }
    if let Some(prompt) = &header.system_prompt {
        lines.push(format!("system_prompt: {}", yaml::template(prompt)));
    }
    for (key, value) in &header.parameters {
        let written = match value {
            Value::Number(milliseconds) if key == "time_budget" => format!("{milliseconds}ms"),
            other => yaml::flow(other),
        };
        lines.push(format!("{}: {written}", yaml::template(key)));
    }
    lines
}

/// A word of a tape, with a variable for each placeholder.
pub(super) fn with_variables(word: &str) -> String {
    let mut written = String::new();
    let mut rest = word;
    while let Some((before, after)) = rest.split_once("[redacted:") {
        let Some((name, after)) = after.split_once(']') else {
            break;
        };
        let name = name.split(':').next().unwrap_or_default();
        written.push_str(&before.replace("${", "$${"));
        let _ = write!(written, "${{{}}}", variable_name(name));
        rest = after;
    }
    written.push_str(&rest.replace("${", "$${"));
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_placeholder_becomes_a_variable() {
        assert_eq!(
            with_variables("--key=[redacted:api-key] ${x} [redacted:jwt:012345]"),
            "--key=${API_KEY} $${x} ${JWT}"
        );
        assert_eq!(with_variables("[redacted:"), "[redacted:");
    }
}
