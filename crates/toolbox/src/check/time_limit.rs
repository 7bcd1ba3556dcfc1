//! How long may the whole check take, and how long one of its probes?

use mcptest_mcp::client::ServerSpec;
use std::time::Duration;
use tokio::time::Instant;

/// The number of answers that one probe may wait for.
const ANSWERS_OF_A_PROBE: u32 = 5;
/// The number of times that one probe may start the server.
const STARTS_OF_A_PROBE: u32 = 2;
/// The time for all probes together, unless the user limits the check. Checks of real servers take well below a minute.
const USUAL_LIMIT: Duration = Duration::from_secs(300);

/// The deadline of a check, which begins before the server starts.
pub(super) struct TimeLimit {
    whole: Duration,
    deadline: Instant,
    one_probe: Duration,
}

/// Why a probe has no result.
pub(super) struct TimedOut(pub(super) String);

impl TimeLimit {
    /// Starts the clock. Without a limit, the start of the server has its own limit, and all probes together have the
    /// usual one.
    pub(super) fn start(spec: &ServerSpec, limit: Option<Duration>) -> Self {
        let whole = limit.unwrap_or_else(|| spec.connect_timeout.saturating_add(USUAL_LIMIT));
        Self {
            whole,
            deadline: Instant::now() + whole,
            one_probe: spec.timeout.saturating_mul(ANSWERS_OF_A_PROBE),
        }
    }

    /// Gives each probe the time to start a server that takes this long to start.
    pub(super) fn allow_for_starts(&mut self, start: Duration) {
        self.one_probe += start.saturating_mul(STARTS_OF_A_PROBE);
    }

    /// Returns true if no time is left for another probe.
    pub(super) fn is_over(&self) -> bool {
        Instant::now() >= self.deadline
    }

    /// The message of a check that used all of its time.
    pub(super) fn message(&self) -> String {
        format!(
            "the time limit of the check, {} s, has passed",
            self.whole.as_secs_f64()
        )
    }

    /// Runs one probe until it ends, its own time is over, or the check's time is over.
    pub(super) async fn run_probe<T>(&self, probe: impl Future<Output = T>) -> Result<T, TimedOut> {
        let own = Instant::now() + self.one_probe;
        tokio::time::timeout_at(own.min(self.deadline), probe)
            .await
            .map_err(|_elapsed| {
                TimedOut(if own < self.deadline {
                    format!(
                        "the probe did not finish within {} s",
                        self.one_probe.as_secs_f64()
                    )
                } else {
                    format!("the probe did not finish: {}", self.message())
                })
            })
    }

    /// Runs work that no result depends on, such as the end of a server, until the time of the
    /// check is over.
    pub(super) async fn run_until_over(&self, work: impl Future) {
        let _elapsed = tokio::time::timeout_at(self.deadline, work).await;
    }
}
