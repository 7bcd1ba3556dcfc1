//! `mcptest plan-runs`: how many runs does a claim take?

use clap::{ArgGroup, Args};
use mcptest_command::{Failure, Group, Program, RunCommand, output};
use mcptest_core::eval::stats::{Decimal, min_runs_for_floor, recommend_runs_exactly};
use mcptest_core::words::count;

/// Arguments of `plan-runs`.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("goal").required(true).args(["half_width", "floor"]))]
pub(crate) struct PlanRuns {
    /// Estimate the pass rate to within WIDTH of the true one, such as 0.05.
    #[arg(long, value_name = "WIDTH", allow_negative_numbers = true)]
    half_width: Option<Decimal>,
    /// Certify a pass rate of at least RATE, such as 0.9.
    #[arg(long, value_name = "RATE", allow_negative_numbers = true)]
    floor: Option<Decimal>,
    /// Allow N runs to fail [default: 0].
    #[arg(long, value_name = "N", conflicts_with = "half_width")]
    failures: Option<u64>,
    /// Confidence in percent: 90, 95 or 99.
    #[arg(long, value_name = "PERCENT", default_value_t = 95)]
    confidence: u32,
}

impl RunCommand for PlanRuns {
    const NAME: &'static str = "plan-runs";
    const GROUP: Group = Group::Compare;
    const SUMMARY: &'static str = "Calculate how many runs a claim about an agent needs";
    const EXAMPLE: &'static str = "mcptest plan-runs --floor 0.9";

    /// Prints only the number on the first line, for scripts; then its meaning.
    fn run(self, _program: &Program) -> Result<u8, Failure> {
        let text = match (self.half_width, self.floor) {
            (Some(half_width), _) => for_half_width(half_width, self.confidence)?,
            (None, Some(floor)) => for_floor(floor, self.failures.unwrap_or(0), self.confidence)?,
            (None, None) => return Err(Failure::new("name a `--half-width` or a `--floor`")),
        };
        output::stdout(text.as_bytes())?;
        Ok(0)
    }
}

fn for_half_width(half_width: Decimal, confidence: u32) -> Result<String, Failure> {
    let runs = recommend_runs_exactly(half_width, confidence)?;
    Ok(format!(
        "{runs}\nAfter {}, the observed pass rate is within {} of the true one at {confidence}% \
        confidence.\nThis is the worst case, a true rate of 0.5; at any other rate the interval \
        is narrower.\n",
        count(runs as usize, "run"),
        half_width.as_f64(),
    ))
}

fn for_floor(floor: Decimal, failures: u64, confidence: u32) -> Result<String, Failure> {
    if !matches!(confidence, 90 | 95 | 99) {
        return Err(Failure::new(format!(
            "the confidence must be 90, 95 or 99 percent, not {confidence}"
        )));
    }
    let runs = min_runs_for_floor(floor.as_f64(), failures, f64::from(confidence) / 100.0)?;
    let failed = match failures {
        0 => "without a failure".to_owned(),
        some => format!("with {}", count(some as usize, "failure")),
    };
    Ok(format!(
        "{runs}\n\
         {} {failed} certify a pass rate of at least {} at {confidence}% confidence (one-sided, exact).\n",
        count(runs as usize, "run"),
        floor.as_f64(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first_line(text: Result<String, Failure>) -> String {
        text.unwrap().lines().next().unwrap().to_owned()
    }

    #[test]
    fn the_number_stands_alone_on_the_first_line() {
        assert_eq!(
            first_line(for_half_width("0.05".parse().unwrap(), 95)),
            "385"
        );
        assert_eq!(first_line(for_floor("0.9".parse().unwrap(), 0, 95)), "29");
        assert_eq!(first_line(for_floor("0.9".parse().unwrap(), 1, 95)), "46");
    }

    #[test]
    fn a_half_width_is_not_rounded_on_its_way() {
        assert_eq!(
            first_line(for_half_width("0.049999999999999999".parse().unwrap(), 95)),
            "385"
        );
        assert_eq!(
            first_line(for_half_width("0.0979999999999999999".parse().unwrap(), 95)),
            "101"
        );
        assert_eq!(
            first_line(for_half_width("0.098".parse().unwrap(), 95)),
            "100"
        );
    }

    #[test]
    fn what_cannot_be_planned_is_refused() {
        for half_width in ["0", "-1", "0.000000001"] {
            assert!(
                for_half_width(half_width.parse().unwrap(), 95).is_err(),
                "{half_width}"
            );
        }
        assert!(for_half_width("0.05".parse().unwrap(), 80).is_err());
        for floor in ["0", "1", "1.5", "-0.1"] {
            assert!(for_floor(floor.parse().unwrap(), 0, 95).is_err(), "{floor}");
        }
        assert!(for_floor("0.9".parse().unwrap(), 0, 42).is_err());
    }
}
