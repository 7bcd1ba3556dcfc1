//! The runs of one cassette while they are recorded: on the disk as they end, or only here.

use crate::cassette::{Recorder, WriteError};
use mcptest_core::redact::Redactor;
use mcptest_core::trace::Header;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Where runs go.
#[derive(Debug)]
pub(super) struct Reel {
    /// The cassette; none when nothing is written.
    path: Option<PathBuf>,
    /// Whether runs that are there already are kept.
    goes_on: bool,
    header: Option<Header>,
    recorder: Option<Recorder>,
    /// The traces of this recording by their numbers, as they were written.
    pub(super) traces: BTreeMap<usize, String>,
}

impl Reel {
    pub(super) fn new(path: Option<PathBuf>, goes_on: bool) -> Self {
        Self { path, goes_on, header: None, recorder: None, traces: BTreeMap::new() }
    }

    /// Keeps a run: when this returns it is on the disk. The first one begins the cassette.
    pub(super) fn keep(
        &mut self,
        run: usize,
        trace: &str,
        header: Header,
        redactor: &Redactor,
    ) -> Result<(), String> {
        let header = without_secrets(header, redactor)?;
        match &self.header {
            None => self.begin(header)?,
            Some(first) if *first != header => return Err(changed(first, &header)),
            Some(_) => {}
        }
        let trace = redactor.json(trace).into_owned();
        if let Some(recorder) = &mut self.recorder {
            recorder.append(run, &trace).map_err(|error| error.to_string())?;
        }
        self.traces.insert(run, trace);
        Ok(())
    }

    fn begin(&mut self, header: Header) -> Result<(), String> {
        if let Some(path) = &self.path {
            let recorder = if self.goes_on {
                Recorder::resume(path, &header)
            } else {
                Recorder::create(path, &header)
            };
            self.recorder = Some(recorder.map_err(|error| error.to_string())?);
        }
        self.header = Some(header);
        Ok(())
    }

    /// The cassette is whole, or as whole as it gets; `stopped` is after how many runs of how many it was decided.
    pub(super) fn finish(&mut self, stopped: Option<(usize, usize)>) -> Result<(), WriteError> {
        let Some(mut recorder) = self.recorder.take() else { return Ok(()) };
        if let Some((after, of)) = stopped {
            recorder.stop(after, of)?;
        }
        recorder.finish()
    }

    /// The whole as the text of a cassette.
    pub(super) fn text(&self, stopped: Option<(usize, usize)>) -> Option<String> {
        let header = crate::cassette::sealed(self.header.as_ref()?);
        let mut text = serde_json::to_string(&header).ok()? + "\n";
        for (run, trace) in &self.traces {
            text.push_str(&format!("{{\"run\":{run},\"trace\":{}}}\n", trace.replace(['\n', '\r'], " ")));
        }
        if let Some((after, of)) = stopped {
            text.push_str(&format!("{{\"stopped\":{{\"after\":{after},\"of\":{of}}}}}\n"));
        }
        Some(text)
    }
}

/// Servers may write secrets into what they say of their tools.
fn without_secrets(header: Header, redactor: &Redactor) -> Result<Header, String> {
    let text = serde_json::to_string(&header.catalogue).map_err(|error| error.to_string())?;
    let catalogue = serde_json::from_str(&redactor.json(&text)).map_err(|error| error.to_string())?;
    Ok(Header { catalogue, ..header })
}

fn changed(first: &Header, now: &Header) -> String {
    let expected = crate::cassette::ExpectedHeader {
        model: now.model.clone(),
        prompt: now.prompt.clone(),
        system_prompt: now.system_prompt.clone(),
        parameters: now.parameters.clone(),
        catalogue: now.catalogue.clone(),
    };
    let changes: Vec<String> =
        crate::cassette::staleness(first, &expected).iter().map(ToString::to_string).collect();
    let what = if changes.is_empty() { "their order".to_owned() } else { changes.join("; ") };
    format!("the tools are not the same in every run: {what}")
}
