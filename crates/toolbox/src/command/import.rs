//! `mcptest import`: convert transcripts of other programs, or a tape, to a cassette.

use clap::Args;
use mcptest_command::suites::TraceFiles;
use mcptest_command::{EXIT_BROKEN, Failure, Group, Program, RunCommand, output, tape};
use mcptest_core::escape::escape_path;
use mcptest_core::words::count;
use mcptest_files as files;
use mcptest_import::{self as import, Importer};
use mcptest_mcp::tape::{Tape, TraceOptions, to_cassette};
use mcptest_replay::cassette::write_whole;
use mcptest_replay::session::{FileLine, SessionText, is_part_of_a_session};
use std::path::{Path, PathBuf};

/// Arguments of `import`.
#[derive(Debug, Args)]
pub(crate) struct Import {
    /// Transcripts or folders of transcripts, or `-` for standard input; all become one cassette. Or one tape of
    /// `mcptest proxy`.
    #[arg(value_name = "IN", required = true)]
    pub(crate) inputs: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) files: TraceFiles,
    /// The cassette to write; missing folders are created [default: standard output].
    #[arg(long, short, value_name = "OUT")]
    pub(crate) out: Option<PathBuf>,
    /// The format of the transcripts [default: detected].
    #[arg(long, value_name = "FORMAT", value_parser = clap::builder::PossibleValuesParser::new(import::keys()))]
    pub(crate) format: Option<String>,
    /// The agent's name in the cassette [default: `imported`; of a tape, the name that the client reported].
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// The prompt of the agent, which a tape does not contain.
    #[arg(long, value_name = "TEXT")]
    pub(crate) prompt: Option<String>,
    /// The final answer of the agent, which a tape does not contain.
    #[arg(long, value_name = "TEXT")]
    pub(crate) final_response: Option<String>,
    /// Refuse a transcript of which something would be dropped.
    #[arg(long)]
    pub(crate) strict: bool,
    /// Overwrite OUT if it is a recording.
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
}

impl RunCommand for Import {
    const NAME: &'static str = "import";
    const GROUP: Group = Group::Record;
    const SUMMARY: &'static str = "Convert transcripts of model APIs, agent frameworks or OpenTelemetry, or a tape, to a cassette";
    const EXAMPLE: &'static str = "mcptest import transcripts/ --out cassettes/imported.jsonl";

    fn run(self, _program: &Program) -> Result<u8, Failure> {
        check_free(self.out.as_deref(), self.force)?;
        let only = self.only_input();
        if let Some(bytes) = &only
            && let Some(tape) = tape::in_bytes(bytes, &self.inputs[0])?
        {
            return self.import_tape(&tape);
        }
        if self.prompt.is_some() || self.final_response.is_some() {
            let help = "`--prompt` and `--final-response` add to a tape what it does not contain";
            return Err(Failure::with_help("the input is not a tape", help));
        }
        let format = self.format.as_deref().and_then(import::find);
        let transcripts = transcripts(&self.inputs, &self.files)?;
        let whole = read_all(&transcripts, only, format, self.strict)?;
        if transcripts.len() > 1 {
            tell_disagreement(&whole.disagreed());
        }
        let conversations = whole.conversations();
        let agent = self.agent.as_deref().unwrap_or("imported");
        let cassette = whole.into_cassette(agent, &mcptest_replay::clean);
        let Some(out) = &self.out else {
            output::stdout(cassette.as_bytes())?;
            return Ok(0);
        };
        write_whole(out, &cassette)?;
        output::stderr(&format!(
            "wrote {} with {}\n",
            escape_path(out),
            count(conversations, "run")
        ));
        Ok(0)
    }
}

impl Import {
    /// The bytes of the only input, which may be a tape. `None` if it is a folder or cannot be read.
    fn only_input(&self) -> Option<Vec<u8>> {
        match &self.inputs[..] {
            [input] if !input.is_dir() => bytes_of(input).ok(),
            _ => None,
        }
    }

    /// Writes the cassette of a tape, which has a run for each of its sessions.
    fn import_tape(self, tape: &Tape) -> Result<u8, Failure> {
        if tape.is_cut && self.strict {
            return Err(Failure::ended(
                EXIT_BROKEN,
                "nothing was written: the tape was cut off in the middle of its last line",
            ));
        }
        let options = TraceOptions {
            agent: self.agent,
            prompt: self.prompt,
            final_response: self.final_response,
        };
        let cassette = to_cassette(tape, &options);
        match self.out {
            None => output::stdout(cassette.as_bytes())?,
            Some(file) => write_whole(&file, &mcptest_replay::clean(&cassette))?,
        }
        if tape.is_cut {
            output::stderr(
                "note: the tape was cut off in the middle of its last line, which is omitted\n",
            );
        }
        Ok(0)
    }
}

/// Reads every transcript into one, and shows what each lost. One that cannot be read fails all.
/// `only` has the bytes of the only transcript, if they were read before.
fn read_all(
    transcripts: &[Input],
    mut only: Option<Vec<u8>>,
    format: Option<&Importer>,
    strict: bool,
) -> Result<import::Imported, Failure> {
    let mut whole: Option<import::Imported> = None;
    let mut broken = 0;
    for Input { path, is_named } in transcripts {
        let bytes = only.take().map_or_else(|| bytes_of(path), Ok);
        let imported = bytes.map_err(|failure| Unread::Failed(failure.why));
        match imported.and_then(|bytes| read(path, bytes, format)) {
            Ok(imported) => {
                let fidelity = imported.fidelity();
                output::stderr(&format!("{}: {fidelity}\n", escape_path(path)));
                if let Some(dropped) = fidelity.dropped().filter(|_| strict) {
                    broken += 1;
                    let path = escape_path(path);
                    output::stderr(&format!(
                        "error: {path}: `--strict` refuses a transcript of which something is dropped: {dropped}\n"
                    ));
                }
                match &mut whole {
                    Some(whole) => whole.append(imported),
                    None => whole = Some(imported),
                }
            }
            Err(Unread::NotATranscript(found)) if !is_named => {
                let path = escape_path(path);
                output::stderr(&format!(
                    "note: skipped: {path} is not a trace: it is {found}\n"
                ));
            }
            Err(unread) => {
                broken += 1;
                output::stderr(&format!("error: {}\n", unread.told(path)));
            }
        }
    }
    whole.filter(|_| broken == 0).ok_or_else(|| {
        let what = if broken == 0 {
            "no file is a transcript"
        } else if transcripts.len() == 1 {
            "cannot read the transcript"
        } else {
            "cannot read every transcript"
        };
        let whole = if strict && broken > 0 {
            " as a whole"
        } else {
            ""
        };
        Failure::ended(EXIT_BROKEN, format!("nothing was written: {what}{whole}"))
    })
}

fn tell_disagreement(disagreed: &[&str]) {
    if disagreed.is_empty() {
        return;
    }
    let differ = disagreed.join(", ");
    let them = if disagreed.len() == 1 { "it" } else { "them" };
    output::stderr(&format!(
        "note: the conversations differ in {differ}, so the cassette's header omits {them}\n"
    ));
}

/// Refuses to write over a file without `--force`.
pub(super) fn check_free(out: Option<&Path>, force: bool) -> Result<(), Failure> {
    let Some(out) = out.filter(|out| out.exists() && !force) else {
        return Ok(());
    };
    let help = "choose another file, or overwrite it with `--force`";
    Err(Failure::with_help(
        format!("{} exists already", escape_path(out)),
        help,
    ))
}

/// A file to read.
struct Input {
    path: PathBuf,
    /// True if the user named the file, instead of its folder.
    is_named: bool,
}

/// The named files, and the files in the named folders. The files of a session's sub-agents are
/// read with the session.
fn transcripts(inputs: &[PathBuf], files: &TraceFiles) -> Result<Vec<Input>, Failure> {
    let filter = files.filter()?;
    let mut transcripts = Vec::new();
    for input in inputs {
        if !input.is_dir() {
            if inputs.len() == 1 || !is_part_of_a_session(input) {
                transcripts.push(Input {
                    path: input.clone(),
                    is_named: true,
                });
            }
            continue;
        }
        let (found, linked) = mcptest_replay::transcripts_in(input, &filter)?;
        output::not_entered(&linked);
        transcripts.extend(found.into_iter().map(|path| Input {
            path,
            is_named: false,
        }));
    }
    Ok(transcripts)
}

/// Why a file was not imported.
enum Unread {
    /// No format fits its contents, which are these.
    NotATranscript(String),
    Failed(String),
}

impl Unread {
    fn told(self, path: &Path) -> String {
        match self {
            Self::NotATranscript(found) => {
                let fault = import::ImportFault::Unknown { found };
                format!("{}: {fault}", escape_path(path))
            }
            Self::Failed(why) => why,
        }
    }
}

fn bytes_of(path: &Path) -> Result<Vec<u8>, Failure> {
    let named = if path == Path::new("-") {
        Path::new(files::STDIN)
    } else {
        path
    };
    files::read_named(named, files::RECORDING)
        .map_err(|error| Failure::at(path, files::reason(&error)))
}

fn read(
    path: &Path,
    bytes: Vec<u8>,
    format: Option<&Importer>,
) -> Result<import::Imported, Unread> {
    if mcptest_replay::cassette::is_tape(&bytes) {
        let message = "this is a tape, which becomes a separate cassette: import it alone";
        return Err(Unread::Failed(Failure::at(path, message).why));
    }
    let session = SessionText::read(path, bytes)
        .map_err(|error| Unread::Failed(Failure::at(path, files::reason(&error)).why))?;
    import::import(session.bytes(), format).map_err(|error| {
        if let import::ImportFault::Unknown { found } = &error.fault
            && !import::looks_like_trace(session.bytes())
        {
            return Unread::NotATranscript(found.clone());
        }
        let Some(place) = error.place else {
            return Unread::Failed(format!("{}: {}", escape_path(path), error.fault));
        };
        let FileLine { part, line } = session.place(place.line);
        let file = escape_path(part.as_deref().unwrap_or(path));
        Unread::Failed(format!("{file}:{line}:{}: {}", place.column, error.fault))
    })
}
