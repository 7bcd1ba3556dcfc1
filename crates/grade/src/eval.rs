//! Which verdicts do recorded runs get after judges have graded them?

use crate::grade::{GradingContext, grade};
use crate::options::GradeOptions;
use mcptest_agent::Spending;
use mcptest_core::report::Report;
use mcptest_replay::{
    FreshRows, Interrupt, Interrupted, JudgeOptions, Plan, Secrets, Watch, judge_plan,
};

/// The options for grading and judging recorded runs.
#[derive(Debug, Clone, Copy)]
pub struct EvalOptions {
    /// The grades to request.
    pub grading: GradeOptions,
    /// The cost limit in dollars.
    pub max_cost_usd: Option<f64>,
    /// The options for judging the graded rows.
    pub judging: JudgeOptions,
}

/// The result of grading recorded runs and judging them.
#[derive(Debug)]
pub struct Evaluated {
    /// The verdict with its evidence.
    pub report: Report,
    /// The budget that ended the grading, and the amount spent, if so.
    pub over_budget: Option<String>,
}

/// Asks judges about the recorded runs of a plan, then judges every row.
pub fn eval(
    plan: &Plan<'_>,
    options: EvalOptions,
    watch: &Watch,
    interrupt: Interrupt,
) -> Result<Evaluated, Interrupted> {
    let (secrets, fresh) = (Secrets::default(), FreshRows::default());
    let spending = Spending::new(options.max_cost_usd);
    let context = GradingContext {
        secrets: &secrets,
        spending: &spending,
        watch,
        interrupt: &interrupt,
    };
    let graded = grade(plan, options.grading, &fresh, context)?;
    // Nothing is asked from here on, so a signal ends the program.
    drop(interrupt);
    Ok(Evaluated {
        report: judge_plan(plan, options.judging, &secrets, &fresh, &graded),
        over_budget: spending.stopped(),
    })
}
