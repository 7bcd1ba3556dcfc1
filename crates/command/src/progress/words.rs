//! How are tokens, dollars and lengths of time written for people?

pub use mcptest_core::words::{count_grouped, grouped};
use std::time::Duration;

/// `$12.40`, `$0.21`, `$0.003`: cents, or below ten cents two significant digits.
pub fn dollars(usd: f64) -> String {
    const MOST_DECIMALS: usize = 9;
    if !usd.is_finite() || usd <= 0.0 {
        return "$0".to_owned();
    }
    let zeros = (-usd.log10()).floor().max(0.0) as usize;
    let decimals = (zeros + 2).min(MOST_DECIMALS);
    let text = format!("{usd:.decimals$}");
    let (whole, cents) = text.split_once('.').unwrap_or((&text, ""));
    let kept = cents.trim_end_matches('0').len().max(2);
    let whole = whole.parse().map_or_else(|_| whole.to_owned(), grouped);
    format!("${whole}.{}", &cents[..kept])
}

/// `2.1 s`, `42 s`, `1 min 10 s`, `2 h 5 min`.
pub fn time(length: Duration) -> String {
    let seconds = length.as_secs_f64();
    if seconds < 9.95 {
        return format!("{seconds:.1} s");
    }
    let seconds = seconds.round() as u64;
    let (large, small, words) = match seconds {
        ..60 => return format!("{seconds} s"),
        60..3600 => (seconds / 60, seconds % 60, ("min", "s")),
        _ => (seconds / 3600, seconds % 3600 / 60, ("h", "min")),
    };
    match small {
        0 => format!("{large} {}", words.0),
        _ => format!("{large} {} {small} {}", words.0, words.1),
    }
}

/// A guessed length of time: in whole seconds, and above a minute in tens of them.
pub fn about(length: Duration) -> String {
    let seconds = length.as_secs_f64();
    let rounded = match seconds {
        ..1.0 => 1.0,
        1.0..60.0 => seconds.round(),
        60.0..3600.0 => (seconds / 10.0).round() * 10.0,
        _ => (seconds / 60.0).round() * 60.0,
    };
    match rounded as u64 {
        whole @ ..60 => format!("{whole} s"),
        more => time(Duration::from_secs(more)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_set_apart() {
        let shown = [0, 999, 1_000, 52_110, 1_234_567].map(grouped);
        assert_eq!(shown, ["0", "999", "1,000", "52,110", "1,234,567"]);
        assert_eq!(
            (count_grouped(1, "run"), count_grouped(2_000, "run")),
            ("1 run".to_owned(), "2,000 runs".to_owned())
        );
    }

    #[test]
    fn dollars_have_as_many_digits_as_say_something() {
        let shown = [
            0.0,
            0.003,
            0.0312,
            0.21,
            0.2,
            1.0,
            12.4,
            0.999_9,
            1234.5,
            0.000_004_21,
        ]
        .map(dollars);
        let said = [
            "$0",
            "$0.003",
            "$0.031",
            "$0.21",
            "$0.20",
            "$1.00",
            "$12.40",
            "$1.00",
            "$1,234.50",
            "$0.0000042",
        ];
        assert_eq!(shown, said);
        assert_eq!(dollars(f64::NAN), "$0");
    }

    #[test]
    fn times_are_in_the_units_that_people_use() {
        let shown = [
            40, 2_100, 9_960, 42_000, 60_000, 70_000, 3_600_000, 7_530_000,
        ];
        let shown = shown.map(|ms| time(Duration::from_millis(ms)));
        assert_eq!(
            shown,
            [
                "0.0 s",
                "2.1 s",
                "10 s",
                "42 s",
                "1 min",
                "1 min 10 s",
                "1 h",
                "2 h 5 min"
            ]
        );
    }

    #[test]
    fn a_guess_pretends_no_precision() {
        let shown = [0, 12_400, 59_700, 64_000, 3_599_000, 5_000_000]
            .map(|ms| about(Duration::from_millis(ms)));
        assert_eq!(
            shown,
            ["1 s", "12 s", "1 min", "1 min", "1 h", "1 h 23 min"]
        );
    }
}
