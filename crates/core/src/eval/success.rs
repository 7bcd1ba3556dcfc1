//! `successful:` which calls came to something?

use crate::matcher::Matcher;
use crate::suite::read::Field;
use crate::trace::CallResult;
use serde_json::Value;

/// What a call must have come to in order to count.
#[derive(Debug)]
pub(super) struct Success {
    /// What the result must say besides being no error.
    result: Option<Matcher>,
}

impl Success {
    /// `true`, `false` for none, or a matcher.
    pub(super) fn read(field: &mut Field<'_>) -> Option<Self> {
        let wanted = "`true`, `false` or a matcher for the text of a result";
        field.shapes(wanted, |shapes| {
            shapes.scalar(|field| field.flag_among(wanted)?.then_some(Self { result: None }));
            shapes.map(|field| {
                Some(Self {
                    result: Some(Matcher::read(field)?),
                })
            });
        })
    }

    /// Whether a call with this result came to something.
    pub(super) fn holds(&self, result: &CallResult<'_>) -> bool {
        if result.is_failure() {
            return false;
        }
        self.result
            .as_ref()
            .is_none_or(|matcher| match result.text() {
                Some(text) => matcher.diff(&Value::String(text)).is_empty(),
                None => matcher.accepts_absence(),
            })
    }
}
