//! How long does the provider want us to wait?

use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};
use serde_json::Value;
use std::time::{Duration, SystemTime};

/// The longest accepted delay.
const LONGEST: Duration = Duration::from_secs(30 * 24 * 3600);

/// The wait that an answer requests: `retry-after-ms`, `Retry-After` in seconds or as a date, or
/// the `retryDelay` of a Google error.
pub(super) fn wait(headers: &HeaderMap, body: &str, now: SystemTime) -> Option<Duration> {
    written(headers, body, now).map(|wait| wait.min(LONGEST))
}

fn written(headers: &HeaderMap, body: &str, now: SystemTime) -> Option<Duration> {
    let text = |name: &'static str| mcptest_http::header_text(headers, name);
    let millis = text("retry-after-ms").and_then(|text| text.parse::<f64>().ok());
    if let Some(wait) = millis.and_then(|millis| Duration::try_from_secs_f64(millis / 1000.0).ok())
    {
        return Some(wait);
    }
    let Some(after) = text(RETRY_AFTER.as_str()) else {
        return retry_delay(body);
    };
    if let Ok(seconds) = after.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let then = httpdate::parse_http_date(after).ok()?;
    // The provider's own clock, where it shows it: ours may be wrong.
    let now = text(DATE.as_str())
        .and_then(|date| httpdate::parse_http_date(date).ok())
        .unwrap_or(now);
    Some(then.duration_since(now).unwrap_or_default())
}

fn retry_delay(body: &str) -> Option<Duration> {
    let value: Value = serde_json::from_str(body).ok()?;
    let details = value.get("error")?.get("details")?.as_array()?;
    let delay = details
        .iter()
        .find_map(|detail| detail.get("retryDelay")?.as_str())?;
    Duration::try_from_secs_f64(delay.strip_suffix('s')?.parse().ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use reqwest::header::{HeaderName, HeaderValue};

    fn asked(headers: &[(&'static str, &'static str)], body: &str) -> Option<Duration> {
        let pair = |(name, value): &(&'static str, &'static str)| {
            (
                HeaderName::from_static(name),
                HeaderValue::from_static(value),
            )
        };
        let now = httpdate::parse_http_date("Wed, 21 Oct 2026 07:28:00 GMT").unwrap();
        wait(&headers.iter().map(pair).collect(), body, now)
    }

    #[test]
    fn the_wait_is_read_in_every_form() {
        let seconds = |seconds| Some(Duration::from_secs(seconds));
        assert_eq!(asked(&[("retry-after", "2")], ""), seconds(2));
        assert_eq!(
            asked(&[("retry-after", "0.5")], ""),
            Some(Duration::from_millis(500))
        );
        assert_eq!(
            asked(&[("retry-after", "9"), ("retry-after-ms", "250")], ""),
            Some(Duration::from_millis(250))
        );
        assert_eq!(
            asked(&[("retry-after", "Wed, 21 Oct 2026 07:28:30 GMT")], ""),
            seconds(30)
        );
        assert_eq!(
            asked(&[("retry-after", "Wed, 21 Oct 2026 07:00:00 GMT")], ""),
            seconds(0)
        );
        let dates = [
            ("retry-after", "Wed, 21 Oct 2026 08:00:05 GMT"),
            ("date", "Wed, 21 Oct 2026 08:00:00 GMT"),
        ];
        assert_eq!(asked(&dates, ""), seconds(5));
        let body = r#"{"error":{"code":429,"details":[{"@type":"x"},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"37s"}]}}"#;
        assert_eq!(asked(&[], body), seconds(37));
    }

    #[test]
    fn nothing_sensible_is_no_wait() {
        for text in ["-1", "soon", "NaN", "1e400"] {
            assert_eq!(asked(&[("retry-after", text)], ""), None, "{text}");
        }
        assert_eq!(asked(&[], "<html>"), None);
        assert_eq!(
            asked(&[("retry-after", "99999999999999999")], ""),
            Some(LONGEST)
        );
    }
}
