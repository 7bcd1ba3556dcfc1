//! What does a run cost?

use crate::price::{Prices, shipped_as_of, shipped_price};
use crate::trace::Run;
use thiserror::Error;

/// The missing fact that makes the cost of a run unknown.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(super) enum CostUnknown {
    #[error(
        "neither the recording nor the agent has the cost or the model, so the cost is unknown"
    )]
    Model,
    #[error(
        "no price is known for `{model}` in the table of {}, so the cost is unknown: add one under `prices:`",
        shipped_as_of()
    )]
    Price { model: String },
    #[error(
        "the trace records neither the cost nor prompt and completion tokens, so the cost is unknown"
    )]
    Tokens,
}

/// The cost of the run in USD: the trace's cost, otherwise its tokens at the model's price. The
/// error is the reason that the cost is unknown. The model is the recorded one, otherwise the
/// agent's.
pub(super) fn cost_of(
    run: &Run<'_>,
    own: &Prices,
    agents_model: Option<&str>,
) -> Result<f64, CostUnknown> {
    let conversation = &run.trace.conversation;
    let recorded = conversation.cost_usd;
    if let Some(cost) = recorded.filter(|cost| cost.is_finite() && *cost >= 0.0) {
        return Ok(cost);
    }
    let recorded_model = run.header.and_then(|header| header.model.as_deref());
    let model = recorded_model.or(agents_model).ok_or(CostUnknown::Model)?;
    let Some(price) = own.get(model).or_else(|| shipped_price(model)) else {
        let model = model.to_owned();
        return Err(CostUnknown::Price { model });
    };
    price
        .cost_usd(conversation.tokens)
        .ok_or(CostUnknown::Tokens)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{Header, Trace};

    fn cost(model: Option<&str>, conversation: &str) -> Result<f64, CostUnknown> {
        let text = format!(r#"{{"conversation": {conversation}}}"#);
        let trace = Trace::read(&text).unwrap();
        let header = Header {
            model: model.map(str::to_owned),
            ..Header::default()
        };
        cost_of(
            &Run {
                header: Some(&header),
                ..Run::new(&trace)
            },
            &Prices::default(),
            None,
        )
    }

    #[test]
    fn a_recorded_cost_wins_over_the_table() {
        let tokens = r#""tokens": {"prompt": 1000000, "completion": 100000}"#;
        assert_eq!(
            cost(Some("claude-sonnet-4-5"), &format!("{{{tokens}}}")),
            Ok(4.5)
        );
        assert_eq!(
            cost(
                Some("claude-sonnet-4-5"),
                &format!(r#"{{{tokens}, "cost_usd": 0.5}}"#)
            ),
            Ok(0.5)
        );
        assert_eq!(cost(None, r#"{"cost_usd": 0.25}"#), Ok(0.25));
    }

    #[test]
    fn what_is_not_known_has_no_cost() {
        let tokens = r#"{"tokens": {"prompt": 10, "completion": 1}}"#;
        let unknown = cost(Some("gateway/claude-sonnet-4-5"), tokens)
            .unwrap_err()
            .to_string();
        assert!(
            unknown.contains("no price is known for `gateway/claude-sonnet-4-5`"),
            "{unknown}"
        );
        assert!(cost(Some("claude-sonnet-4-5-next"), tokens).is_err());
        assert!(
            cost(None, tokens)
                .unwrap_err()
                .to_string()
                .contains("the cost or the model")
        );
        assert!(
            cost(Some("gpt-5"), r#"{"tokens": {"total": 11}}"#)
                .unwrap_err()
                .to_string()
                .contains("nor prompt")
        );
    }
}
