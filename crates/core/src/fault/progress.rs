//! Is this call struck, after all those before it?

use super::FaultKind;
use std::time::Duration;

/// The progress of a fault in one run or on one connection.
#[derive(Debug, Default)]
pub struct Progress {
    /// The number of affected calls.
    struck: u64,
    /// The start of the current second of a rate limit, and the calls in it.
    second: Option<(Duration, u64)>,
}

impl FaultKind {
    /// Returns true if it strikes a call at this time, counted from any fixed start.
    pub fn strikes(self, progress: &mut Progress, now: Duration) -> bool {
        let strikes = match self {
            Self::None => false,
            Self::RecoverAfter { failures } => progress.struck < failures,
            Self::RateLimit { per_second } => progress.count(now) > per_second,
            _ => true,
        };
        progress.struck += u64::from(strikes);
        strikes
    }

    /// Returns true if it affects a call in virtual time, in which each affected call takes a
    /// second.
    pub fn strikes_in_virtual_time(self, progress: &mut Progress) -> bool {
        let now = Duration::from_secs(progress.struck);
        self.strikes(progress, now)
    }
}

impl Progress {
    /// The number of calls in this second, including this one.
    fn count(&mut self, now: Duration) -> u64 {
        let (start, count) = self.second.get_or_insert((now, 0));
        if now.saturating_sub(*start) >= Duration::from_secs(1) {
            (*start, *count) = (now, 0);
        }
        *count += 1;
        *count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_past_the_rate_are_struck_until_the_second_is_over() {
        let mut progress = Progress::default();
        let limit = FaultKind::RateLimit { per_second: 2 };
        let mut at = |ms: u64| limit.strikes(&mut progress, Duration::from_millis(ms));
        assert_eq!(
            [at(5), at(10), at(20), at(1004)],
            [false, false, true, true]
        );
        assert_eq!([at(1005), at(1006), at(1007)], [false, false, true]);
    }

    #[test]
    fn in_virtual_time_a_refusal_ends_the_second() {
        let struck = |per_second: u64| {
            let mut progress = Progress::default();
            let limit = FaultKind::RateLimit { per_second };
            [(); 5].map(|()| limit.strikes_in_virtual_time(&mut progress))
        };
        assert_eq!(struck(1), [false, true, false, true, false]);
        assert_eq!(struck(0), [true; 5]);
    }

    #[test]
    fn what_recovers_strikes_the_first_calls() {
        let mut progress = Progress::default();
        let struck = [(); 4].map(|()| {
            FaultKind::RecoverAfter { failures: 2 }.strikes(&mut progress, Duration::default())
        });
        assert_eq!(struck, [true, true, false, false]);
    }
}
