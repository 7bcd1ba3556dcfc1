//! What does the model see of its servers, beside what it is asked?

use super::request::put;
use super::{Agent, Model};
use crate::provider::{Family, Kind, Parameters, runs_code};
use crate::suite::Suite;
use crate::suite::read::{Block, Field};
use serde_json::Value;

/// The treatment of a tool whose schema the model's provider refuses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ToolSchemas {
    /// The schema is rewritten so that the provider accepts it.
    #[default]
    Mend,
    /// Omit the tool.
    Omit,
    /// Send the schema unchanged.
    AsIs,
}

impl ToolSchemas {
    /// Every way, with its spelling.
    pub const WORDS: [(&'static str, Self); 3] = [
        ("mend", Self::Mend),
        ("omit", Self::Omit),
        ("as-is", Self::AsIs),
    ];
}

const TOOL_SCHEMAS: &str = "tool_schemas";
const INSTRUCTIONS: &str = "instructions";
const MAX_RESULT_CHARS: &str = "max_result_chars";
pub(super) const CODE_EXECUTION: &str = "code_execution";

/// Keys that only apply to mcptest's own model loop.
pub(super) const KEYS: [&str; 4] = [TOOL_SCHEMAS, INSTRUCTIONS, MAX_RESULT_CHARS, CODE_EXECUTION];

/// About 25,000 tokens, a common limit of hosts.
const DEFAULT_MAX_RESULT_CHARS: usize = 100_000;

pub(super) fn read(block: &mut Block<'_>, into: &mut Parameters) {
    put(
        block,
        into,
        TOOL_SCHEMAS,
        "The treatment of a tool whose schema the model's provider refuses: `mend` (the default) rewrites it \
         so that the provider accepts it, `omit` omits the tool, `as-is` sends it unchanged",
        read_tool_schemas,
    );
    put(
        block,
        into,
        INSTRUCTIONS,
        "Send the model the `instructions` of its servers, after the system prompt",
        |f| f.flag().filter(|is_told| !is_told),
    );
    put(
        block,
        into,
        MAX_RESULT_CHARS,
        "The maximum number of characters of a result that the model reads [default: 100000]. The recording \
         keeps all",
        |f| f.whole(1..=u64::MAX),
    );
    put(
        block,
        into,
        CODE_EXECUTION,
        "Allow the model to call its tools from code that it writes and its provider runs",
        |f| f.flag().filter(|runs_code| *runs_code),
    );
}

/// The written word, unless it is the default.
fn read_tool_schemas(field: &mut Field<'_>) -> Option<&'static str> {
    let words = ToolSchemas::WORDS.map(|(word, how)| (word, (word, how)));
    let (word, how) = field.choice("a way to treat a refused schema", &words)?;
    (how != ToolSchemas::default()).then_some(word)
}

impl Agent {
    /// The treatment of a tool whose schema the model's provider refuses.
    pub fn tool_schemas(&self) -> ToolSchemas {
        let word = self.parameters.get(TOOL_SCHEMAS).and_then(Value::as_str);
        let known = ToolSchemas::WORDS
            .iter()
            .find(|(known, _)| Some(*known) == word);
        known.map(|(_, how)| *how).unwrap_or_default()
    }

    /// Returns true if the model receives the `instructions` of its servers.
    pub fn tells_instructions(&self) -> bool {
        self.parameters.get(INSTRUCTIONS) != Some(&Value::Bool(false))
    }

    /// Returns true if the model may call its tools from code that its provider runs.
    pub fn runs_code(&self) -> bool {
        self.parameters.contains_key(CODE_EXECUTION)
    }

    /// The most characters of a result that the model reads.
    pub fn max_result_chars(&self) -> usize {
        let most = self
            .parameters
            .get(MAX_RESULT_CHARS)
            .and_then(Value::as_u64);
        most.map_or(DEFAULT_MAX_RESULT_CHARS, |most| {
            usize::try_from(most).unwrap_or(usize::MAX)
        })
    }
}

impl Model {
    /// Returns true if its provider does not run code for it. `kind_of` returns the `type:` of a
    /// declared provider.
    pub(in crate::suite) fn lacks_code(
        &self,
        kind_of: impl Fn(&str) -> Option<&'static str>,
    ) -> bool {
        let kind = match &self.provider {
            Some(name) => kind_of(name),
            None => Family::of_model(&self.id).map(|family| family.kind),
        };
        kind.is_some_and(|kind| !runs_code(kind, &self.id))
    }
}

impl Suite {
    /// The provider family whose rules apply to a model.
    pub fn family_of(&self, model: &Model) -> Option<&'static Family> {
        Family::named(self.kind_of(model)?.family)
    }

    /// The kind of a model's provider.
    pub fn kind_of(&self, model: &Model) -> Option<&'static Kind> {
        match &model.provider {
            Some(name) => Kind::named(self.providers.get(name)?.kind),
            None => Kind::named(Family::of_model(&model.id)?.kind),
        }
    }
}
