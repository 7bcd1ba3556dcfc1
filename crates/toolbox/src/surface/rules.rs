//! Which rules apply to tools? One table.

use super::Severity;
use super::look::{Look, SCHEMA};
use super::{description, naming, parameters, schema, similar, text};

/// A row of the table.
#[derive(Debug)]
pub struct Rule {
    /// Its permanent name.
    pub id: &'static str,
    /// The severity of its findings.
    pub severity: Severity,
    /// The defect, and why it matters.
    pub doc: &'static str,
    /// The fix.
    pub fix: &'static str,
    pub(super) check: Check,
}

/// Finds the problems of a tool, given the earlier tools.
type Check = fn(&Look<'_>, &[Look<'_>]) -> Vec<Spot>;

/// The place and the text of a problem.
pub(super) struct Spot {
    /// A JSON pointer into the tool's entry.
    pub(super) place: String,
    pub(super) what: String,
}

impl Spot {
    pub(super) fn new(place: impl Into<String>, what: impl Into<String>) -> Self {
        Self {
            place: place.into(),
            what: what.into(),
        }
    }
}

/// A tool with more tokens gets a finding.
const MANY_TOKENS: usize = 1_000;

/// The table. The first word of an id is its subject.
pub const RULES: &[Rule] = &[
    Rule {
        id: "description-missing",
        severity: Severity::Critical,
        doc: "The tool has no description, so a model must choose it by its name alone.",
        fix: "Say what the tool does, what it returns and when to use it.",
        check: description::is_missing,
    },
    Rule {
        id: "description-short",
        severity: Severity::Warning,
        doc: "The description has fewer than four words.",
        fix: "Say what the tool does, what it returns and when to use it.",
        check: description::is_short,
    },
    Rule {
        id: "description-repeats-name",
        severity: Severity::Warning,
        doc: "The description adds no word to the name.",
        fix: "Say what the name cannot: what it returns, when to use it, what it does not do.",
        check: description::repeats_name,
    },
    Rule {
        id: "parameter-undocumented",
        severity: Severity::Warning,
        doc: "A parameter has no description, and the tool's description does not explain it either.",
        fix: "Give the parameter a `description` with its meaning, its form and an example.",
        check: parameters::is_undocumented,
    },
    Rule {
        id: "parameter-untyped",
        severity: Severity::Warning,
        doc: "A property does not declare which values it takes.",
        fix: "Give the property a `type`, an `enum` or a `$ref`.",
        check: parameters::is_untyped,
    },
    Rule {
        id: "enum-in-prose",
        severity: Severity::Info,
        doc: "The description of a string lists its values, but the schema does not.",
        fix: "List the values in `enum`, so that a model cannot pass a wrong one.",
        check: parameters::is_enum_in_prose,
    },
    Rule {
        id: "required-missing",
        severity: Severity::Warning,
        doc: "Nothing says which parameters are required: no `required`, no default, no hint in a \
        description.",
        fix: "List the required parameters in `required`; write `required: []` if all are optional.",
        check: parameters::nothing_is_required,
    },
    Rule {
        id: "required-unknown",
        severity: Severity::Warning,
        doc: "`required` names a property that does not exist.",
        fix: "Correct the name, or describe the property.",
        check: parameters::is_required_unknown,
    },
    Rule {
        id: "string-unbounded",
        severity: Severity::Info,
        doc: "A string has no `maxLength`, `enum`, `pattern` or `format`.",
        fix: "Set `maxLength`, or `enum`, `pattern` or `format`.",
        check: parameters::is_string_unbounded,
    },
    Rule {
        id: "array-unbounded",
        severity: Severity::Info,
        doc: "A list has no `maxItems`.",
        fix: "Set `maxItems`.",
        check: parameters::is_array_unbounded,
    },
    Rule {
        id: "near-duplicate",
        severity: Severity::Warning,
        doc: "The tool is easily confused with an earlier one, by its name or by its description \
        and parameters.",
        fix: "Merge the two, or say in both when to use which.",
        check: similar::is_near_duplicate,
    },
    Rule {
        id: "name-duplicate",
        severity: Severity::Critical,
        doc: "Two tools of one server have the same name, so only one of them can be called.",
        fix: "Rename one.",
        check: naming::is_twice,
    },
    Rule {
        id: "name-refused",
        severity: Severity::Warning,
        doc: "Providers reject the name, so hosts rename the tool or omit it.",
        fix: "Use 1 to 64 of the characters a-z, A-Z, 0-9, `_` and `-`.",
        check: naming::is_refused,
    },
    Rule {
        id: "verb-ambiguous",
        severity: Severity::Warning,
        doc: "The name begins with a verb that fits any tool.",
        fix: "Name the action: `accept_dialog`, not `handle_dialog`.",
        check: naming::is_vague,
    },
    Rule {
        id: "destructive-unannotated",
        severity: Severity::Warning,
        doc: "The name suggests data loss, but no annotation declares it.",
        fix: "Set `annotations.destructiveHint: true`.",
        check: naming::is_loss_unannotated,
    },
    Rule {
        id: "destructive-denied",
        severity: Severity::Critical,
        doc: "The name suggests data loss, but an annotation denies it.",
        fix: "Correct the annotation, or rename the tool.",
        check: naming::is_loss_denied,
    },
    Rule {
        id: "schema-invalid",
        severity: Severity::Critical,
        doc: "The input schema is missing or is not a valid JSON Schema.",
        fix: "Send a JSON Schema with `type: object`.",
        check: schema::is_invalid,
    },
    Rule {
        id: "schema-refused",
        severity: Severity::Critical,
        doc: "A provider rejects the input schema, and with it every request that includes the \
        tool.",
        fix: "Rewrite it; `mcptest tools --for PROVIDER` shows what mcptest sends instead.",
        check: schema::is_refused,
    },
    Rule {
        id: "schema-form",
        severity: Severity::Info,
        doc: "A provider rejects the form of the schema; hosts can rewrite it without loss.",
        fix: "Write `type: object` and `properties` at the top, give lists their `items`, \
             omit `$schema`.",
        check: schema::is_refused_for_its_form,
    },
    Rule {
        id: "unicode-hidden",
        severity: Severity::Critical,
        doc: "A text contains characters that people cannot see but models read.",
        fix: "Remove them.",
        check: text::is_hidden_in,
    },
    Rule {
        id: "text-instructs",
        severity: Severity::Critical,
        doc: "A text gives the model instructions unrelated to the tool (tool poisoning).",
        fix: "Remove it, and find out who wrote it.",
        check: text::is_instruction,
    },
    Rule {
        id: "text-other-tools",
        severity: Severity::Warning,
        doc: "A text says how to use other tools, or names a tool that its server does not have.",
        fix: "Describe only this tool; correct a name that is out of date.",
        check: text::is_of_other_tools,
    },
    Rule {
        id: "text-other-server",
        severity: Severity::Critical,
        doc: "A text names a tool of another server and could change how a model uses it.",
        fix: "Remove it, and find out who wrote it.",
        check: text::is_of_another_server,
    },
    Rule {
        id: "tokens-many",
        severity: Severity::Info,
        doc: "The tool adds more than 1,000 tokens to every request.",
        fix: "Shorten the description, drop examples, or split the tool.",
        check: takes_many_tokens,
    },
];

fn takes_many_tokens(look: &Look<'_>, _: &[Look<'_>]) -> Vec<Spot> {
    let many = look.tokens.filter(|tokens| *tokens > MANY_TOKENS);
    let spot = many.map(|tokens| Spot::new(SCHEMA, format!("{tokens} tokens in every request")));
    spot.into_iter().collect()
}

impl Rule {
    /// The rule of this id.
    pub fn named(id: &str) -> Option<&'static Self> {
        RULES.iter().find(|rule| rule.id == id)
    }
}
