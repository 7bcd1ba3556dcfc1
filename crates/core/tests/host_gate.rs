//! Can a host judge by its own gate, using only the library's public names?

#![allow(clippy::unwrap_used, missing_docs)]

use mcptest_core::gates::{
    Block, Documentation, Gate, GateKind, GateTrait, Gates, OUTCOME_GATES, RUN_GATES, Run,
    RunFailsBy, RunScores, Target, check,
};
use mcptest_core::{
    Host, Loaded, Recorded, Report, RowId, Status, Suite, Trace, judge, load, load_for_traces,
};
use std::path::Path;

const WORDS: Target = Target::count("short_answer.words", "words of the closing message");

/// The block.
struct ShortAnswer {
    most_words: u64,
}

impl ShortAnswer {
    fn read(block: &mut Block<'_>) -> Self {
        let doc = "The most words that the closing message may have; 3 when left out";
        let most_words = block.optional("most_words", doc, |field| field.whole(1..=100));
        Self {
            most_words: most_words.unwrap_or(3),
        }
    }
}

impl Gate for ShortAnswer {
    fn expect_beside(&self, _has_expect: bool) -> Vec<(Target, f64)> {
        vec![(WORDS, self.most_words as f64)]
    }

    fn score_run(&self, run: &Run<'_>) -> RunScores {
        let message = run.trace.final_response.as_deref().unwrap_or_default();
        let words = message.split_whitespace().count();
        let mut scores = RunScores::default();
        scores
            .whole(&WORDS, words)
            .find_about(&[WORDS], format!("the closing message has {words} words"));
        scores
    }
}

const PAGE: &str = "# Short answers

| Target | |
|---|---|
| `short_answer.words` | words of the closing message |

```yaml
agents:
  - name: brief
    model: gpt-5
    prompt: Say hello.
    short_answer: { most_words: 2 }
```
";

const EXAMPLE: &str = "
agents:
  - name: brief
    model: gpt-5
    prompt: Say hello.
    short_answer: true
";

const SHORT_ANSWER: GateKind = GateKind::new(
    "short_answer",
    Documentation {
        summary: "Is the closing message short enough?",
        doc: PAGE,
        example: EXAMPLE,
    },
    &[WORDS],
    RunFailsBy::Assertions,
    |block| Box::new(ShortAnswer::read(block)),
)
.with_traits(&[GateTrait::TakesTrue]);

static ALL: Gates = Gates::new(&[RUN_GATES, OUTCOME_GATES, &[SHORT_ANSWER]]);

const SUITE: &str = "
agents:
  - name: brief
    model: gpt-5
    prompt: Say hello.
    short_answer: { most_words: 2 }
    golden_path: { calls: [greet] }
";

fn loaded(gates: Gates) -> Loaded {
    let read = |_: &Path| Ok(SUITE.as_bytes().to_vec());
    let host = Host {
        gates,
        ..Host::new(&read, &|_| None)
    };
    load(Path::new("brief.yml"), &host)
}

fn suite() -> Suite {
    loaded(ALL)
        .into_result()
        .unwrap_or_else(|refused| panic!("{refused}"))
}

fn report(message: &str) -> Report {
    let text = format!(r#"{{"tool_calls":[{{"name":"greet"}}],"final_response":"{message}"}}"#);
    let traces = [Trace::read(&text).unwrap()];
    judge(
        &suite(),
        &[(RowId::new("brief"), Recorded::from_traces(&traces))],
    )
}

#[test]
fn the_entry_keeps_every_rule_of_the_registry() {
    assert_eq!(check(&SHORT_ANSWER, ALL), Vec::<String>::new());
}

#[test]
fn an_entry_that_breaks_rules_is_told_which() {
    const SILENT: GateKind = GateKind::new(
        "silent",
        Documentation {
            summary: "",
            doc: "no heading",
            example: "agents: [{ name: a, model: m, prompt: p }]",
        },
        &[WORDS],
        RunFailsBy::Assertions,
        |block| Box::new(ShortAnswer::read(block)),
    );
    static WITH_SILENT: Gates = Gates::new(&[&[SHORT_ANSWER, SILENT]]);
    let broken = check(&SILENT, WITH_SILENT).join("\n");
    for rule in [
        "`silent`: it has no summary",
        "its page does not begin with a heading",
        "its page does not name `short_answer.words`",
        "its page shows no suite",
        "its example does not use it",
    ] {
        assert!(broken.contains(rule), "{rule}:\n{broken}");
    }
}

#[test]
fn it_judges_beside_the_gates_of_mcptest_and_the_report_defines_it() {
    let good = report("Hello there");
    assert_eq!(good.tests[0].status, Status::Passed, "{good:#?}");
    let bad = report("Hello to all of you");
    assert_eq!(bad.tests[0].status, Status::Failed);
    let keys: Vec<&str> = bad.tests[0]
        .gates
        .iter()
        .map(|gate| gate.key.as_str())
        .collect();
    assert_eq!(
        keys,
        ["golden_path", "short_answer"],
        "in the order of the list"
    );
    let gate = &bad.tests[0].gates[1];
    assert_eq!(gate.failed_runs, [1]);
    assert_eq!(
        gate.explanation[0].message,
        "the closing message has 5 words"
    );
    let definition = &bad.gates["short_answer"];
    assert_eq!(definition.summary, SHORT_ANSWER.summary);
    assert!(definition.targets.contains_key(WORDS.name));
}

#[test]
fn without_it_its_key_is_unknown() {
    let refused = loaded(mcptest_core::gates::GATES)
        .into_result()
        .unwrap_err();
    let message = refused.to_string();
    assert!(message.contains("unknown key `short_answer`"), "{message}");
}

#[test]
fn a_misspelt_key_in_its_block_is_refused_in_its_place() {
    let text = SUITE.replace("most_words", "most_word");
    let read = |_: &Path| Ok(text.as_bytes().to_vec());
    let host = Host {
        gates: ALL,
        ..Host::new(&read, &|_| None)
    };
    let loaded = load_for_traces(Path::new("brief.yml"), &host);
    let message = loaded.into_result().unwrap_err().to_string();
    assert!(message.contains("brief.yml:6:"), "{message}");
    assert!(message.contains("did you mean `most_words`"), "{message}");
}
