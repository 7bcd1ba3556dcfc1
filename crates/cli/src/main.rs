//! The `mcptest` command: arguments in, exit code out.

use mcptest_core::guard;
use std::process::ExitCode;

fn main() -> ExitCode {
    end_on_panic();
    mcptest_process::adopt_orphans();
    mcptest::PROGRAM.run(std::env::args_os().collect())
}

/// Ends the program and all child processes on a panic of the main thread that no guard catches.
/// Unwinding could wait for ever for a runtime whose threads could not all be started.
fn end_on_panic() {
    let tell = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        // The row that panicked reports it.
        if guard::note(panic) {
            return;
        }
        tell(panic);
        if std::thread::current().name() == Some("main") {
            mcptest_process::end_all();
            std::process::exit(101);
        }
    }));
}
