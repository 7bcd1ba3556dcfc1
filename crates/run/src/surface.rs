//! Which tools does a file list, and where are the pins of a surface kept?

use crate::cassette::Recording;
use crate::exit;
use mcptest_core::surface::SurfaceTool;
use mcptest_core::surface::pin::Pins;
use mcptest_files as files;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::io;
use std::path::Path;

/// A saved `tools/list` result or response.
#[derive(Deserialize)]
struct Saved {
    tools: Option<Vec<Box<RawValue>>>,
    result: Option<Box<Self>>,
}

/// The tools in a recording, or in a saved answer to `tools/list`; injected distractors are none.
pub fn read_surface(path: &Path) -> Result<Vec<SurfaceTool>, String> {
    let bytes = files::read_named(path, files::RECORDING).map_err(|error| files::reason(&error))?;
    let saved = serde_json::from_slice::<Saved>(&bytes).ok();
    let saved = saved.and_then(|saved| saved.tools.or_else(|| saved.result.and_then(|result| result.tools)));
    if let Some(entries) = saved {
        let read = entries.iter().map(|entry| SurfaceTool::listed(entry, None));
        let tools: Result<Vec<_>, _> = read.collect();
        return tools.map_err(|error| format!("one of its tools cannot be read: {error}"));
    }
    let recording = Recording::open(path).map_err(|error| error.to_string())?;
    let header = recording.cassette().map_err(|error| error.to_string())?.header;
    let Some(catalogue) = header.and_then(|header| header.catalogue) else {
        return Err("it does not say which tools there were".to_owned());
    };
    Ok(catalogue.iter().filter(|tool| !tool.distractor).map(SurfaceTool::recorded).collect())
}

/// Reads the pins that are named on the command line.
pub fn read_pins(path: &Path) -> Result<Pins, String> {
    let bytes = files::read_named(path, files::RECORDING).map_err(|error| files::reason(&error))?;
    Pins::read(&bytes).map_err(|error| error.to_string())
}

/// Writes pins, over nothing but pins.
pub fn write_pins(path: &Path, pins: &Pins) -> io::Result<()> {
    if !files::may_replace(path, Pins::is_one)? {
        let message =
            "there is something else at this place, which is no baseline of tools; choose another file";
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, message));
    }
    files::make_folder_of(path)?;
    exit::write(path, &pins.to_text())
}
