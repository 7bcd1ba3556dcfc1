//! The `mcptest` program: its lists of commands and of gates.

mod command;

use command::{
    bridge, calibrate, call, check, compare, completions, eval, explain, import, init, judge_check,
    lint_tools, man, mcp, mock, model_baseline, plan_runs, proxy, report, run, scenario, schema,
    show, tool_bench, tools, trace_from, validate, verify, view,
};
use mcptest_command::{CommandKind, Program};
use mcptest_core::eval::Gates;

/// The commands, in the order of the help and of the documentation.
pub const COMMANDS: &[CommandKind] = &[
    CommandKind::new::<run::Run>(),
    CommandKind::new::<scenario::Scenario>(),
    CommandKind::new::<eval::Eval>(),
    CommandKind::new::<init::Init>(),
    CommandKind::new::<validate::Validate>(),
    CommandKind::new::<report::Rerender>(),
    CommandKind::new::<view::View>(),
    CommandKind::new::<proxy::Proxy>(),
    CommandKind::new::<verify::Verify>(),
    CommandKind::new::<trace_from::TraceFrom>(),
    CommandKind::new::<import::Import>(),
    CommandKind::new::<show::Show>(),
    CommandKind::new::<compare::Compare>(),
    CommandKind::new::<model_baseline::ModelBaseline>(),
    CommandKind::new::<calibrate::Calibrate>(),
    CommandKind::new::<judge_check::CheckJudges>(),
    CommandKind::new::<plan_runs::PlanRuns>(),
    CommandKind::new::<tools::Tools>(),
    CommandKind::new::<call::Call>(),
    CommandKind::new::<check::Check>(),
    CommandKind::new::<lint_tools::LintTools>(),
    CommandKind::new::<tool_bench::ToolBench>(),
    CommandKind::new::<mock::Mock>(),
    CommandKind::new::<mcp::Mcp>(),
    CommandKind::new::<explain::Explain>(),
    CommandKind::new::<schema::Schema>(),
    CommandKind::new::<completions::Completions>(),
    CommandKind::new::<man::Man>(),
    CommandKind::new::<bridge::Bridge>(),
];

/// The gates that suites may use, in the order of reports and of the documentation.
pub const GATES: Gates = mcptest_core::eval::GATES;

/// The program.
pub const PROGRAM: Program = Program::new(COMMANDS, GATES);
