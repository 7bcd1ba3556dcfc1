//! Do rows under `evals:` grade existing recordings, keep their grades separate, and run no agent?

use crate::bench::LiveFolder;
use serde_json::Value;

const POET: &str = "judge: { model: claude-sonnet-4-5 }
agents:
  - name: poet
    models: [claude-haiku-4-5, gpt-4o]
    prompt: Write a line about rain.
    runs: 2
    cassette: 'poet-{model}.jsonl'
    eval: { rubric: It is about rain. }
";

const OF_POET: &str = "evals: [{ name: tone, agent: poet, rubric: It rhymes., tags: [prose] }]\n";

/// Judges answer with `score`, agents with one line.
fn script(score: f64) -> String {
    format!(
        "rules:
  - when: {{ prompt: Judge the record }}
    then: repeat
    steps: [{{ text: '{{\"c1\": {{\"reason\": \"Spain rhymes with rain.\", \"score\": {score}}}}}' }}]
steps: [{{ text: The rain in Spain. }}]
"
    )
}

/// The number of requests from agents and from judges.
fn asked(bench: &LiveFolder) -> (usize, usize) {
    let log = bench.stub.log();
    let to_judges = log
        .iter()
        .filter(|logged| logged.text.contains("Judge the record"))
        .count();
    (log.len() - to_judges, to_judges)
}

fn grades_of(bench: &LiveFolder, word: &str) -> Vec<String> {
    let is_one = |name: &String| name.ends_with(".grades.json") && name.contains(word);
    bench.files().into_iter().filter(is_one).collect()
}

fn bytes_of_replay(bench: &LiveFolder) -> String {
    let words = ["run", "suite.yml", "--reporter", "json=replayed.json"];
    bench.command(&words).env_clear().output().unwrap();
    bench.read("replayed.json")
}

#[test]
fn every_row_of_an_agent_is_graded_and_replayed_with_the_same_bytes() {
    let bench = LiveFolder::with(&format!("{POET}{OF_POET}"), &script(0.9), "");
    bench.record(&["--record", "--reporter", "json=recorded.json"], 0);
    assert_eq!(
        asked(&bench),
        (4, 8),
        "the eval has the judges asked, and no agent"
    );
    let report = bench.report("recorded.json");
    let names: Vec<String> = report["tests"]
        .as_array()
        .unwrap()
        .iter()
        .map(|test| {
            format!(
                "{} {}",
                test["name"].as_str().unwrap(),
                test["model"].as_str().unwrap()
            )
        })
        .collect();
    assert_eq!(
        names,
        [
            "poet claude-haiku-4-5",
            "poet gpt-4o",
            "tone claude-haiku-4-5",
            "tone gpt-4o"
        ],
        "{report:#}"
    );
    assert_eq!(
        report["tests"][3]["gates"][0]["targets"]["eval.pass_rate"],
        1.0
    );
    assert_eq!(report["tests"][3]["runs"][1]["source"], "poet-gpt-4o.jsonl");
    assert_eq!(
        (
            grades_of(&bench, "poet-").len(),
            grades_of(&bench, "tone").len()
        ),
        (2, 2)
    );
    assert_eq!(bytes_of_replay(&bench), bench.read("recorded.json"));
    assert_eq!(asked(&bench), (4, 8));
    let selected = bench.run(&["run", "suite.yml", "--tag", "prose", "--list"]);
    assert!(
        selected.stdout.contains("tone") && !selected.stdout.contains("poet"),
        "{selected:?}"
    );
}

#[test]
fn a_changed_rubric_is_graded_anew_and_nobody_else_is_asked() {
    let bench = LiveFolder::with(&format!("{POET}{OF_POET}"), &script(0.9), "");
    bench.record(&["--record"], 0);
    let kept: Vec<String> = grades_of(&bench, "poet-")
        .iter()
        .map(|name| bench.read(name))
        .collect();
    let changed = OF_POET.replace(
        "It rhymes.",
        "{ criteria: [It rhymes well., It scans.] }, samples: 3",
    );
    bench.write("suite.yml", &format!("{POET}{changed}"));
    let said = bench.replay(2);
    said.says("the grade of run 1 for `eval` is stale")
        .says("the rubric has changed");
    said.says("mcptest eval suite.yml --filter 'tone [gpt-4o]'");
    let before = asked(&bench);
    let explained = bench.run(&["eval", "suite.yml", "--explain"]);
    explained
        .says("tone [gpt-4o]  eval")
        .says("2 runs × 2 criteria × 1 judge × 3 samples = 12");
    explained.says("24 calls to judges");
    assert_eq!(asked(&bench), before);
    let graded = bench.run(&["eval", "suite.yml"]);
    assert_eq!(graded.exit, Some(0), "{graded:?}");
    assert_eq!(
        asked(&bench),
        (before.0, before.1 + 24),
        "as many as were announced"
    );
    let now: Vec<String> = grades_of(&bench, "poet-")
        .iter()
        .map(|name| bench.read(name))
        .collect();
    assert_eq!(now, kept, "the agent's own grades are its own");
    bench.replay(0);
}

#[test]
fn what_is_missing_or_stale_is_recorded_by_the_command_that_the_row_names() {
    let bench = LiveFolder::with(&format!("{POET}{OF_POET}"), &script(0.9), "");
    let command = "mcptest run suite.yml --record --filter 'poet [gpt-4o]'";
    let only_eval = |exit: i32| {
        let ran = bench.run(&["run", "suite.yml", "--filter", "tone [gpt-4o]"]);
        assert_eq!(ran.exit, Some(exit), "{ran:?}");
        ran
    };
    only_eval(2)
        .says("no recording found at poet-gpt-4o.jsonl")
        .says(command);
    // Selecting the eval alone runs no agent, whatever is asked for.
    bench.record(&["--record", "--filter", "tone"], 2);
    assert_eq!(asked(&bench), (0, 0));
    bench.record(&["--record"], 0);
    only_eval(0);
    let all = format!("{POET}{OF_POET}");
    bench.write(
        "suite.yml",
        &all.replace("about rain.\n    runs", "about snow.\n    runs"),
    );
    only_eval(2)
        .says("poet-gpt-4o.jsonl is stale")
        .says(&command.replace("--record", "--record=stale"));
    bench.write("suite.yml", &all.replace("runs: 2", "runs: 3"));
    only_eval(2)
        .says("2 of 3 runs are recorded")
        .says(&command.replace("--record", "--record=missing"));
    // Another number of runs from the command line is another number for the eval too.
    bench.write("suite.yml", &all);
    let ran = bench.run(&["run", "suite.yml", "--record=missing", "--runs", "3"]);
    assert_eq!(ran.exit, Some(0), "{ran:?}");
}

#[test]
fn traces_and_texts_are_graded_as_they_are() {
    let text = format!(
        "{POET}evals:
  - {{ name: files, traces: 'poet-*.jsonl', rubric: It rhymes., min_pass_rate: 0.5 }}
  - {{ name: words, texts: [The rain in Spain., A dry day.], rubric: It rhymes., sees: text }}
"
    );
    let bench = LiveFolder::with(&text, &script(0.4), "");
    bench.record(&["--record", "--reporter", "json=recorded.json"], 1);
    assert_eq!(asked(&bench), (4, 10));
    let report = bench.report("recorded.json");
    let tests = report["tests"].as_array().unwrap();
    let of = |name: &str| tests.iter().find(|test| test["name"] == name).unwrap();
    assert_eq!(of("files")["runs"].as_array().unwrap().len(), 4);
    assert_eq!(
        of("files")["gates"][0]["expectations"][0]["target"],
        "eval.pass_rate"
    );
    assert_eq!(
        (&of("words")["status"], &of("words")["unpinned"]),
        (&"failed".into(), &Value::Null)
    );
    assert_eq!(bytes_of_replay(&bench), bench.read("recorded.json"));
    let log = bench.stub.log();
    assert!(log.iter().any(|logged| logged.text.contains("A dry day.")));
    bench.write("suite.yml", &text.replace("A dry day.", "A wet day."));
    bench
        .replay(2)
        .says("the grade of run 2 for `eval` is stale")
        .says("the judged evidence has changed");
    bench.write("suite.yml", &text.replace("poet-*.jsonl", "nowhere.jsonl"));
    bench
        .replay(2)
        .says("no recording found at nowhere.jsonl")
        .says("remove it from `traces:`");
}

#[test]
fn what_cannot_be_graded_is_refused_before_anything_runs() {
    for (evals, why) in [
        (
            "{ name: tone, agent: poett, rubric: x }",
            "did you mean `poet`?",
        ),
        ("{ name: tone, rubric: x }", "no runs to grade are named"),
        (
            "{ name: tone, agent: poet, texts: [a], rubric: x }",
            "`agent` and `texts` cannot be used together",
        ),
        ("{ name: tone, texts: [], rubric: x }", "the list is empty"),
        ("{ name: tone, agent: poet }", "`rubric` is missing here"),
        (
            "{ name: tone, agent: poet, rubric: x, prompt: y }",
            "unknown key `prompt`",
        ),
        (
            "{ name: tone, agent: poet, rubric: x, quorum: 0.6 }",
            "`quorum` has no effect without `jurors:`",
        ),
        (
            "{ name: a, agent: b, rubric: x }, { name: b, texts: [c], rubric: x }",
            "has no entry `b`",
        ),
        (
            "{ name: a, texts: [b], rubric: x }, { name: a, texts: [c], rubric: x }",
            "`a` is declared twice",
        ),
        (
            "{ name: 'poet [gpt-4o]', texts: [a], rubric: x }",
            "two rows are called `poet [gpt-4o]`",
        ),
    ] {
        let bench = LiveFolder::with(&format!("{POET}evals: [{evals}]\n"), &script(0.9), "");
        for command in ["validate", "run", "eval"] {
            let ran = bench.run(&[command, "suite.yml"]);
            assert_eq!(ran.exit, Some(2), "{command}: {evals}: {ran:?}");
            ran.says(why);
        }
        assert_eq!(bench.stub.count(), 0);
    }
}

#[test]
fn a_suite_may_have_nothing_but_evals() {
    let alone = "judge: { model: claude-sonnet-4-5 }\nevals: [{ name: words, texts: [Rain.], rubric: x }]\n";
    let bench = LiveFolder::with(alone, &script(0.9), "");
    bench.run(&["eval", "."]).says("1 passed");
    bench.replay(0);
}

#[test]
fn an_eval_follows_the_rows_and_the_early_stop_of_its_agent() {
    let suite = "judge: { model: claude-sonnet-4-5 }
servers: { desk: { command: [./server, mock, --tools-from, manifest.yml] } }
agents:
  - name: stops
    model: claude-haiku-4-5
    prompt: Write a line about rain.
    runs: 5
    stop: decided
    cassette: stops.jsonl
    expect: [{ target: final_response, matcher: { contains: snow } }]
  - name: crowded
    model: claude-haiku-4-5
    servers: [desk]
    prompt: Write a line about rain.
    cassette: crowded.jsonl
    distractors: { correct: [search], sweep: [0, 2] }
evals:
  - { name: few, agent: stops, rubric: It rhymes. }
  - { name: many, agent: crowded, rubric: It rhymes. }
";
    let manifest = "mock_server: { tools: [{ name: search, description: Finds pages. }] }\n";
    let bench = LiveFolder::with(suite, &script(0.9), manifest);
    bench.run(&["run", "suite.yml", "--record", "--jobs", "1"]);
    let kept = bench.traces("stops.jsonl").len();
    assert!(kept < 5, "{kept}");
    let ran = bench.run(&[
        "run",
        "suite.yml",
        "--filter",
        "re:few|many",
        "--reporter",
        "json=evals.json",
    ]);
    assert_eq!(ran.exit, Some(0), "{ran:?}");
    let report = bench.report("evals.json");
    let tests = report["tests"].as_array().unwrap();
    let rows: Vec<(&Value, usize)> = tests
        .iter()
        .map(|test| (&test["variant"], test["runs"].as_array().unwrap().len()))
        .collect();
    assert_eq!(
        rows,
        [
            (&Value::Null, kept),
            (&"0 distractors".into(), 1),
            (&"2 distractors".into(), 1)
        ]
    );
}

#[test]
fn live_runs_and_given_traces_leave_what_an_eval_means_as_it_is() {
    let bench = LiveFolder::with(&format!("{POET}{OF_POET}"), &script(0.9), "");
    bench.record(&["--record"], 0);
    let files = bench.files();
    let live = bench.record(&["--live", "--filter", "tone"], 0);
    assert_eq!((asked(&bench), bench.files()), ((4, 12), files), "{live:?}");
    // The folder stands in place of the recordings that the eval names.
    std::fs::create_dir(bench.path("given")).unwrap();
    std::fs::rename(
        bench.path("poet-gpt-4o.jsonl"),
        bench.path("given/one.jsonl"),
    )
    .unwrap();
    let words = [
        "--traces",
        "given",
        "--config",
        "suite.yml",
        "--filter",
        "tone",
    ];
    let graded = bench.run(&[&["eval"], &words[..]].concat());
    assert_eq!(graded.exit, Some(0), "{graded:?}");
    assert_eq!(asked(&bench), (4, 14));
    let replayed = bench.run(&[&["run"], &words[..]].concat());
    assert_eq!(
        (replayed.exit, asked(&bench)),
        (Some(0), (4, 14)),
        "{replayed:?}"
    );
}
