//! How often do the gates report false failures, and how often do they miss one? Measured on runs
//! with known outcomes.

mod agentdojo;
mod airline;
mod baselines;
mod corpus;
mod judge;
mod measures;
mod plant;
mod table;
#[cfg(test)]
mod tests;

use crate::say;
use corpus::Corpus;
use std::path::Path;
use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask calibrate PATH...
  A PATH is a file or a folder of
    *.json   runs: one or a list of {messages (or traj), pass (or reward), task_id?, info.task.actions?},
             with OpenAI chat messages; runs of one task are its trials
    *.jsonl  closing messages: {text, calls: [{name, is_error, args?}], label: honest | unsupported},
             or the runs of one model in AgentDojo as memo-ozdincer/rrfa publishes them: every second
             model is kept aside
  With MCPTEST_CALIBRATE_SHOW=1 each verdict that is wrong is printed as well.";

pub(crate) fn run(arguments: &[String]) -> Result<ExitCode, String> {
    if arguments.is_empty() {
        return Err(USAGE.to_owned());
    }
    let mut rows = Vec::new();
    let mut pictures = Vec::new();
    for argument in arguments {
        for corpus in Corpus::read(Path::new(argument))?.parts() {
            rows.extend(measures::measure(&corpus)?);
            pictures.extend(measures::similarities(&corpus)?);
        }
    }
    say(&table::render(&rows));
    for picture in &pictures {
        say(&table::histogram(picture));
    }
    let all_hold = rows.iter().all(measures::Row::holds);
    Ok(if all_hold {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
