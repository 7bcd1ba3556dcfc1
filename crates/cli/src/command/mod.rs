//! One file per command.

pub(crate) mod bridge;
mod calibrate;
mod call;
pub(crate) mod check;
mod check_secrets;
pub(crate) mod compare;
mod compare_side;
mod completions;
mod dry_run;
mod eval;
pub(crate) mod explain;
pub(crate) mod import;
mod init;
mod json_order;
pub(crate) mod judge_check;
pub(crate) mod lint_tools;
mod man;
mod mcp;
pub(crate) mod mock;
pub(crate) mod model_baseline;
mod pages;
mod plan_runs;
pub(crate) mod proxy;
mod report;
mod run;
mod schema;
mod server;
mod show;
mod suites;
mod surface;
mod tape;
pub(crate) mod tool_bench;
mod tools;
pub(crate) mod trace_from;
mod update;
mod validate;
pub(crate) mod verify;
pub(crate) mod view;
mod watch;

pub(crate) use report::AUTO;

use crate::args::{Args, Colour, Command, Scenario};
use crate::output::Failure;

/// Does what was asked for.
pub(crate) fn dispatch(args: Args) -> Result<u8, Failure> {
    // What reads the standard error of a server is a program.
    let is_server = matches!(args.command, Command::Mcp);
    crate::output::set_colour(if is_server { Colour::Never } else { args.color });
    match args.command {
        Command::Run(run) => run::run(&run.0, |_, _| true),
        Command::Scenario(scenario) => {
            let Scenario::Run(run) = *scenario.0;
            run::run(&run, run::is_of_world)
        }
        Command::Eval(eval) => eval::run(&eval.0),
        Command::Validate(validate) => validate::run(&validate.0),
        Command::Schema(schema) => schema::run(&schema.0),
        Command::Show(show) => show::run(&show.0),
        Command::Explain(explain) => explain::run(&explain.0),
        Command::Report(report) => report::run(&report.0),
        Command::View(view) => view::run(&view.0),
        Command::JudgeCheck(judges) => judge_check::run(&judges.0),
        Command::Calibrate(calibrate) => calibrate::run(&calibrate.0),
        Command::ModelBaseline(baseline) => model_baseline::run(&baseline.0),
        Command::Compare(compare) => compare::run(&compare.0),
        Command::PlanRuns(plan) => plan_runs::run(&plan.0),
        Command::Tools(tools) => tools::run(&tools.0),
        Command::LintTools(lint) => lint_tools::run(&lint.0),
        Command::ToolBench(bench) => tool_bench::run(&bench.0),
        Command::Call(call) => call::run(&call.0),
        Command::Check(check) => check::run(&check.0),
        Command::Init(init) => init::run(*init.0),
        Command::Mock(mock) => mock::run(&mock.0),
        Command::Mcp => mcp::run(),
        Command::Proxy(proxy) => proxy::run(*proxy.0),
        Command::Verify(verify) => verify::run(*verify.0),
        Command::TraceFrom(trace) => trace_from::run(*trace.0),
        Command::Import(import) => import::run(&import.0),
        Command::Completions { shell } => completions::run(shell),
        Command::Man { folder } => man::run(&folder),
        Command::Bridge(bridge) => bridge::run(&bridge.0),
    }
}
