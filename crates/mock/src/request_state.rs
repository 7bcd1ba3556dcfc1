//! `requestState`: what must a stateless server receive again, and was it changed on the way?

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value;
use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};

/// The progress of a call with requests to the client: the round, and the answers so far.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub(super) struct RequestState {
    pub(super) round: usize,
    pub(super) answers: BTreeMap<String, Value>,
    /// The call: a state belongs to only one call.
    pub(super) call: String,
}

/// Signs states with a key that lives as long as the process.
#[derive(Debug, Default)]
pub(super) struct Signer(RandomState, RandomState);

impl Signer {
    pub(super) fn sign(&self, state: &RequestState) -> String {
        let body = URL_SAFE_NO_PAD.encode(serde_json::to_string(state).unwrap_or_default());
        format!("{body}.{}", self.signature(&body))
    }

    /// The state, unless it was not signed here.
    pub(super) fn read(&self, text: &str) -> Option<RequestState> {
        let (body, signature) = text.split_once('.')?;
        if signature != self.signature(body) {
            return None;
        }
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(body).ok()?).ok()
    }

    fn signature(&self, body: &str) -> String {
        format!(
            "{:016x}{:016x}",
            self.0.hash_one(body),
            self.1.hash_one(body)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_read_back_and_a_changed_one_is_not() {
        let signer = Signer::default();
        let state = RequestState {
            round: 1,
            answers: BTreeMap::new(),
            call: "x".into(),
        };
        let text = signer.sign(&state);
        assert_eq!(signer.read(&text), Some(state));
        assert_eq!(signer.read(&format!("{text}-TAMPERED")), None);
        assert_eq!(signer.read(&text.replacen(&text[..1], "_", 1)), None);
        assert_eq!(Signer::default().read(&text), None);
    }
}
