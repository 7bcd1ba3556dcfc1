//! How often is a request tried, and how long is the wait between?

use std::time::Duration;
use tokio::time::Instant;

/// The retry policy for one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// The most tries.
    pub tries: u32,
    /// The wait after the first try. It doubles after each further try.
    pub first_wait: Duration,
    /// The longest wait, unless the provider requests a longer one.
    pub longest_wait: Duration,
}

/// The deadlines of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadlines {
    /// The deadline of the whole run.
    pub run: Instant,
    /// The time limit of each try.
    pub answer: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            tries: 5,
            first_wait: Duration::from_secs(1),
            longest_wait: Duration::from_secs(30),
        }
    }
}

impl RetryPolicy {
    /// The wait after a try (from 1): randomly between half and all of the doubled wait, so that
    /// clients do not retry together.
    pub(super) fn wait(&self, attempt: u32) -> Duration {
        let doubled = self
            .first_wait
            .saturating_mul(1 << attempt.saturating_sub(1).min(20));
        doubled
            .min(self.longest_wait)
            .mul_f64(0.5 + fastrand::f64() / 2.0)
    }
}

/// A requested wait, with up to a tenth added.
pub(super) fn with_jitter(wait: Duration) -> Duration {
    wait.saturating_add(
        wait.min(Duration::from_secs(60))
            .mul_f64(fastrand::f64() / 10.0),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_within_their_jitter_up_to_the_longest() {
        let retry = RetryPolicy::default();
        for (attempt, whole) in [
            (1, 1.0),
            (2, 2.0),
            (3, 4.0),
            (4, 8.0),
            (6, 30.0),
            (40, 30.0),
        ] {
            for _ in 0..100 {
                let wait = retry.wait(attempt).as_secs_f64();
                assert!(wait >= whole / 2.0 && wait <= whole, "{attempt}: {wait}");
            }
        }
        assert_ne!(retry.wait(4), retry.wait(4));
    }

    #[test]
    fn a_wait_that_was_asked_for_is_never_cut_short() {
        for _ in 0..100 {
            let wait = with_jitter(Duration::from_secs(10));
            assert!(
                wait >= Duration::from_secs(10) && wait <= Duration::from_secs(11),
                "{wait:?}"
            );
        }
    }
}
