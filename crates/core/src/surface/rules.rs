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
    what.map(|what| (place.to_owned(), what))
        .into_iter()
        .collect()
}

/// A tool that takes more is worth a look.
const MANY_TOKENS: usize = 1_000;

const fn rule(id: &'static str, severity: Severity, check: Check) -> Rule {
    Rule {
        id,
        severity,
        doc: "",
        fix: "",
        check,
    }
}

/// The table. The first word of an id says what is looked at.
pub const RULES: &[Rule] = &[
    rule("description-missing", Critical, description::is_missing)
        .doc("The tool has no description: a model has its name alone to go by.")
        .fix("Say what the tool does, what it returns and when to use it."),
    rule("description-short", Warning, description::is_short)
        .doc("The description has fewer than four words.")
        .fix("Say what the tool does, what it returns and when to use it."),
    rule("description-repeats-name", Warning, description::repeats_name)
        .doc("The description has no word that the name has not.")
        .fix("Say what the name cannot: what it returns, when to use it, what it does not do."),
    rule("parameter-undocumented", Warning, parameters::is_undocumented)
        .doc("A parameter has no description, and the tool's description does not explain it either.")
        .fix("Give the parameter a `description` with its meaning, its form and an example."),
    rule("parameter-untyped", Warning, parameters::is_untyped)
        .doc("A property says nothing of what it takes.")
        .fix("Give the property a `type`, an `enum` or a `$ref`."),
    rule("enum-in-prose", Info, parameters::is_enum_in_prose)
        .doc("The description of a string lists its values, and the schema does not.")
        .fix("List the values in `enum`, so that a wrong one cannot be passed."),
    rule("required-missing", Warning, parameters::nothing_is_required)
        .doc(
            "There are parameters, and nothing says which must be given: no `required`, no default, \
             no word of it.",
        )
        .fix("List in `required` what must be given; write `required: []` when nothing must."),
    rule("required-unknown", Warning, parameters::is_required_unknown)
        .doc("A name in `required` is not a property: a model does not know what to pass.")
        .fix("Correct the name, or describe the property."),
    rule("string-unbounded", Info, parameters::is_string_unbounded)
        .doc("A string may have any length.")
        .fix("Set `maxLength`, or `enum`, `pattern` or `format`."),
    rule("array-unbounded", Info, parameters::is_array_unbounded)
        .doc("A list may have any length.")
        .fix("Set `maxItems`."),
    rule("near-duplicate", Warning, similar::is_near_duplicate)
        .doc("A tool is hardly told from one before it, by name, or by description and parameters.")
        .fix("Merge the two, or say in both when to use which."),
    rule("name-duplicate", Critical, naming::is_twice)
        .doc("A server has two tools of one name: one of them cannot be called.")
        .fix("Rename one."),
    rule("name-refused", Warning, naming::is_refused)
        .doc("Providers refuse the name, so that hosts change it or leave the tool out.")
        .fix("Use 1 to 64 of the characters a-z, A-Z, 0-9, `_` and `-`."),
    rule("verb-ambiguous", Warning, naming::is_vague)
        .doc("The name begins with a verb that fits any tool.")
        .fix("Name what is done: `accept_dialog`, not `handle_dialog`."),
    rule("destructive-unannotated", Warning, naming::is_loss_unannotated)
        .doc("The name says that something is lost, and no annotation tells hosts so.")
        .fix("Set `annotations.destructiveHint: true`."),
    rule("destructive-denied", Critical, naming::is_loss_denied)
        .doc("The name says that something is lost, and an annotation tells hosts that nothing is.")
        .fix("Correct the annotation, or rename the tool."),
    rule("schema-invalid", Critical, schema::is_invalid)
        .doc("The input schema is missing, or is not a valid JSON Schema.")
        .fix("Send a JSON Schema with `type: object`."),
    rule("schema-refused", Critical, schema::is_refused)
        .doc("A provider refuses the input schema, and with it every request that has the tool.")
        .fix("Write it another way; `mcptest tools --for PROVIDER` shows what mcptest sends in its place."),
    rule("schema-form", Info, schema::is_refused_for_its_form)
        .doc("A provider refuses a form in the schema, which hosts rewrite without loss.")
        .fix(
            "Write `type: object` and `properties` at the top, give lists their `items`, \
             omit `$schema`.",
        ),
    rule("unicode-hidden", Critical, text::is_hidden_in)
        .doc("A text has characters that people do not see and models read.")
        .fix("Remove them."),
    rule("text-instructs", Critical, text::is_instruction)
        .doc("A text gives the model orders that have nothing to do with the tool: poisoning.")
        .fix("Remove it, and find out who wrote it."),
    rule("text-other-tools", Warning, text::is_of_other_tools)
        .doc("A text says how to use other tools, or speaks of a tool that its server does not have.")
        .fix("Describe this tool alone; correct a name that is out of date."),
    rule("text-other-server", Critical, text::is_of_another_server)
        .doc("A text speaks of a tool of another server: it can change how that one is used.")
        .fix("Remove it, and find out who wrote it."),
    rule("tokens-many", Info, |look, _| {
        let many = look.tokens.filter(|tokens| *tokens > MANY_TOKENS);
        spot(SCHEMA, many.map(|tokens| format!("{tokens} tokens in every request")))
    })
    .doc("The tool takes more than 1,000 tokens of every request.")
    .fix("Shorten the description, drop examples, or split the tool."),
];

impl Rule {
    const fn doc(self, doc: &'static str) -> Self {
        Self { doc, ..self }
    }

    const fn fix(self, fix: &'static str) -> Self {
        Self { fix, ..self }
    }

    /// The rule of this id.
    pub fn named(id: &str) -> Option<&'static Self> {
        RULES.iter().find(|rule| rule.id == id)
    }
}
