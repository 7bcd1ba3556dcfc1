//! Transcripts of other programs become cassettes: which format is this, and what does it contain?

mod ag_ui;
mod agentdojo;
mod ai_sdk;
mod anthropic;
mod archive;
mod atif;
mod catalogue;
mod claude_code;
mod codex;
mod content;
mod copilot;
mod cut_off;
mod document;
mod exchange;
mod fidelity;
mod foreign;
mod framing;
mod gemini;
mod inspect;
mod json;
mod langchain;
mod line;
mod metadata;
mod openai_chat;
mod openai_responses;
mod otel;
mod plain_chat;
mod problem;
mod pydantic_ai;
mod sample;
mod server_name;
mod sub_agent;
mod tau;
mod time;
mod transcript;
mod unit;
mod usage;
mod write;

pub use archive::ArchiveFault;
pub use atif::{atif, left_out_of_atif};
pub use claude_code::about_agent;
pub use fidelity::Fidelity;
pub use foreign::{is_foreign, looks_like_trace};
pub use line::{FirstLine, LineError, LineFault, LineRun, TraceLine, group_of};
pub use problem::{ImportError, ImportFault};

use document::Document;
use json::{Json, Misfit};
use sample::Sample;
use std::borrow::Cow;
use transcript::{Dropped, Transcript};

/// A format of transcripts.
pub struct Importer {
    /// The name for `--format`.
    pub key: &'static str,
    /// The name in sentences.
    pub name: &'static str,
    /// The contents of such a file.
    pub doc: &'static str,
    /// The formats, by their keys, whose values may be among this format's values. Plain messages
    /// of `openai-chat` are always allowed.
    also_reads: &'static [&'static str],
    sniff: fn(&Sample<'_>) -> bool,
    read: for<'a> fn(&[Json<'a>]) -> Result<Vec<Transcript>, Misfit>,
}

/// Every format, the most telling first: a list of plain messages is the last.
pub const IMPORTERS: &[Importer] = &[
    atif::IMPORTER,
    codex::IMPORTER,
    copilot::IMPORTER,
    inspect::IMPORTER,
    tau::IMPORTER,
    agentdojo::IMPORTER,
    ag_ui::IMPORTER,
    otel::openinference::IMPORTER,
    otel::IMPORTER,
    langchain::IMPORTER,
    pydantic_ai::IMPORTER,
    gemini::IMPORTER,
    ai_sdk::IMPORTER,
    openai_responses::IMPORTER,
    anthropic::IMPORTER,
    openai_chat::IMPORTER,
];

/// The format with this key.
pub fn find(key: &str) -> Option<&'static Importer> {
    IMPORTERS.iter().find(|importer| importer.key == key)
}

/// The keys of all formats, for a user to read: the simplest first.
pub fn keys() -> impl Iterator<Item = &'static str> {
    IMPORTERS.iter().rev().map(|importer| importer.key)
}

/// The conversations in transcripts, in order.
#[derive(Debug)]
pub struct Imported {
    transcripts: Vec<Transcript>,
    fidelity: Fidelity,
}

/// Reads a transcript. Without a format, detects it from the contents.
pub fn import(bytes: &[u8], format: Option<&Importer>) -> Result<Imported, ImportError> {
    if !archive::is_archive(bytes) {
        return import_text(bytes, format);
    }
    // Its documents have no places in the file that the user sees.
    let nowhere = |fault| ImportError { place: None, fault };
    let text = archive::unpack(bytes).map_err(|fault| nowhere(fault.into()))?;
    import_text(&text, format).map_err(|error| nowhere(error.fault))
}

fn import_text(bytes: &[u8], format: Option<&Importer>) -> Result<Imported, ImportError> {
    let bytes = framing::without_framing(bytes);
    let mut document = Document::read(&bytes)?;
    let about = document.set_aside(metadata::is_about);
    let importer = match format {
        Some(importer) => importer,
        None => only(&sniffed(&document), &document)?,
    };
    let other = || match &sniffed(&document)[..] {
        [other] => Some(other.key).filter(|key| *key != importer.key),
        _ => None,
    };
    let read = (importer.read)(&document.values)
        .map_err(|misfit| document.error(importer.name, misfit, format.and_then(|_| other())))?;
    let mut fidelity = Fidelity::new(importer.name);
    fidelity.add_dropped(Dropped::Line, about);
    let mut transcripts = read;
    transcripts.retain(|transcript| !transcript.is_empty());
    for transcript in &mut transcripts {
        transcript.leave_cut_off_calls();
        transcript.strip_servers();
        fidelity.count(transcript);
    }
    if transcripts.is_empty() {
        let message = format!("it contains no conversation ({})", importer.doc);
        let looks_like = format.and_then(|_| other());
        let fault = ImportFault::Misfit {
            format: importer.name,
            message,
            looks_like,
        };
        return Err(ImportError { place: None, fault });
    }
    fidelity.disagreed = write::disagreed(&transcripts);
    Ok(Imported {
        transcripts,
        fidelity,
    })
}

impl Imported {
    /// The number of conversations.
    pub fn conversations(&self) -> usize {
        self.transcripts.len()
    }

    /// The imported and omitted parts.
    pub fn fidelity(&self) -> &Fidelity {
        &self.fidelity
    }

    /// The text of a cassette with one run for each conversation. `clean` removes the secrets from
    /// each line. A conversation is released once its line is written, so that memory holds a large
    /// file only once.
    pub fn into_cassette(self, agent: &str, clean: &dyn Fn(&str) -> Cow<'_, str>) -> String {
        write::cassette(self.transcripts, agent, clean)
    }

    /// Each conversation as a run by itself.
    fn into_runs(self, clean: &dyn Fn(&str) -> Cow<'_, str>) -> Vec<write::ImportedRun> {
        write::runs(self.transcripts, clean)
    }

    /// The fields in which the conversations differ, which the cassette's header omits.
    pub fn disagreed(&self) -> Vec<&'static str> {
        write::disagreed(&self.transcripts)
    }

    /// The runs of these follow.
    pub fn append(&mut self, other: Self) {
        self.transcripts.extend(other.transcripts);
    }
}

/// The formats that match the values of a document.
fn sniffed(document: &Document<'_>) -> Vec<&'static Importer> {
    let mut found: Vec<&'static Importer> = Vec::new();
    for sample in Sample::from_each(&document.values) {
        let sniffed = IMPORTERS.iter().find(|importer| (importer.sniff)(&sample));
        if let Some(importer) = sniffed
            && found.iter().all(|known| known.key != importer.key)
        {
            found.push(importer);
        }
    }
    let is_read_by = |other: &Importer, key: &str| {
        other.key != key && (key == openai_chat::IMPORTER.key || other.also_reads.contains(&key))
    };
    let all = found.clone();
    found.retain(|one| !all.iter().any(|other| is_read_by(other, one.key)));
    found
}

fn only(
    found: &[&'static Importer],
    document: &Document<'_>,
) -> Result<&'static Importer, ImportError> {
    let fault = match found {
        [one] => return Ok(one),
        [] => ImportFault::Unknown {
            found: sample::description(&document.values),
        },
        several => ImportFault::Ambiguous {
            formats: several.iter().map(|one| one.key).collect(),
        },
    };
    Err(ImportError { place: None, fault })
}
