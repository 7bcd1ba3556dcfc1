//! What does a scorer print of one run?

use mcptest_agent::own::Program;
use mcptest_core::grade::{Evidence, Numbers, Scorer};
use mcptest_core::suite::Suite;
use std::time::Duration;

/// Starts the scorer, sends it the run, and reads its numbers. Dropping the future ends it and all
/// its children.
pub(crate) async fn score(
    suite: &Suite,
    scorer: &Scorer,
    evidence: &Evidence,
) -> Result<Numbers, String> {
    let who = format!("the scorer `{}`", scorer.name);
    let filled = scorer
        .program
        .filled(suite.folder(), mcptest_replay::host().environment);
    let filled = filled.map_err(|unset| format!("cannot start {who}: {unset}"))?;
    let program = Program {
        who: &who,
        command: &filled.command,
        env: &filled.env,
        cwd: Some(&filled.cwd),
        input: evidence.as_str(),
        time_budget: Duration::from_millis(scorer.timeout_ms),
    };
    let ended = program
        .run(|| {})
        .await
        .map_err(|error| format!("cannot start {who}: {error}"))?;
    if let Some(error) = ended.errors.first() {
        return Err(error.message.clone());
    }
    let said = if ended.stderr.is_empty() {
        String::new()
    } else {
        format!("; its standard error ends with:\n{}", ended.stderr)
    };
    if ended.stop_reason == "time_budget" {
        return Err(format!(
            "{who} did not end within its `timeout` of {} ms{said}",
            scorer.timeout_ms
        ));
    }
    Scorer::read(ended.answer.as_deref().unwrap_or_default())
        .map_err(|why| format!("{who}: {why}{said}"))
}
