//! How long after one moment is another one, both as written in a transcript?

use chrono::DateTime;

/// The milliseconds from one RFC 3339 time to another. `None` for another notation, and for a time
/// before the first.
pub(crate) fn milliseconds_between(first: &str, last: &str) -> Option<u64> {
    let moment = |text: &str| DateTime::parse_from_rfc3339(text).ok();
    let passed = moment(last)?.signed_duration_since(moment(first)?);
    u64::try_from(passed.num_milliseconds()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_two_times_in_order_have_a_duration() {
        let early = "2026-11-19T21:00:00.100Z";
        assert_eq!(
            milliseconds_between(early, "2026-11-19T22:00:01.350+01:00"),
            Some(1250)
        );
        assert_eq!(milliseconds_between("2026-11-19T21:00:01Z", early), None);
        assert_eq!(milliseconds_between(early, "soon"), None);
    }
}
