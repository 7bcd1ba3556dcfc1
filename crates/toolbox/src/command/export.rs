//! `mcptest export`: write recorded runs in a format of other programs.

use clap::{Args, ValueEnum};
use mcptest_command::{EXIT_BROKEN, Failure, Group, Program, RunCommand, output};
use mcptest_core::escape::escape_path;
use mcptest_core::trace::{Header, Trace};
use mcptest_core::words::count;
use mcptest_import::{atif, left_out_of_atif};
use mcptest_replay::cassette::Recording;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Arguments of `export`.
#[derive(Debug, Args)]
pub(crate) struct Export {
    /// Cassettes, traces or transcripts of a format that `mcptest import` reads.
    #[arg(value_name = "IN", required = true)]
    pub(crate) inputs: Vec<PathBuf>,
    /// The format to write.
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: ExportFormat,
    /// The file to write, with a run on each line; missing folders are created [default: standard output].
    #[arg(long, short, value_name = "OUT")]
    pub(crate) out: Option<PathBuf>,
    /// Overwrite OUT if it is an export.
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
}

/// The formats that can be written.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum ExportFormat {
    /// ATIF, the Agent Trajectory Interchange Format of Harbor, version 1.7.
    Atif,
}

impl RunCommand for Export {
    const NAME: &'static str = "export";
    const GROUP: Group = Group::Record;
    const SUMMARY: &'static str = "Convert recorded runs to a format of other programs";
    const EXAMPLE: &'static str =
        "mcptest export --format atif cassettes/forecast.jsonl --out forecast.atif.jsonl";

    fn run(self, _program: &Program) -> Result<u8, Failure> {
        super::import::check_free(self.out.as_deref(), self.force)?;
        let mut exported = Exported::new(self.format);
        for path in &self.inputs {
            exported.add(path)?;
        }
        for (what, runs) in &exported.left_out {
            let runs = count(*runs, "run");
            output::stderr(&format!(
                "note: ATIF has no place for {what}, omitted in {runs}\n"
            ));
        }
        if exported.is_broken {
            let why = "nothing was written: cannot read every run";
            return Err(Failure::ended(EXIT_BROKEN, why.to_owned()));
        }
        let Some(out) = &self.out else {
            output::stdout(exported.text.as_bytes())?;
            return Ok(0);
        };
        mcptest_replay::write_over(
            out,
            &exported.text,
            is_export,
            "a file that is not an export",
        )
        .map_err(|error| Failure::at(out, error))?;
        let runs = count(exported.runs, "run");
        output::stderr(&format!("wrote {} with {runs}\n", escape_path(out)));
        Ok(0)
    }
}

/// Returns true for a file that may be written over.
fn is_export(bytes: &[u8]) -> bool {
    bytes.starts_with(b"{\"schema_version\":\"ATIF-")
}

/// The runs of all files in the format.
struct Exported {
    format: ExportFormat,
    text: String,
    runs: usize,
    /// The parts that the format has no place for, each with the number of runs that have it.
    left_out: BTreeMap<&'static str, usize>,
    /// True if a run cannot be read.
    is_broken: bool,
}

impl Exported {
    fn new(format: ExportFormat) -> Self {
        Self {
            format,
            text: String::new(),
            runs: 0,
            left_out: BTreeMap::new(),
            is_broken: false,
        }
    }

    fn add(&mut self, path: &Path) -> Result<(), Failure> {
        let recording = Recording::open_transcript(path)?;
        if let Some(fidelity) = recording.fidelity() {
            output::stderr(&format!("{}: {fidelity}\n", escape_path(path)));
        }
        let cassette = recording.cassette()?;
        for run in &cassette.runs {
            match &run.trace {
                Ok(trace) => self.add_run(trace, cassette.header.as_ref()),
                Err(problem) => {
                    self.is_broken = true;
                    let (path, number) = (escape_path(path), run.number);
                    output::stderr(&format!("error: {path}: run {number}: {problem}\n"));
                }
            }
        }
        Ok(())
    }

    fn add_run(&mut self, trace: &Trace<'_>, header: Option<&Header>) {
        match self.format {
            ExportFormat::Atif => {
                self.text.push_str(&atif(trace, header));
                for what in left_out_of_atif(trace) {
                    *self.left_out.entry(what).or_default() += 1;
                }
            }
        }
        self.text.push('\n');
        self.runs += 1;
    }
}
