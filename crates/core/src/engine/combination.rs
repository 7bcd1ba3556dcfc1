//! Which fault hits which call of a run?

use crate::fault::FaultKind;

/// One fault of a matrix: a kind, and the call of the run that it hits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Combination {
    /// The kind of the fault.
    pub kind: FaultKind,
    /// The call that fails, from 0 as in a trace.
    pub call_index: usize,
}

/// The name in recordings and reports, with the call counted from 1: `hang@1`.
impl std::fmt::Display for Combination {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}@{}", self.kind, self.call_index + 1)
    }
}

/// Parses the displayed form.
impl std::str::FromStr for Combination {
    type Err = ();

    fn from_str(written: &str) -> Result<Self, ()> {
        let (kind, call) = written.rsplit_once('@').ok_or(())?;
        let call: usize = call.parse().map_err(|_| ())?;
        let call_index = call.checked_sub(1).ok_or(())?;
        Ok(Self {
            kind: kind.parse().map_err(|_| ())?,
            call_index,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_combination_is_read_back_as_it_is_shown() {
        let shown = Combination {
            kind: FaultKind::Error { code: -32603 },
            call_index: 1,
        }
        .to_string();
        assert_eq!(shown, "error:-32603@2");
        assert_eq!(shown.parse::<Combination>().unwrap().to_string(), shown);
        for bad in ["hang", "hang@0", "hang@x", "hnag@1", "@1"] {
            assert!(bad.parse::<Combination>().is_err(), "{bad}");
        }
    }
}
