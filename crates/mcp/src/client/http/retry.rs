//! `Retry-After`: how long does the server want us to wait?

use std::time::Duration;

/// The wait, when it is given in seconds. A date is reported as it is, not waited for.
pub(super) fn wait(text: &str) -> Option<Duration> {
    let seconds: f64 = text.trim().parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_seconds_are_waited_for() {
        assert_eq!(wait("2"), Some(Duration::from_secs(2)));
        assert_eq!(wait("-1"), None);
        assert_eq!(wait("Wed, 21 Oct 2026 07:28:00 GMT"), None);
    }
}
