//! How often is a request tried, and how long is the wait between?

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The limits to the tries of one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// The most tries.
    pub tries: u32,
    /// The wait after the first; it doubles after each other one.
    pub first_wait: Duration,
    /// The longest wait, unless the provider asks for a longer one.
    pub longest_wait: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { tries: 5, first_wait: Duration::from_secs(1), longest_wait: Duration::from_secs(30) }
    }
}

impl Patience {
    /// The wait after a try (from 1): between half and the whole of the doubled one, so that many do not come back at
    /// once.
    pub(super) fn wait(&self, attempt: u32, dice: &AtomicU64) -> Duration {
        let doubled = self.first_wait.saturating_mul(1 << attempt.saturating_sub(1).min(20));
        doubled.min(self.longest_wait).mul_f64(0.5 + roll(dice) / 2.0)
    }
}

/// A wait that was asked for, and up to a tenth more.
pub(super) fn told(wait: Duration, dice: &AtomicU64) -> Duration {
    wait.saturating_add(wait.min(Duration::from_secs(60)).mul_f64(roll(dice) / 10.0))
}

/// Where the dice start: elsewhere for each provider.
pub(super) fn seed(name: &str, base: &str) -> u64 {
    let bytes = name.bytes().chain(base.bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
        | 1
}

/// A number from 0 to 1, by xorshift.
fn roll(dice: &AtomicU64) -> f64 {
    let next = |mut x: u64| {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        x
    };
    let before = dice.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |x| Some(next(x)));
    let value = next(before.unwrap_or(1));
    (value >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_within_their_jitter_up_to_the_longest() {
        let patience = Patience::default();
        let dice = AtomicU64::new(seed("anthropic", "https://api.anthropic.com"));
        for (attempt, whole) in [(1, 1.0), (2, 2.0), (3, 4.0), (4, 8.0), (6, 30.0), (40, 30.0)] {
            for _ in 0..100 {
                let wait = patience.wait(attempt, &dice).as_secs_f64();
                assert!(wait >= whole / 2.0 && wait <= whole, "{attempt}: {wait}");
            }
        }
        assert_ne!(patience.wait(4, &dice), patience.wait(4, &dice));
    }

    #[test]
    fn a_wait_that_was_asked_for_is_never_cut_short() {
        let dice = AtomicU64::new(7);
        for _ in 0..100 {
            let wait = told(Duration::from_secs(10), &dice);
            assert!(wait >= Duration::from_secs(10) && wait <= Duration::from_secs(11), "{wait:?}");
        }
    }
}
