//! One file per command.

pub(crate) mod bridge;
mod calibrate;
mod call;
mod check_secrets;
mod completions;
mod dry_run;
mod eval;
mod explain;
pub(crate) mod import;
mod init;
mod json_order;
pub(crate) mod judge_check;
mod man;
pub(crate) mod mock;
pub(crate) mod model_baseline;
mod plan_runs;
pub(crate) mod proxy;
mod report;
mod run;
mod schema;
mod server;
mod show;
mod suites;
mod tape;
mod tools;
pub(crate) mod trace_from;
mod validate;
pub(crate) mod verify;

use crate::args::{Args, Command};
use crate::output::Failure;
use std::process::ExitCode;

/// Does what was asked for.
pub(crate) fn dispatch(args: Args) -> Result<ExitCode, Failure> {
    crate::output::set_colour(args.color);
    match args.command {
        Command::Run(run) => run::run(*run, args.color),
        Command::Eval(eval) => eval::run(*eval, args.color),
        Command::Validate(validate) => validate::run(&validate, args.color),
        Command::Schema(schema) => schema::run(&schema),
        Command::Show(show) => show::run(&show, args.color),
        Command::Explain(explain) => explain::run(&explain),
        Command::Report(report) => report::run(&report, args.color),
        Command::JudgeCheck(judges) => judge_check::run(&judges, args.color),
        Command::Calibrate(calibrate) => calibrate::run(&calibrate, args.color),
        Command::ModelBaseline(baseline) => model_baseline::run(&baseline, args.color),
        Command::PlanRuns(plan) => plan_runs::run(&plan),
        Command::Tools(tools) => tools::run(&tools, args.color),
        Command::Call(call) => call::run(&call, args.color),
        Command::Init(init) => init::run(*init),
        Command::Mock(mock) => mock::run(&mock, args.color),
        Command::Proxy(proxy) => proxy::run(proxy),
        Command::Verify(verify) => verify::run(verify),
        Command::TraceFrom(trace) => trace_from::run(trace),
        Command::Import(import) => import::run(&import),
        Command::Completions { shell } => completions::run(shell),
        Command::Man { folder } => man::run(&folder),
        Command::Bridge(bridge) => bridge::run(&bridge),
    }
}
