//! Relays stdio to a run's proxy, as `mcptest bridge` does: a separate program for the tests of this crate.

use mcptest_mcp::proxy::bridge::{TOKEN_VARIABLE, copy};

fn main() -> std::io::Result<()> {
    let address = std::env::args().nth(2).unwrap_or_default();
    let token = std::env::var(TOKEN_VARIABLE).unwrap_or_default();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let copied = runtime.block_on(copy(
        &address,
        &token,
        tokio::io::stdin(),
        tokio::io::stdout(),
    ));
    runtime.shutdown_background();
    copied
}
