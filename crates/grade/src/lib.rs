//! Which grades do judges give to recorded runs, how reliable are the judges, and which gates tell good runs from bad
//! ones?

mod ask_judge;
mod calibrate;
mod check;
mod command;
mod eval;
mod explain;
mod grade;
mod keep;
mod options;
mod score;

pub use calibrate::{Mislabelled, calibrate};
pub use check::{CheckOptions, Checked, PlannedCheck, UncheckedJudge, check, plan_check};
pub use command::{CALIBRATE, EVAL, JUDGE_CHECK};
pub use eval::{EvalOptions, Evaluated, eval};
pub use explain::{CheckPlan, plan};
pub use grade::{GradingContext, grade};
pub use options::{GradeOptions, WhichGrades};
