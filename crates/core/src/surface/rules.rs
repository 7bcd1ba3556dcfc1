//! Which rules are tools held to? One table.

use super::Severity::{self, Critical, Info, Warning};
use super::look::{Look, SCHEMA};
use super::{description, naming, parameters, schema, similar, text};

/// A row of the table.
#[derive(Debug)]
pub struct Rule {
    /// Its name, which never changes.
    pub id: &'static str,
    /// How much a finding matters.
    pub severity: Severity,
    /// What is found, and why it matters.
    pub doc: &'static str,
    /// What to do about it.
    pub fix: &'static str,
    pub(super) check: Check,
}

/// Where something is wrong in a tool, and what; given the tools before it.
type Check = fn(&Look<'_>, &[Look<'_>]) -> Spots;
pub(super) type Spots = Vec<(String, String)>;

/// The one spot where there is something to say.
pub(super) fn spot(place: &str, what: Option<String>) -> Spots {
    what.map(|what| (place.to_owned(), what)).into_iter().collect()
}

/// A tool that takes more is worth a look.
const MANY_TOKENS: usize = 1_000;

const fn rule(
    id: &'static str,
    severity: Severity,
    doc: &'static str,
    fix: &'static str,
    check: Check,
) -> Rule {
    Rule { id, severity, doc, fix, check }
}

/// The table. The first word of an id says what is looked at.
pub const RULES: &[Rule] = &[
    rule(
        "description-missing",
        Critical,
        "The tool has no description: a model has its name alone to go by.",
        "Say what the tool does, what it returns and when to use it.",
        description::is_missing,
    ),
    rule(
        "description-short",
        Warning,
        "The description has fewer than four words.",
        "Say what the tool does, what it returns and when to use it.",
        description::is_short,
    ),
    rule(
        "description-repeats-name",
        Warning,
        "The description has no word that the name has not.",
        "Say what the name cannot: what it returns, when to use it, what it does not do.",
        description::repeats_name,
    ),
    rule(
        "parameter-undocumented",
        Warning,
        "A parameter has no description, and the tool's description does not explain it either.",
        "Give the parameter a `description` with its meaning, its form and an example.",
        parameters::is_undocumented,
    ),
    rule(
        "parameter-untyped",
        Warning,
        "A property says nothing of what it takes.",
        "Give the property a `type`, an `enum` or a `$ref`.",
        parameters::is_untyped,
    ),
    rule(
        "enum-in-prose",
        Info,
        "The description of a string lists its values, and the schema does not.",
        "List the values in `enum`, so that a wrong one cannot be passed.",
        parameters::is_enum_in_prose,
    ),
    rule(
        "required-missing",
        Warning,
        "There are parameters, and nothing says which must be given: no `required`, no default, no word of it.",
        "List in `required` what must be given; write `required: []` when nothing must.",
        parameters::nothing_is_required,
    ),
    rule(
        "required-unknown",
        Warning,
        "A name in `required` is no property: a model does not know what to pass.",
        "Correct the name, or describe the property.",
        parameters::is_required_unknown,
    ),
    rule(
        "string-unbounded",
        Info,
        "A string may have any length.",
        "Set `maxLength`, or `enum`, `pattern` or `format`.",
        parameters::is_string_unbounded,
    ),
    rule(
        "array-unbounded",
        Info,
        "A list may have any length.",
        "Set `maxItems`.",
        parameters::is_array_unbounded,
    ),
    rule(
        "near-duplicate",
        Warning,
        "A tool is hardly told from one before it, by name, or by description and parameters.",
        "Merge the two, or say in both when to use which.",
        similar::is_near_duplicate,
    ),
    rule(
        "name-duplicate",
        Critical,
        "A server has two tools of one name: one of them cannot be called.",
        "Rename one.",
        naming::is_twice,
    ),
    rule(
        "name-refused",
        Warning,
        "Providers refuse the name, so that hosts change it or leave the tool out.",
        "Use 1 to 64 of the characters a-z, A-Z, 0-9, `_` and `-`.",
        naming::is_refused,
    ),
    rule(
        "verb-ambiguous",
        Warning,
        "The name begins with a verb that fits any tool.",
        "Name what is done: `accept_dialog`, not `handle_dialog`.",
        naming::is_vague,
    ),
    rule(
        "destructive-unannotated",
        Warning,
        "The name says that something is lost, and no annotation tells hosts so.",
        "Set `annotations.destructiveHint: true`.",
        naming::is_loss_unannotated,
    ),
    rule(
        "destructive-denied",
        Critical,
        "The name says that something is lost, and an annotation tells hosts that nothing is.",
        "Correct the annotation, or rename the tool.",
        naming::is_loss_denied,
    ),
    rule(
        "schema-invalid",
        Critical,
        "The input schema is missing, or is no JSON Schema.",
        "Send a JSON Schema with `type: object`.",
        schema::is_invalid,
    ),
    rule(
        "schema-refused",
        Critical,
        "A provider refuses the input schema, and with it every request that has the tool.",
        "Write it another way; `mcptest tools --for PROVIDER` shows what mcptest sends in its place.",
        schema::is_refused,
    ),
    rule(
        "schema-form",
        Info,
        "A provider refuses something in the form of the schema, which hosts mend without loss.",
        "Write `type: object` and `properties` at the top, give lists their `items`, leave `$schema` out.",
        schema::is_refused_for_its_form,
    ),
    rule(
        "unicode-hidden",
        Critical,
        "A text has characters that people do not see and models read.",
        "Remove them.",
        text::is_hidden_in,
    ),
    rule(
        "text-instructs",
        Critical,
        "A text gives the model orders that have nothing to do with the tool: poisoning.",
        "Remove it, and find out who wrote it.",
        text::is_instruction,
    ),
    rule(
        "text-other-tools",
        Warning,
        "A text says how to use other tools, or speaks of a tool that its server does not have.",
        "Describe this tool alone; correct a name that is out of date.",
        text::is_of_other_tools,
    ),
    rule(
        "text-other-server",
        Critical,
        "A text speaks of a tool of another server: it can change how that one is used.",
        "Remove it, and find out who wrote it.",
        text::is_of_another_server,
    ),
    rule(
        "tokens-many",
        Info,
        "The tool takes more than 1,000 tokens of every request.",
        "Shorten the description, drop examples, or split the tool.",
        |look, _| {
            let many = look.tokens.filter(|tokens| *tokens > MANY_TOKENS);
            spot(SCHEMA, many.map(|tokens| format!("{tokens} tokens in every request")))
        },
    ),
];

impl Rule {
    /// The rule of this id.
    pub fn named(id: &str) -> Option<&'static Self> {
        RULES.iter().find(|rule| rule.id == id)
    }
}
