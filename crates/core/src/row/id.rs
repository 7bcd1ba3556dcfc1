//! Which row of a suite is meant?

use super::{AgentRow, Row, Subject};
use crate::suite::Variant;
use std::fmt;

/// Identifies a row among the rows of its suite.
///
/// ```
/// use mcptest_core::RowId;
///
/// let only = RowId::new("forecast");
/// let one_of_several = RowId::new("forecast").with_model("gpt-5");
/// assert_eq!(one_of_several.to_string(), "forecast [gpt-5]"); // for people
/// assert_ne!(only, one_of_several);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct RowId {
    /// The name of the agent, or of the tool test.
    pub name: String,
    /// The model, as in reports: `gpt-5`, or `provider/model`. Optional if the agent has one model.
    pub model: Option<String>,
    /// The variant, if the agent has several.
    pub variant: Option<Variant>,
}

impl RowId {
    /// The only row of this agent, or of this tool test.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            model: None,
            variant: None,
        }
    }

    /// The agent's row with this model.
    #[must_use]
    pub fn with_model(self, model: impl Into<String>) -> Self {
        Self {
            model: Some(model.into()),
            ..self
        }
    }

    /// The agent's row in this variant.
    #[must_use]
    pub fn with_variant(self, variant: Variant) -> Self {
        Self {
            variant: Some(variant),
            ..self
        }
    }

    /// Returns true if it means this row.
    pub(crate) fn is_of(&self, row: &Row<'_>) -> bool {
        match row.subject {
            Subject::Agent(of) => self.is_of_agent(of),
            Subject::Tool(of) => {
                self.name == of.test.name && self.model.is_none() && self.variant.is_none()
            }
            Subject::Refused(_) => false,
        }
    }

    fn is_of_agent(&self, of: AgentRow<'_>) -> bool {
        let has_model = match &self.model {
            Some(model) => of.model_label().as_ref() == Some(model),
            None => !of.agent.has_several_models(),
        };
        self.name == of.agent.name && self.variant == of.variant && has_model
    }
}

impl From<&str> for RowId {
    fn from(name: &str) -> Self {
        Self::new(name)
    }
}

/// The name for people: `forecast [gpt-5] [4 distractors]`.
impl fmt::Display for RowId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.name)?;
        if let Some(model) = &self.model {
            write!(out, " [{model}]")?;
        }
        match self.variant {
            Some(variant) => write!(out, " [{variant}]"),
            None => Ok(()),
        }
    }
}
