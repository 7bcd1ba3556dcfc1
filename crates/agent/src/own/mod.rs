//! An agent of one's own: a program that is given a prompt and servers, and is watched through proxies.

mod program;
mod setup;
mod usage;

pub use setup::{Distract, OwnError, OwnEvent, OwnOutcome, OwnSetup};

use crate::trace::{RunTrace, TracedTurn};
use program::Program;

/// Runs the agent once and tells what it did. Dropping the future ends it with all that it started.
pub async fn run(setup: OwnSetup<'_>) -> Result<OwnOutcome, OwnError> {
    let folder = tempfile::Builder::new().prefix("mcptest-").tempdir().map_err(OwnError::Folder)?;
    let usage_path = folder.path().join("usage.json");
    let mut env = vec![
        ("MCPTEST_PROMPT".to_owned(), setup.prompt.to_owned()),
        ("MCPTEST_USAGE".to_owned(), usage_path.display().to_string()),
    ];
    env.extend(setup.env.iter().cloned());
    let program = Program {
        command: setup.command,
        env: &env,
        cwd: setup.cwd,
        prompt: setup.prompt,
        time_budget: setup.time_budget,
    };
    let ended = program.run().await;
    let mut trace = RunTrace::default();
    trace.stop_reason = Some(ended.stop_reason.to_owned());
    trace.errors.extend(ended.errors);
    let model = match usage::read(&usage_path) {
        Ok(usage) => {
            trace.conversation.tokens = usage.tokens;
            trace.conversation.cost_usd = usage.cost_usd;
            usage.model
        }
        Err(error) => {
            trace.errors.push(error.traced());
            None
        }
    };
    trace.conversation.duration_ms = Some(ended.duration.as_millis() as u64);
    trace.conversation.turns.push(TracedTurn { role: "user".to_owned(), content: setup.prompt.to_owned() });
    if let Some(answer) = &ended.answer {
        let content = answer.clone();
        trace.conversation.turns.push(TracedTurn { role: "assistant".to_owned(), content });
    }
    trace.final_response = ended.answer;
    Ok(OwnOutcome { trace, catalogue: Vec::new(), model, stderr: ended.stderr })
}
