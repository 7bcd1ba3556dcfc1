//! `mcptest trace-from`: another name of `mcptest import`.

use super::import::Import;
use clap::Args;
use mcptest_command::{Failure, Group, Program, RunCommand};

/// Arguments of `trace-from`, which are the arguments of `import`.
#[derive(Debug, Args)]
pub(crate) struct TraceFrom {
    #[command(flatten)]
    import: Import,
}

impl RunCommand for TraceFrom {
    const NAME: &'static str = "trace-from";
    const GROUP: Group = Group::Record;
    const SUMMARY: &'static str = "Convert a tape to a cassette: another name of `import`";
    const EXAMPLE: &'static str = "mcptest trace-from session.jsonl --out cassettes/session.jsonl";

    fn run(self, program: &Program) -> Result<u8, Failure> {
        self.import.run(program)
    }
}
