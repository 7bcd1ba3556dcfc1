//! What does a fault do to an answer?

use crate::jsonrpc::{self, Id};

/// The effect of a fault on an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ReplyFault {
    /// The answer is sent.
    #[default]
    Whole,
    /// The answer is never sent.
    Lost,
    /// The answer is sent as broken JSON.
    Malformed,
    /// The answer is sent with an unknown id.
    WrongId,
    /// The answer is sent twice.
    Twice,
}

impl ReplyFault {
    /// The texts to send instead of an answer.
    pub fn texts(self, answer: String) -> Vec<String> {
        match self {
            Self::Whole => vec![answer],
            Self::Lost => Vec::new(),
            Self::Malformed => vec![broken(&answer)],
            Self::WrongId => vec![with_wrong_id(&answer)],
            Self::Twice => vec![answer.clone(), answer],
        }
    }
}

/// The answer without its second half, like a truncated buffer.
fn broken(answer: &str) -> String {
    let mut end = answer.len() / 2;
    while !answer.is_char_boundary(end) {
        end -= 1;
    }
    answer[..end].to_owned()
}

fn with_wrong_id(answer: &str) -> String {
    jsonrpc::with_id(answer, |id| match id {
        Some(Id::Number(number)) => number.wrapping_add(1_000_003).to_string(),
        Some(Id::Text(text)) => jsonrpc::text(&format!("{text}-wrong")),
        None => "1000003".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jsonrpc::{Body, parse};

    const ANSWER: &str = r#"{"jsonrpc":"2.0","id":7,"result":{"id":7,"text":"ü"}}"#;

    #[test]
    fn a_wrong_id_changes_the_messages_own_id_and_nothing_else() {
        let texts = ReplyFault::WrongId.texts(ANSWER.to_owned());
        let Body::Result { id, result } = parse(&texts[0]).unwrap().body else {
            panic!("{texts:?}")
        };
        assert_eq!(id, Id::Number(1_000_010));
        assert_eq!(result.get(), r#"{"id":7,"text":"ü"}"#);
        let named =
            ReplyFault::WrongId.texts(r#"{"result":1,"jsonrpc":"2.0","id":"a\"b"}"#.to_owned());
        assert_eq!(named, [r#"{"result":1,"jsonrpc":"2.0","id":"a\"b-wrong"}"#]);
    }

    #[test]
    fn a_malformed_answer_is_not_json_wherever_it_is_cut() {
        for length in 0..8 {
            let answer = format!(
                r#"{{"jsonrpc":"2.0","id":7,"result":"{}"}}"#,
                "ü".repeat(length)
            );
            let texts = ReplyFault::Malformed.texts(answer);
            assert!(parse(&texts[0]).is_err(), "{texts:?}");
        }
    }

    #[test]
    fn an_answer_comes_once_twice_or_never() {
        let count = |reply: ReplyFault| reply.texts(ANSWER.to_owned()).len();
        assert_eq!(
            (
                count(ReplyFault::Whole),
                count(ReplyFault::Twice),
                count(ReplyFault::Lost)
            ),
            (1, 2, 0)
        );
    }
}
