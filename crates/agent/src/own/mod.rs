//! The user's own agent: a program with a prompt and servers, observed through proxies.

mod call_log;
mod catalogue;
mod program;
mod proxies;
mod server_proxy;
mod setup;
mod usage;

pub use program::{Ended, Program};
pub use setup::{CallEvent, OnCall, OwnError, OwnOutcome, OwnSetup};

use call_log::CallLog;
use catalogue::{Injected, Offered};
use mcptest_core::trace::{ConversationTrace, RecordedTurn};
use mcptest_mcp::client::ServerSpec;
use proxies::Proxies;
use server_proxy::ServerProxy;
use std::path::Path;
use std::sync::Arc;

/// The longest prompt that is also passed as a variable: systems refuse to start a program with
/// longer ones.
const LONGEST_VARIABLE: usize = 100_000;

/// Runs the agent once and returns its evidence. Dropping the future ends it with everything that it started.
pub async fn run(setup: OwnSetup<'_>) -> Result<OwnOutcome, OwnError> {
    let folder = private_folder().map_err(OwnError::Folder)?;
    let log = Arc::new(CallLog::new(setup.faults, setup.on_call));
    let offered = Arc::new(Offered::default());
    // Distractors are made of the offered tools. Without them it is enough to see what the agent is told.
    let mut unknown = if setup.distractors.is_some() {
        offered.ask_missing(&setup.servers).await
    } else {
        Vec::new()
    };
    let injected = offered.distractors(setup.distractors, &setup.servers);
    let shared = SharedByProxies {
        log: Arc::clone(&log),
        offered: Arc::clone(&offered),
        hidden: Arc::new(setup.hidden),
    };
    let proxies = shared
        .open_all(&setup.servers, &injected, setup.program)
        .await?;
    let usage_path = folder.path().join("usage.json");
    let mut env = setup.env.to_vec();
    env.extend(proxies.announce(folder.path())?);
    env.extend(variables(setup.prompt, setup.program, &usage_path));
    let program = Program {
        who: "the agent",
        command: setup.command,
        env: &env,
        cwd: setup.cwd,
        input: setup.prompt,
        time_budget: setup.time_budget,
    };
    let ended = program.run(|| log.close()).await;
    proxies.close().await;
    let ended = ended?;
    let stderr = ended.stderr.clone();
    unknown.extend(offered.ask_missing(&setup.servers).await);
    let (mut trace, model) = trace(setup.prompt, ended, &log, &usage_path);
    trace.errors.extend(unknown);
    trace.servers = setup
        .servers
        .iter()
        .filter_map(|server| log.spoken_to(&server.name))
        .collect();
    Ok(OwnOutcome {
        trace,
        catalogue: offered.all(&setup.servers, &injected),
        model,
        stderr,
    })
}

/// The values that all proxies of a run share.
struct SharedByProxies {
    log: Arc<CallLog>,
    offered: Arc<Offered>,
    hidden: Arc<Vec<String>>,
}

impl SharedByProxies {
    /// Opens a proxy before each server.
    async fn open_all(
        &self,
        servers: &[ServerSpec],
        injected: &[Injected],
        program: &Path,
    ) -> Result<Proxies, OwnError> {
        let mut proxies = Proxies::new();
        for server in servers {
            let server_proxy = self.proxy_of(server, injected);
            proxies.open(server.clone(), server_proxy, program).await?;
        }
        Ok(proxies)
    }

    fn proxy_of(&self, server: &ServerSpec, injected: &[Injected]) -> ServerProxy {
        let distractors = injected
            .iter()
            .filter(|injected| injected.host == server.name)
            .map(|injected| injected.tool.clone())
            .collect();
        ServerProxy {
            server: server.name.clone(),
            timeout_ms: server.timeout.as_millis() as u64,
            hidden: Arc::clone(&self.hidden),
            distractors: Arc::new(distractors),
            log: Arc::clone(&self.log),
            offered: Arc::clone(&self.offered),
        }
    }
}

/// The variables of every agent, besides the addresses of its servers.
fn variables(prompt: &str, program: &Path, usage_path: &Path) -> Vec<(String, String)> {
    let mut variables = vec![
        ("MCPTEST_USAGE".to_owned(), usage_path.display().to_string()),
        ("MCPTEST_BIN".to_owned(), program.display().to_string()),
    ];
    if prompt.len() <= LONGEST_VARIABLE && !prompt.contains('\0') {
        variables.push(("MCPTEST_PROMPT".to_owned(), prompt.to_owned()));
    }
    variables
}

/// A folder that only the current user can read. It is removed on drop.
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
    log: &CallLog,
    usage_path: &Path,
) -> (ConversationTrace, Option<String>) {
    let mut trace = ConversationTrace {
        stop_reason: Some(ended.stop_reason.to_owned()),
        ..ConversationTrace::default()
    };
    trace.errors.extend(ended.errors);
    log.record(&mut trace);
    let usage = usage::read(usage_path).unwrap_or_else(|error| {
        trace.errors.push(error);
        usage::Usage::default()
    });
    trace.conversation.tokens = Some(usage.tokens);
    trace.conversation.cost_usd = usage.cost_usd;
    trace.conversation.duration_ms = Some(ended.duration.as_millis() as u64);
    let answer = ended
        .answer
        .as_deref()
        .map(|answer| RecordedTurn::new("assistant", answer));
    let turns = std::iter::once(RecordedTurn::new("user", prompt)).chain(answer);
    trace.conversation.turns = Some(turns.collect());
    trace.final_response = ended.answer;
    (trace, usage.model)
}
