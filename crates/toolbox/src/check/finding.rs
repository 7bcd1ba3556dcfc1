//! What is the result of a probe?

/// A message, its answer, and their meaning.
#[derive(Debug, Clone)]
pub(super) struct Finding {
    /// The message.
    pub(super) sent: String,
    /// The answer.
    pub(super) came: String,
    /// The meaning.
    pub(super) verdict: Verdict,
}

/// The meaning of a probe for the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The server met the rule.
    Held,
    /// The server violated the specification.
    Broken(String),
    /// The server did not follow a recommendation of the specification.
    Weak(String),
}

impl Finding {
    /// The server met the rule.
    pub(super) fn held() -> Self {
        Self {
            sent: String::new(),
            came: String::new(),
            verdict: Verdict::Held,
        }
    }

    /// The server broke a rule.
    pub(super) fn broken(why: impl Into<String>) -> Self {
        Self {
            verdict: Verdict::Broken(why.into()),
            ..Self::held()
        }
    }

    /// The server did not follow a recommendation.
    pub(super) fn weak(why: impl Into<String>) -> Self {
        Self {
            verdict: Verdict::Weak(why.into()),
            ..Self::held()
        }
    }

    /// The first broken finding, otherwise the first weak one, otherwise a passed one.
    pub(super) fn worst(findings: impl IntoIterator<Item = Verdict>) -> Self {
        let mut worst = Verdict::Held;
        for verdict in findings {
            match (&worst, &verdict) {
                (Verdict::Held, _) | (Verdict::Weak(_), Verdict::Broken(_)) => worst = verdict,
                _ => {}
            }
        }
        Self {
            verdict: worst,
            ..Self::held()
        }
    }

    /// Adds what was sent.
    pub(super) fn sent(mut self, text: impl AsRef<str>) -> Self {
        text.as_ref().clone_into(&mut self.sent);
        self
    }

    /// Adds what was received.
    pub(super) fn came(mut self, text: impl AsRef<str>) -> Self {
        text.as_ref().clone_into(&mut self.came);
        self
    }
}
