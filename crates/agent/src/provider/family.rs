//! Which API does a provider implement, and which address and key are its defaults?

use crate::dialect::{self, Dialect};
use mcptest_core::provider::{FAMILIES, Family, KINDS};

/// The family of a model, by its id.
pub(super) fn of_model(id: &str) -> Option<(&'static Dialect, &'static Family)> {
    let family = Family::of_model(id)?;
    Some((dialect::find(family.kind)?, family))
}

/// The dialect of a provider's `type:`, and its family.
pub(super) fn of_type(kind: &str) -> Option<(&'static Dialect, &'static Family)> {
    let kind = KINDS.iter().find(|known| known.name == kind)?;
    Some((
        dialect::find(kind.name)?,
        FAMILIES.iter().find(|family| family.name == kind.family)?,
    ))
}

/// All prefixes, for display.
pub(super) fn prefixes() -> String {
    FAMILIES
        .iter()
        .map(Family::shown_prefixes)
        .collect::<Vec<_>>()
        .join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_has_a_dialect_that_sends_where_it_says() {
        for kind in KINDS {
            let (dialect, _) = of_type(kind.name).unwrap();
            assert_eq!(
                format!("/{}/{}", dialect.version, (dialect.path)("{id}")),
                kind.path
            );
        }
        assert_eq!(dialect::DIALECTS.len(), KINDS.len());
    }

    #[test]
    fn gpt_models_speak_responses_and_a_provider_of_type_openai_chat_completions() {
        assert_eq!(of_model("gpt-5").unwrap().0.name, "openai-responses");
        assert_eq!(of_type("openai").unwrap().0.name, "openai");
    }
}
