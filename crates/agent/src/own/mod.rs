//! An agent of one's own: a program that is given a prompt and servers, and is watched through proxies.

mod catalogue;
mod doors;
mod ledger;
mod program;
mod setup;
mod usage;
mod witness;

pub use setup::{Distract, OwnError, OwnEvent, OwnOutcome, OwnSetup};

use catalogue::Offered;
use doors::Doors;
use ledger::Ledger;
use mcptest_core::trace::{ConversationTrace, RecordedTurn};
use program::{Ended, Program};
use std::path::Path;
use std::sync::Arc;
use witness::Witness;

/// The longest prompt that is also given as a variable: systems refuse to start a program with longer ones.
const LONGEST_VARIABLE: usize = 100_000;

/// Runs the agent once and tells what it did. Dropping the future ends it with all that it started.
pub async fn run(setup: OwnSetup<'_>) -> Result<OwnOutcome, OwnError> {
    let OwnSetup { servers, faults, on_event, .. } = setup;
    let folder = private_folder().map_err(OwnError::Folder)?;
    let ledger = Arc::new(Ledger::new(faults, on_event));
    let offered = Arc::new(Offered::find(setup.catalogue, &servers, &ledger).await);
    let injected = offered.distractors(setup.distractors, &servers);
    let mut doors = Doors::new();
    for server in servers {
        let own = injected.iter().filter(|injected| injected.host == server.name);
        let witness = Witness {
            server: server.name.clone(),
            timeout_ms: server.timeout.as_millis() as u64,
            distractors: Arc::new(own.map(|injected| injected.tool.clone()).collect()),
            ledger: Arc::clone(&ledger),
            offered: Arc::clone(&offered),
        };
        doors.open(server, witness, setup.program).await?;
    }
    let usage_path = folder.path().join("usage.json");
    let mut env = setup.env.to_vec();
    env.extend(doors.announce(folder.path())?);
    env.push(("MCPTEST_USAGE".to_owned(), usage_path.display().to_string()));
    env.push(("MCPTEST_BIN".to_owned(), setup.program.display().to_string()));
    if setup.prompt.len() <= LONGEST_VARIABLE && !setup.prompt.contains('\0') {
        env.push(("MCPTEST_PROMPT".to_owned(), setup.prompt.to_owned()));
    }
    let program = Program {
        command: setup.command,
        env: &env,
        cwd: setup.cwd,
        prompt: setup.prompt,
        time_budget: setup.time_budget,
    };
    let ended = program.run(|| ledger.close()).await;
    doors.close().await;
    let ended = ended?;
    let stderr = ended.stderr.clone();
    let (trace, model) = trace(setup.prompt, ended, &ledger, &usage_path);
    Ok(OwnOutcome { trace, catalogue: offered.all(&injected), model, stderr })
}

/// A folder that only we can look into, gone when it is dropped.
fn private_folder() -> std::io::Result<tempfile::TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix("mcptest-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    builder.tempdir()
}

fn trace(
    prompt: &str,
    ended: Ended,
    ledger: &Ledger,
    usage_path: &Path,
) -> (ConversationTrace, Option<String>) {
    let mut trace =
        ConversationTrace { stop_reason: Some(ended.stop_reason.to_owned()), ..ConversationTrace::default() };
    trace.errors.extend(ended.errors);
    ledger.record(&mut trace);
    let usage = usage::read(usage_path).unwrap_or_else(|error| {
        trace.errors.push(error.traced());
        usage::Usage::default()
    });
    trace.conversation.tokens = Some(usage.tokens);
    trace.conversation.cost_usd = usage.cost_usd;
    trace.conversation.duration_ms = Some(ended.duration.as_millis() as u64);
    let answer = ended.answer.as_deref().map(|answer| RecordedTurn::new("assistant", answer));
    let turns = std::iter::once(RecordedTurn::new("user", prompt)).chain(answer);
    trace.conversation.turns = Some(turns.collect());
    trace.final_response = ended.answer;
    (trace, usage.model)
}
