//! Which grades do judges give to recorded runs, how reliable are the judges, and which gates
//! separate good runs from bad ones?

mod ask_judge;
mod calibrate;
pub mod calibration;
mod check;
mod command;
mod eval;
mod explain;
mod grade;
pub mod judge_quality;
mod keep;
mod options;
pub mod retell;
mod score;
pub mod show;

pub use calibrate::{Mislabelled, calibrate};
pub use check::{CheckOptions, Checked, PlannedCheck, UncheckedJudge, check, plan_check};
pub use command::{CALIBRATE, EVAL, JUDGE_CHECK};
pub use eval::{EvalOptions, Evaluated, eval};
pub use explain::{CheckPlan, plan};
pub use grade::{GradingContext, grade};
pub use options::{GradeOptions, WhichGrades};
