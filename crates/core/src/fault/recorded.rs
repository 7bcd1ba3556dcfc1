//! Which kind of fault does a recording name?

use super::kind::{Effect, FaultEntry, FaultKind};
use super::parse::{find, split};
use serde::{Deserialize, Deserializer};
use std::borrow::Cow;
use std::fmt;

/// The kind of a recorded fault: a known kind, with or without its number, or a foreign word.
#[derive(Debug, Clone)]
pub struct RecordedKind<'a> {
    written: Cow<'a, str>,
    entry: Option<&'static FaultEntry>,
}

impl<'a> From<Cow<'a, str>> for RecordedKind<'a> {
    fn from(written: Cow<'a, str>) -> Self {
        Self {
            entry: find(split(&written).0),
            written,
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for RecordedKind<'a> {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Borrowed<'b>(#[serde(borrow)] Cow<'b, str>);
        Borrowed::deserialize(reader).map(|text| text.0.into())
    }
}

/// Its recorded spelling.
impl fmt::Display for RecordedKind<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.written)
    }
}

impl RecordedKind<'_> {
    /// The effect on a call. `None` for unknown kinds, and for kinds that exist only on the wire.
    pub(crate) fn effect(&self) -> Option<Effect> {
        self.entry.and_then(|entry| entry.effect)
    }

    /// The number after the colon.
    pub(crate) fn number(&self) -> Option<u64> {
        split(&self.written).1?.parse().ok()
    }

    /// Returns true if an affected call can succeed: a late answer is an answer, a server may have
    /// recovered, or a rate limit may not be reached.
    pub(crate) fn may_succeed(&self) -> bool {
        let is_of_some_calls = self.entry.is_some_and(|entry| {
            matches!(
                entry.example,
                FaultKind::RecoverAfter { .. } | FaultKind::RateLimit { .. }
            )
        });
        is_of_some_calls || !matches!(self.effect(), Some(Effect::Silence | Effect::Refusal))
    }

    /// Returns true if this is the fault, or its kind without the number.
    pub fn is(&self, fault: FaultKind) -> bool {
        let is_bare =
            || !self.written.contains(':') && self.entry.is_some_and(|it| it.name == fault.name());
        self.written.parse() == Ok(fault) || is_bare()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recorded_kind_has_its_effect_with_or_without_a_number() {
        let effect = |written: &'static str| RecordedKind::from(Cow::from(written)).effect();
        assert_eq!(effect("recover_after"), Some(Effect::Silence));
        assert_eq!(effect("slow:9000"), Some(Effect::Delay));
        assert_eq!((effect("http-500"), effect("wrong-id")), (None, None));
    }

    #[test]
    fn a_recorded_kind_fits_a_fault_with_its_number_or_without_one() {
        let is = |written: &'static str| {
            RecordedKind::from(Cow::from(written)).is(FaultKind::RecoverAfter { failures: 2 })
        };
        assert!(is("recover_after:2") && is("recover-after"));
        assert!(!is("recover-after:3") && !is("hang") && !is("http-500"));
    }
}
