//! Is this still the run that was recorded, as its line says?

use crate::digest::digest_of_parts;

/// The digest of a run's number and its trace, to the letter.
pub fn seal_of(run: usize, trace: &str) -> String {
    let number = format!("{{\"run\":{run},\"trace\":");
    digest_of_parts(&[number.as_bytes(), trace.as_bytes(), b"}"])
}

/// The cassette line of this run with its seal, without a line break.
pub fn sealed_run_line(run: usize, trace: &str) -> String {
    let seal = seal_of(run, trace);
    format!("{{\"run\":{run},\"seal\":\"{seal}\",\"trace\":{trace}}}")
}
