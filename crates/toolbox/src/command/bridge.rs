//! `mcptest bridge`: copies the standard streams of an agent's server to the recording proxy.

use clap::Args;
use mcptest_command::server::until_end;
use mcptest_command::{EXIT_FAILED, Failure, Group, Patience, Program, RunCommand};
use mcptest_mcp::proxy::bridge::{TOKEN_VARIABLE, copy};

/// Arguments of `bridge`.
#[derive(Debug, Args)]
pub(crate) struct Bridge {
    /// The address of the proxy, as written to the server list of the agent.
    #[arg(value_name = "ADDRESS")]
    pub(crate) address: String,
}

impl RunCommand for Bridge {
    const NAME: &'static str = "bridge";
    const GROUP: Group = Group::Internal;
    const SUMMARY: &'static str = "Connect an agent program to a recorded server";
    const EXAMPLE: &'static str = "mcptest bridge 127.0.0.1:7000";
    const PATIENCE: Patience = Patience::UntilItIsStopped;

    fn run(self, _program: &Program) -> Result<u8, Failure> {
        let token = std::env::var(TOKEN_VARIABLE).unwrap_or_default();
        // One thread passes everything on: each hand-over to another would cost a call some microseconds.
        until_end(tokio::runtime::Builder::new_current_thread(), async {
            let copied = copy(
                &self.address,
                &token,
                tokio::io::stdin(),
                tokio::io::stdout(),
            )
            .await;
            let failed = |error| format!("mcptest bridge: {error}; it works only during its run");
            copied
                .map(|()| 0)
                .map_err(|error| Failure::ended(EXIT_FAILED, failed(error)))
        })
    }
}
