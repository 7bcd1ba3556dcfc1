//! `responses:` what is answered when a server asks the client for something?

use super::deferred::Deferred;
use super::read::{Block, Field};
use super::variables::{Environment, Scope, Unset};
use crate::problem::{Problem, Span};
use crate::words::quoted;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The scripted answers of a server entry, their variables still to be filled in.
#[derive(Debug, Clone, Default)]
pub struct Script {
    roots: Option<Vec<Deferred>>,
    sampling: Vec<ScriptedRule>,
    elicitation: Vec<ScriptedRule>,
}

#[derive(Debug, Clone)]
struct ScriptedRule {
    when: Option<Deferred>,
    then: Answer<Deferred>,
}

/// The scripted answers to a server's requests, by method. The first whose `when` matches is used.
pub type Responses = BTreeMap<&'static str, Vec<Response>>;

/// One scripted answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Response {
    /// The parameters that the request must have; any if empty.
    pub when: Map<String, Value>,
    /// The answer to the request.
    pub answer: Answer,
}

/// A client's answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer<T = Value> {
    /// This result, verbatim.
    Result(T),
    /// This JSON-RPC error.
    Error {
        /// Its code.
        code: i64,
        /// Its message.
        message: String,
    },
}

impl Script {
    pub(super) fn read(field: &mut Field<'_>) -> Option<Self> {
        field.block(|block| Self {
            roots: block.optional(
                "roots",
                "The folders that the client offers, answers to `roots/list`",
                |f| f.list(read_root),
            ),
            sampling: block.or_default(
                "sampling",
                "Answers to `sampling/createMessage`; the first that fits is used",
                |f| read_rules(f, &["text", "result", "decline"], read_sampling),
            ),
            elicitation: block.or_default(
                "elicitation",
                "Answers to `elicitation/create`; the first that fits is used",
                |f| read_rules(f, &["accept", "decline", "cancel"], read_elicitation),
            ),
        })
    }

    pub(super) fn fill(
        &self,
        scope: &Scope,
        environment: Environment<'_>,
    ) -> Result<Responses, Unset> {
        self.map(&|value| value.fill(scope, environment))
    }

    /// The answers with environment values as `${NAME}`; `None` if nothing is scripted.
    pub(super) fn template(&self, scope: &Scope) -> Option<Value> {
        let responses = self
            .map(&|value| Ok::<_, Unset>(value.template(scope)))
            .unwrap_or_default();
        let rule = |rule: &Response| {
            let answer = match &rule.answer {
                Answer::Result(result) => json!({ "result": result }),
                Answer::Error { code, message } => {
                    json!({ "error": { "code": code, "message": message } })
                }
            };
            json!({ "when": rule.when, "answer": answer })
        };
        let by_method = responses.iter().map(|(method, rules)| {
            (
                (*method).to_owned(),
                Value::Array(rules.iter().map(rule).collect()),
            )
        });
        (!responses.is_empty()).then(|| Value::Object(by_method.collect()))
    }

    fn map<E>(&self, fill: &dyn Fn(&Deferred) -> Result<Value, E>) -> Result<Responses, E> {
        let mut responses = Responses::new();
        if let Some(roots) = &self.roots {
            let roots: Vec<Value> = roots.iter().map(fill).collect::<Result<_, E>>()?;
            let answer = Answer::Result(json!({ "roots": roots }));
            responses.insert(
                "roots/list",
                vec![Response {
                    when: Map::new(),
                    answer,
                }],
            );
        }
        for (method, rules) in [
            ("sampling/createMessage", &self.sampling),
            ("elicitation/create", &self.elicitation),
        ] {
            if !rules.is_empty() {
                let rules = rules
                    .iter()
                    .map(|rule| rule.map(fill))
                    .collect::<Result<_, E>>()?;
                responses.insert(method, rules);
            }
        }
        Ok(responses)
    }
}

impl ScriptedRule {
    fn fits_always(&self) -> bool {
        match &self.when {
            None => true,
            Some(when) => matches!(when, Deferred::Map(entries) if entries.is_empty()),
        }
    }

    fn map<E>(&self, fill: &dyn Fn(&Deferred) -> Result<Value, E>) -> Result<Response, E> {
        let when = match self.when.as_ref().map(fill).transpose()? {
            Some(Value::Object(when)) => when,
            _ => Map::new(),
        };
        let answer = match &self.then {
            Answer::Result(result) => Answer::Result(fill(result)?),
            Answer::Error { code, message } => Answer::Error {
                code: *code,
                message: message.clone(),
            },
        };
        Ok(Response { when, answer })
    }
}

fn read_text(field: &mut Field<'_>) -> Option<Deferred> {
    Some(Deferred::Text {
        text: field.template()?,
        plain: false,
    })
}

fn read_root(field: &mut Field<'_>) -> Option<Deferred> {
    field.try_block(|block| {
        let uri = block.required("uri", "The folder, such as `file:///tmp`", read_text);
        let name = block.optional("name", "The name", read_text);
        let name = name.map(|name| ("name".to_owned(), name));
        Some(Deferred::Map(
            std::iter::once(("uri".to_owned(), uri?))
                .chain(name)
                .collect(),
        ))
    })
}

/// The answers to one method, in the order they are tried.
fn read_rules(
    field: &mut Field<'_>,
    answers: &[&'static str],
    read: fn(&mut Block<'_>) -> Option<Answer<Deferred>>,
) -> Option<Vec<ScriptedRule>> {
    let mut always: Option<Span> = None;
    field.list(|field| {
        if let (Some(before), false) = (always, field.is_describing()) {
            let problem = Problem::warning("this answer is never used").also(
                before,
                "this one is always \
                used",
            );
            field.report(problem.help("put the answer without `when` last"));
        }
        let rule = read_rule(field, answers, read)?;
        if rule.fits_always() {
            always = always.or(Some(field.span()));
        }
        Some(rule)
    })
}

/// Reads one `{when?, …}` with exactly one of these answers.
fn read_rule(
    field: &mut Field<'_>,
    answers: &[&'static str],
    read: fn(&mut Block<'_>) -> Option<Answer<Deferred>>,
) -> Option<ScriptedRule> {
    let rule = field.block(|block| {
        let doc = "The request parameters for this answer [default: any request]";
        let when = block.optional("when", doc, |f| f.deferred_map());
        block.at_most_one_of(answers);
        let then = read(block);
        if !answers.iter().any(|key| block.has(key)) && !block.has_slip_of(answers) {
            let help = format!("write one of {}", quoted(answers));
            block.report(Problem::error("this has no answer").help(help));
        }
        Some(ScriptedRule { when, then: then? })
    });
    field.amend_exactly_one_of(answers.iter().copied());
    rule.flatten()
}

fn read_sampling(block: &mut Block<'_>) -> Option<Answer<Deferred>> {
    let text = block.optional("text", "The model's answer", |f| read_text(f).map(said));
    let result = block.optional(
        "result",
        "The whole result, as it goes over the wire",
        |f| f.deferred_map().map(Answer::Result),
    );
    let refused = Answer::Error {
        code: -1,
        message: "the user declined the sampling request".to_owned(),
    };
    let decline = block.optional("decline", "`true`: the user does not allow it", |f| {
        read_true(f, refused)
    });
    text.or(result).or(decline)
}

fn read_elicitation(block: &mut Block<'_>) -> Option<Answer<Deferred>> {
    let doc = "The user's input; `true` if none is needed";
    let accept = block.optional("accept", doc, |f| {
        f.shapes("a map of what the user fills in, or `true`", |shapes| {
            shapes.map(|f| {
                f.deferred_map()
                    .map(|content| action("accept", Some(content)))
            });
            shapes.scalar(|f| read_true(f, action("accept", None)));
        })
    });
    let decline = block.optional("decline", "`true`: the user declines", |f| {
        read_true(f, action("decline", None))
    });
    let cancel = block.optional("cancel", "`true`: the user cancels", |f| {
        read_true(f, action("cancel", None))
    });
    accept.or(decline).or(cancel)
}

fn fixed(key: &str, value: &str) -> (String, Deferred) {
    (key.to_owned(), Deferred::Value(value.into()))
}

/// A model's answer to a request for sampling.
fn said(text: Deferred) -> Answer<Deferred> {
    let content = Deferred::Map(vec![fixed("type", "text"), ("text".to_owned(), text)]);
    let ending = [
        fixed("role", "assistant"),
        fixed("model", "scripted"),
        fixed("stopReason", "endTurn"),
    ];
    Answer::Result(Deferred::Map(
        ending
            .into_iter()
            .chain([("content".to_owned(), content)])
            .collect(),
    ))
}

/// A user's action on a form, with the content of the form.
fn action(action: &str, content: Option<Deferred>) -> Answer<Deferred> {
    let content = content.map(|content| ("content".to_owned(), content));
    Answer::Result(Deferred::Map(
        [fixed("action", action)]
            .into_iter()
            .chain(content)
            .collect(),
    ))
}

fn read_true(field: &mut Field<'_>, then: Answer<Deferred>) -> Option<Answer<Deferred>> {
    if field.flag()? {
        return Some(then);
    }
    field.report(
        Problem::error("only `true` is valid here").help("remove the line, or write `true`"),
    );
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::{Endpoint, Host, Loaded, load};
    use std::path::Path;

    fn suite(responses: &str) -> Loaded {
        let text = format!("servers:\n  s:\n    command: [x]\n    responses: {responses}\n");
        let read = move |_: &Path| Ok(text.clone().into_bytes());
        load(Path::new("s.yml"), &Host::new(&read, &|_| None))
    }

    fn responses(written: &str) -> Responses {
        let loaded = suite(written);
        let server = &loaded.suite.as_ref().unwrap().servers["s"];
        assert_eq!(server.endpoint, Endpoint::Command(vec!["x".to_owned()]));
        server
            .responses(&|name| Some(format!("value of {name}")))
            .unwrap()
    }

    fn problem(written: &str) -> String {
        let loaded = suite(written);
        loaded
            .problems
            .first()
            .map(|problem| problem.message.clone())
            .unwrap_or_default()
    }

    #[test]
    fn answers_are_filled_in_for_each_method_in_order() {
        let responses = responses(
            "{elicitation: [{when: {message: Name?}, accept: {name: '${WHO}'}}, {decline: true}], \
             sampling: [{when: {maxTokens: 9}, text: hi}], roots: [{uri: file:///tmp}]}",
        );
        let accepted = json!({"action": "accept", "content": {"name": "value of WHO"}});
        let forms = &responses["elicitation/create"];
        assert_eq!(forms[0].when["message"], "Name?");
        assert_eq!(forms[0].answer, Answer::Result(accepted));
        assert_eq!(
            forms[1].answer,
            Answer::Result(json!({"action": "decline"}))
        );
        let Answer::Result(message) = &responses["sampling/createMessage"][0].answer else {
            panic!()
        };
        assert_eq!(message["content"], json!({"type": "text", "text": "hi"}));
        let roots = json!({"roots": [{"uri": "file:///tmp"}]});
        assert_eq!(responses["roots/list"][0].answer, Answer::Result(roots));
    }

    #[test]
    fn a_declined_sampling_is_an_error_and_a_declined_form_is_a_result() {
        let sampling = responses("{sampling: [{decline: true}]}");
        assert!(matches!(
            sampling["sampling/createMessage"][0].answer,
            Answer::Error { code: -1, .. }
        ));
        let form = responses("{elicitation: [{accept: true}]}");
        assert_eq!(
            form["elicitation/create"][0].answer,
            Answer::Result(json!({"action": "accept"}))
        );
    }

    #[test]
    fn what_says_no_answer_two_or_a_false_one_is_refused() {
        assert_eq!(problem("{sampling: [{when: {}}]}"), "this has no answer");
        assert!(
            problem("{sampling: [{text: a, decline: true}]}").contains("cannot be used together")
        );
        assert_eq!(
            problem("{elicitation: [{decline: false}]}"),
            "only `true` is valid here"
        );
        assert_eq!(
            problem("{elicitation: [{accpet: {}}]}"),
            "unknown key `accpet`"
        );
        assert_eq!(problem("{roots: [{name: x}]}"), "`uri` is missing here");
        assert!(problem("{samplings: []}").contains("unknown key"));
    }

    #[test]
    fn an_unset_variable_is_named_only_when_the_server_is_started() {
        let loaded = suite("{elicitation: [{accept: {name: '${WHO}'}}]}");
        let server = &loaded.suite.as_ref().unwrap().servers["s"];
        assert!(
            server
                .responses(&|_| None)
                .unwrap_err()
                .to_string()
                .contains("`WHO`")
        );
        assert!(
            server.template()["responses"]
                .to_string()
                .contains("${WHO}")
        );
    }
}
