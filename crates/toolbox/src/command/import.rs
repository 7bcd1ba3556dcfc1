//! `mcptest import`: convert transcripts of other programs to a cassette.

use clap::Args;
use mcptest_command::suites::TraceFiles;
use mcptest_command::{EXIT_BROKEN, Failure, Group, Program, RunCommand, output};
use mcptest_core::escape::escape_path;
use mcptest_core::words::count;
use mcptest_files as files;
use mcptest_import::{self as import, Importer};
use mcptest_replay::cassette::write_whole;
use std::path::{Path, PathBuf};

/// Arguments of `import`.
#[derive(Debug, Args)]
pub(crate) struct Import {
    /// Transcripts or folders of transcripts, or `-` for standard input; all become one cassette.
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
    /// The agent's name in the cassette.
    #[arg(long, value_name = "NAME", default_value = "imported")]
    pub(crate) agent: String,
    /// Overwrite OUT if it is a recording.
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
}

impl RunCommand for Import {
    const NAME: &'static str = "import";
    const GROUP: Group = Group::Record;
    const SUMMARY: &'static str =
        "Convert transcripts of model APIs, agent frameworks or OpenTelemetry to a cassette";
    const EXAMPLE: &'static str = "mcptest import transcripts/ --out cassettes/imported.jsonl";

    fn run(self, _program: &Program) -> Result<u8, Failure> {
        check_free(self.out.as_deref(), self.force)?;
        let format = self.format.as_deref().and_then(import::find);
        let transcripts = transcripts(&self.inputs, &self.files)?;
        let whole = read_all(&transcripts, format)?;
        if transcripts.len() > 1 {
            tell_disagreement(&whole.disagreed());
        }
        let conversations = whole.conversations();
        let cassette = whole.into_cassette(&self.agent, &mcptest_replay::clean);
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

/// Reads every transcript into one, and shows what each lost. One that cannot be read fails all.
fn read_all(transcripts: &[Input], format: Option<&Importer>) -> Result<import::Imported, Failure> {
    let mut whole: Option<import::Imported> = None;
    let mut broken = 0;
    for Input { path, is_named } in transcripts {
        match read(path, format) {
            Ok(imported) => {
                output::stderr(&format!("{}: {}\n", escape_path(path), imported.fidelity()));
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
        Failure::ended(EXIT_BROKEN, format!("nothing was written: {what}"))
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

/// The named files, and the files in the named folders.
fn transcripts(inputs: &[PathBuf], files: &TraceFiles) -> Result<Vec<Input>, Failure> {
    let filter = files.filter()?;
    let mut transcripts = Vec::new();
    for input in inputs {
        if !input.is_dir() {
            transcripts.push(Input {
                path: input.clone(),
                is_named: true,
            });
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

fn read(path: &Path, format: Option<&Importer>) -> Result<import::Imported, Unread> {
    let named = if path == Path::new("-") {
        Path::new(files::STDIN)
    } else {
        path
    };
    let bytes = files::read_named(named, files::RECORDING)
        .map_err(|error| Unread::Failed(Failure::at(path, files::reason(&error)).why))?;
    import::import(&bytes, format).map_err(|error| {
        if let import::ImportFault::Unknown { found } = &error.fault
            && !import::looks_like_trace(&bytes)
        {
            return Unread::NotATranscript(found.clone());
        }
        let place = error
            .place
            .map(|place| format!(":{}:{}", place.line, place.column))
            .unwrap_or_default();
        Unread::Failed(format!("{}{place}: {}", escape_path(path), error.fault))
    })
}
