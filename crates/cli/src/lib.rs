//! The `mcptest` program: its lists of commands and of gates.

mod command;

use command::{completions, explain, man, mcp, schema, view};
use mcptest_command::{CommandKind, Program};
use mcptest_core::gates::{Gates, OUTCOME_GATES, RUN_GATES};

/// The commands, in the order of the help and of the documentation.
pub const COMMANDS: &[CommandKind] = &[
    mcptest_run::RUN,
    mcptest_run::SCORE,
    mcptest_run::SCENARIO,
    mcptest_grade::EVAL,
    mcptest_run::INIT,
    mcptest_run::VALIDATE,
    mcptest_run::REPORT,
    CommandKind::new::<view::View>(),
    mcptest_toolbox::PROXY,
    mcptest_toolbox::VERIFY,
    mcptest_toolbox::IMPORT,
    mcptest_toolbox::EXPORT,
    mcptest_toolbox::TRACE_FROM,
    mcptest_run::SHOW,
    mcptest_compare::COMPARE,
    mcptest_compare::MODEL_BASELINE,
    mcptest_grade::CALIBRATE,
    mcptest_grade::JUDGE_CHECK,
    mcptest_compare::PLAN_RUNS,
    mcptest_toolbox::TOOLS,
    mcptest_toolbox::CALL,
    mcptest_toolbox::CHECK,
    mcptest_toolbox::LINT_TOOLS,
    mcptest_toolbox::TOOL_BENCH,
    mcptest_toolbox::MOCK,
    CommandKind::new::<mcp::Mcp>(),
    CommandKind::new::<explain::Explain>(),
    CommandKind::new::<schema::Schema>(),
    CommandKind::new::<completions::Completions>(),
    CommandKind::new::<man::Man>(),
    mcptest_toolbox::BRIDGE,
];

/// The gates that suites may use, in the order of reports and of the documentation.
pub const GATES: Gates = Gates::new(&[
    RUN_GATES,
    mcptest_toolbox::GATES,
    OUTCOME_GATES,
    mcptest_compare::GATES,
]);

/// The program.
pub const PROGRAM: Program = Program::new(COMMANDS, GATES);
