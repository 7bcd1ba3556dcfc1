//! Which request parameters does a model refuse? One table: provider, parameter, condition and
//! reason.

use super::Kind;
use super::model_id::{
    bare, claude, has_thinking_levels, is_reasoning, is_unreasoning, thinks_adaptively, version,
};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Parameters by their names in a suite.
pub type Parameters = BTreeMap<String, Value>;

/// A parameter that a model refuses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// Its name in a suite.
    pub parameter: &'static str,
    /// The reason for the refusal.
    pub why: String,
    /// The fix.
    pub help: &'static str,
    /// True if this API cannot express it at all, at any address.
    pub has_no_place: bool,
}

/// The given parameters that a provider of this kind refuses for a model.
pub fn refusals(kind: &Kind, model: &str, parameters: &Parameters) -> Vec<Refusal> {
    let asked = AskedModel {
        model: bare(model),
        parameters,
    };
    let rules = RULES.iter().filter(|rule| rule.kinds.contains(&kind.name));
    let refusal = |rule: &RefusalRule| {
        let why = parameters
            .get(rule.parameter)
            .and_then(|value| (rule.why)(&asked, value))?;
        let RefusalRule {
            parameter,
            help,
            has_no_place,
            ..
        } = *rule;
        Some(Refusal {
            parameter,
            why: why.into_owned(),
            help,
            has_no_place,
        })
    };
    rules.filter_map(refusal).collect()
}

/// A model and the parameters for it.
struct AskedModel<'a> {
    model: &'a str,
    parameters: &'a Parameters,
}

/// Why a value is refused; `None` if it is not.
type Why = Option<Cow<'static, str>>;

struct RefusalRule {
    kinds: &'static [&'static str],
    parameter: &'static str,
    why: fn(&AskedModel<'_>, &Value) -> Why,
    help: &'static str,
    has_no_place: bool,
}

const fn rule(
    kinds: &'static [&'static str],
    parameter: &'static str,
    help: &'static str,
    why: fn(&AskedModel<'_>, &Value) -> Why,
) -> RefusalRule {
    RefusalRule {
        kinds,
        parameter,
        why,
        help,
        has_no_place: false,
    }
}

impl RefusalRule {
    /// The rule for a parameter that the dialect cannot express.
    const fn without_place(self) -> Self {
        Self {
            has_no_place: true,
            ..self
        }
    }
}

const ANTHROPIC: &[&str] = &["anthropic"];
const OPENAI: &[&str] = &["openai", "openai-responses"];
const RESPONSES: &[&str] = &["openai-responses"];
const GEMINI: &[&str] = &["gemini"];
const MISTRAL: &[&str] = &["mistral"];

const REMOVE: &str = "remove it, or set it under `models:` for the models that accept it";
const OTHER_WORD: &str = "write another word, or remove it";
const NO_SEED: &str = "remove it; `runs:` shows how much the answers differ";

static RULES: &[RefusalRule] = &[
    rule(ANTHROPIC, "seed", NO_SEED, |_, _| {
        when(true, "Anthropic has no `seed`")
    })
    .without_place(),
    rule(RESPONSES, "seed", NO_SEED, |_, _| {
        when(
            true,
            "OpenAI's Responses API has no `seed`; Chat Completions (`type: openai`) has one",
        )
    })
    .without_place(),
    rule(
        ANTHROPIC,
        "temperature",
        "write a number from 0 to 1",
        |_, value| above(value, 1.0),
    ),
    rule(
        MISTRAL,
        "temperature",
        "write a number from 0 to 1.5",
        |_, value| above(value, 1.5),
    ),
    rule(ANTHROPIC, "temperature", REMOVE, |asked, _| {
        unsampled(asked)
    }),
    rule(ANTHROPIC, "top_p", REMOVE, |asked, _| unsampled(asked)),
    rule(ANTHROPIC, "top_p", "remove one of them", |asked, _| {
        let is_either =
            claude(asked.model).is_some_and(|version| ((4, 1)..(4, 7)).contains(&version));
        when(
            is_either && asked.has("temperature"),
            "Claude from 4.1 on accepts `temperature` or `top_p`, not both",
        )
    }),
    rule(
        ANTHROPIC,
        "temperature",
        "remove one of them",
        |asked, value| {
            let is_sampled = claude(asked.model).is_none_or(|version| version < (4, 7));
            when(
                is_sampled && asked.thinks() && !is_one(value),
                "a Claude model that thinks accepts only 1",
            )
        },
    ),
    rule(
        ANTHROPIC,
        "tool_choice",
        "write `auto` or `none`, or turn thinking off",
        |asked, value| {
            let is_forced = !matches!(value.as_str(), Some("auto" | "none"));
            when(
                is_forced && asked.thinks(),
                "a Claude model that thinks cannot be made to call a tool",
            )
        },
    ),
    rule(
        ANTHROPIC,
        "reasoning_effort",
        "remove it; an older Claude thinks with `extra: {thinking: {type: enabled, budget_tokens: 2000}}`",
        |asked, _| {
            let since = if asked.model.contains("opus") {
                (4, 5)
            } else {
                (4, 6)
            };
            let is_older = claude(asked.model).is_some_and(|version| version < since);
            when(
                is_older,
                "Claude accepts it from Opus 4.5 and Sonnet 4.6 on",
            )
        },
    ),
    rule(ANTHROPIC, "reasoning_effort", OTHER_WORD, |asked, word| {
        let version = claude(asked.model);
        let known: &[&str] = match version {
            Some(version) if version < (4, 6) => &["low", "medium", "high"],
            Some(version) if version < (4, 7) => &["low", "medium", "high", "max"],
            _ => &["low", "medium", "high", "xhigh", "max"],
        };
        other_than(known, word)
    }),
    rule(OPENAI, "temperature", REMOVE, reasoned),
    rule(OPENAI, "top_p", REMOVE, reasoned),
    rule(OPENAI, "reasoning_effort", REMOVE, |asked, _| {
        when(is_unreasoning(asked.model), "the model does not reason")
    }),
    rule(OPENAI, "reasoning_effort", OTHER_WORD, |asked, word| {
        let is_known = is_reasoning(asked.model) && !asked.model.contains("codex");
        other_than(efforts_of_openai(asked.model), word).filter(|_| is_known)
    }),
    rule(RESPONSES, "max_tokens", "write 16 or more", |_, value| {
        when(
            value.as_u64().is_some_and(|most| most < 16),
            "OpenAI's Responses API requires at least 16",
        )
    }),
    rule(GEMINI, "reasoning_effort", REMOVE, |asked, _| {
        when(
            version(asked.model).is_some_and(|version| version < (2, 5)),
            "Gemini thinks from 2.5 on",
        )
    }),
    rule(GEMINI, "reasoning_effort", OTHER_WORD, |asked, word| {
        let known = ["none", "minimal", "low", "medium", "high"];
        other_than(
            if has_thinking_levels(asked.model) {
                &known[1..]
            } else {
                &known
            },
            word,
        )
    })
    .without_place(),
    rule(GEMINI, "reasoning_effort", OTHER_WORD, |asked, word| {
        let always_thinks = version(asked.model) == Some((2, 5)) && asked.model.contains("pro");
        when(
            always_thinks && word == "none",
            "thinking cannot be turned off for this model",
        )
    }),
    rule(MISTRAL, "reasoning_effort", OTHER_WORD, |_, word| {
        other_than(&["none", "high"], word)
    }),
];

fn when(is_refused: bool, why: &'static str) -> Why {
    is_refused.then_some(Cow::Borrowed(why))
}

fn above(value: &Value, most: f64) -> Why {
    let is_above = value.as_f64().is_some_and(|value| value > most);
    is_above.then(|| Cow::Owned(format!("its provider accepts numbers up to {most}")))
}

fn other_than(known: &[&str], word: &Value) -> Why {
    let is_known = word.as_str().is_none_or(|word| known.contains(&word));
    (!is_known).then(|| Cow::Owned(format!("the provider accepts one of {}", known.join(", "))))
}

fn is_one(value: &Value) -> bool {
    value.as_f64() == Some(1.0)
}

/// Newer Anthropic models accept no sampling parameters.
fn unsampled(asked: &AskedModel<'_>) -> Why {
    let is_newer = claude(asked.model).is_some_and(|version| version >= (4, 7));
    when(
        is_newer,
        "Claude from 4.7 on accepts no sampling parameters",
    )
}

/// As do models of `OpenAI` while they reason.
fn reasoned(asked: &AskedModel<'_>, value: &Value) -> Why {
    let can_be_kept = version(asked.model).is_some_and(|version| version >= (5, 1));
    let is_kept = can_be_kept
        && asked
            .parameters
            .get("reasoning_effort")
            .is_some_and(|word| word == "none");
    when(
        is_reasoning(asked.model) && !is_kept && !is_one(value),
        "a reasoning model chooses its own sampling; GPT from 5.1 on accepts it with \
        `reasoning_effort: none`",
    )
}

fn efforts_of_openai(model: &str) -> &'static [&'static str] {
    match version(model) {
        None => &["low", "medium", "high"],
        Some((5, 0)) => &["minimal", "low", "medium", "high"],
        Some((5, 1)) => &["none", "low", "medium", "high"],
        Some(version) if version < (5, 6) => &["none", "low", "medium", "high", "xhigh"],
        Some(_) => &["none", "low", "medium", "high", "xhigh", "max"],
    }
}

impl AskedModel<'_> {
    fn has(&self, parameter: &str) -> bool {
        self.parameters.contains_key(parameter)
    }

    /// Returns true if a Claude is made to think.
    fn thinks(&self) -> bool {
        let kind = self
            .parameters
            .get("extra")
            .and_then(|extra| extra.pointer("/thinking/type"));
        (self.has("reasoning_effort") && thinks_adaptively(self.model))
            || kind.is_some_and(|kind| kind != "disabled")
    }
}
