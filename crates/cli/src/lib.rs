//! The `mcptest` program: its lists of commands and of gates.

mod command;

use command::{
    calibrate, completions, eval, explain, init, judge_check, man, mcp, plan_runs, report, run,
    scenario, schema, show, validate, view,
};
use mcptest_command::{CommandKind, Program};
use mcptest_core::gates::{Gates, OUTCOME_GATES, RUN_GATES};

/// The commands, in the order of the help and of the documentation.
pub const COMMANDS: &[CommandKind] = &[
    CommandKind::new::<run::Run>(),
    CommandKind::new::<scenario::Scenario>(),
    CommandKind::new::<eval::Eval>(),
    CommandKind::new::<init::Init>(),
    CommandKind::new::<validate::Validate>(),
    CommandKind::new::<report::Rerender>(),
    CommandKind::new::<view::View>(),
    mcptest_toolbox::PROXY,
    mcptest_toolbox::VERIFY,
    mcptest_toolbox::TRACE_FROM,
    mcptest_toolbox::IMPORT,
    CommandKind::new::<show::Show>(),
    mcptest_compare::COMPARE,
    mcptest_compare::MODEL_BASELINE,
    CommandKind::new::<calibrate::Calibrate>(),
    CommandKind::new::<judge_check::CheckJudges>(),
    CommandKind::new::<plan_runs::PlanRuns>(),
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
