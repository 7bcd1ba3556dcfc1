//! What happens when the user or the system interrupts a recording?

use mcptest_process::{end_all, interrupted};
use mcptest_replay::Interrupt;
use std::time::Duration;
use tokio::sync::watch;

/// The time limit for a recording to end: its teardown commands and its servers have lower limits.
const PATIENCE: Duration = Duration::from_secs(150);

/// Ends a recording when the user or the system interrupts it. A second interrupt, or one without a
/// recording in progress, ends the program at once.
pub fn listen() -> Interrupt {
    let (interrupt, receiver) = watch::channel(None);
    let listening = move || {
        let Ok(runtime) = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
        else {
            return;
        };
        let exit_code = runtime.block_on(async {
            let exit_code = interrupted().await;
            if interrupt.send(Some(exit_code)).is_err() {
                end_all();
                return exit_code;
            }
            let again = tokio::time::timeout(PATIENCE, interrupted()).await;
            end_all();
            // Without its processes, what is left of the recording ends by itself.
            tokio::time::sleep(Duration::from_secs(1)).await;
            again.unwrap_or(exit_code)
        });
        std::process::exit(exit_code.into());
    };
    // It lasts as long as the program: there is nobody to join it.
    let _detached = std::thread::Builder::new().spawn(listening);
    receiver
}
