//! The `mcptest` command.

fn main() {}
