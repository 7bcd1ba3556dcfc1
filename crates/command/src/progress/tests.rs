//! Do lines and view say what happened?

use super::plain::{Plain, spent};
use super::state::State;
use super::view::{Size, lines};
use crate::output::Paint;
use console::measure_text_width;
use mcptest_replay::{Event, RowToRecord};
use std::time::Duration;

/// A recording with a simulated clock.
#[derive(Default)]
struct TimedRecording {
    state: State,
    plain: Plain,
    now: Duration,
    said: Vec<String>,
}

impl TimedRecording {
    fn of(rows: &[(&str, usize)]) -> Self {
        let rows = rows.iter().map(|(name, runs)| RowToRecord {
            name: (*name).to_owned(),
            runs: *runs,
            of: *runs,
            side: "fault",
        });
        let mut told = Self::default();
        told.tell(&Event::Began {
            rows: rows.collect(),
        });
        told
    }

    fn tell(&mut self, event: &Event) {
        self.said
            .extend(self.plain.line(event, &self.state, self.now));
        self.state.apply(event, self.now);
    }

    fn wait(&mut self, seconds: f64) {
        self.now += Duration::from_secs_f64(seconds);
    }

    fn start(&mut self, row: usize, run: usize) {
        self.tell(&Event::RunStarted {
            row,
            run,
            is_side: false,
        });
    }

    fn call(&mut self, row: usize, run: usize, tool: &str) {
        self.tell(&Event::Calls {
            row,
            run,
            server: Some("docs".to_owned()),
            tool: tool.to_owned(),
        });
    }

    fn answer(&mut self, row: usize, run: usize, tokens: u64, cost_usd: f64) {
        self.tell(&Event::Answered {
            row,
            run,
            tokens: Some(tokens),
            cost_usd: Some(cost_usd),
        });
    }

    fn finish(&mut self, row: usize, run: usize) {
        let stop_reason = Some("end_turn".to_owned());
        self.tell(&Event::RunFinished {
            row,
            run,
            stop_reason,
            unrecorded: None,
        });
    }

    fn run(&mut self, row: usize, run: usize, seconds: f64) {
        self.start(row, run);
        self.answer(row, run, 1204, 0.003);
        self.wait(seconds);
        self.finish(row, run);
    }

    fn view(&self, columns: usize, rows: usize) -> String {
        lines(
            &self.state,
            self.now,
            Size { columns, rows },
            Paint::default(),
        )
        .join("\n")
    }
}

#[test]
fn a_finished_run_has_a_line() {
    let mut told = TimedRecording::of(&[("weather [gpt-5]", 10)]);
    told.run(0, 3, 2.1);
    assert_eq!(
        told.said,
        ["recorded weather [gpt-5] run 3 of 10: 1,204 tokens, $0.003, 2.1 s"]
    );
}

#[test]
fn what_is_not_known_of_a_run_is_left_out_and_an_odd_end_is_said() {
    let mut told = TimedRecording::of(&[("own", 2)]);
    told.start(0, 1);
    told.tell(&Event::Answered {
        row: 0,
        run: 1,
        tokens: None,
        cost_usd: None,
    });
    told.wait(75.0);
    let stop_reason = Some("max_turns".to_owned());
    told.tell(&Event::RunFinished {
        row: 0,
        run: 1,
        stop_reason,
        unrecorded: None,
    });
    assert_eq!(
        told.said,
        ["recorded own run 1 of 2: 1 min 15 s, ended by max_turns"]
    );
    assert_eq!(
        spent(&told.state, false).unwrap(),
        "recorded 1 of 2 runs: tokens and cost are unknown"
    );
}

#[test]
fn a_failure_is_said_once_in_a_line_that_no_server_can_break() {
    let mut told = TimedRecording::of(&[("weather", 2)]);
    for run in 1..=2 {
        told.start(0, run);
        let unrecorded = Some("the server \u{1b}[2J died\nwith more".to_owned());
        told.tell(&Event::RunFinished {
            row: 0,
            run,
            stop_reason: None,
            unrecorded,
        });
    }
    assert_eq!(
        told.said,
        ["failed weather run 1 of 2: the server \\u001b[2J died"]
    );
    assert!(
        told.view(80, 24).starts_with("✗ weather"),
        "{}",
        told.view(80, 24)
    );
    assert_eq!(
        spent(&told.state, false).unwrap(),
        "recorded 0 of 2 runs: nothing was spent"
    );
}

#[test]
fn of_many_runs_a_line_a_second_tells() {
    let mut told = TimedRecording::of(&[("weather", 500)]);
    told.wait(1.0);
    (1..=21).for_each(|run| told.run(0, run, 0.1));
    assert_eq!(told.said.len(), 3, "{:?}", told.said);
    assert_eq!(
        told.said[1],
        "recorded weather run 11 of 500: 1,204 tokens, $0.003, 0.1 s (and 9 others)"
    );
}

#[test]
fn a_wait_for_a_provider_is_told_with_its_reason() {
    let mut told = TimedRecording::of(&[("weather", 3)]);
    told.start(0, 1);
    let why = "openai answered 429: slow down".to_owned();
    told.tell(&Event::Waits {
        row: 0,
        run: 1,
        wait: Duration::from_secs(45),
        why,
    });
    told.wait(5.0);
    assert!(
        told.view(120, 24)
            .contains("waiting 40 s: openai answered 429: slow down"),
        "{}",
        told.view(120, 24)
    );
    told.wait(25.0);
    assert_eq!(
        told.plain.heartbeat(&told.state, told.now).unwrap(),
        "0 of 3 runs: weather run 1 of 3 asks again in 15 s (openai answered 429: slow down), for 30 s"
    );
    told.tell(&Event::Answered {
        row: 0,
        run: 1,
        tokens: None,
        cost_usd: None,
    });
    assert!(
        !told.view(120, 24).contains("waiting"),
        "{}",
        told.view(120, 24)
    );
}

#[test]
fn a_long_silence_is_broken() {
    let mut told = TimedRecording::of(&[("weather", 3)]);
    told.run(0, 1, 20.0);
    told.start(0, 2);
    told.call(0, 2, "search");
    told.wait(29.0);
    assert_eq!(told.plain.heartbeat(&told.state, told.now), None);
    told.wait(1.0);
    assert_eq!(
        told.plain.heartbeat(&told.state, told.now).unwrap(),
        "1 of 3 runs, about 20 s left: weather run 2 of 3 calls search @ docs, for 30 s"
    );
    assert_eq!(told.plain.heartbeat(&told.state, told.now), None);
}

#[test]
fn saved_runs_are_told_and_counted() {
    let mut told = TimedRecording::of(&[("weather", 10)]);
    (1..=3).for_each(|run| told.run(0, run, 1.0));
    told.tell(&Event::Decided { row: 0, saved: 7 });
    assert_eq!(
        told.said.last().unwrap(),
        "decided weather after 3 runs: 7 more are not needed"
    );
    assert_eq!(
        spent(&told.state, false).unwrap(),
        "recorded 3 runs (7 more were not needed: their verdicts were decided): 3,612 tokens, about $0.009"
    );
    assert!(told.view(100, 24).contains("3/3") && told.view(100, 24).contains("decided, 7 saved"));
}

#[test]
fn the_runs_of_a_fault_matrix_are_numbered_for_themselves() {
    let mut told = TimedRecording::of(&[("weather", 1)]);
    told.run(0, 1, 1.0);
    told.tell(&Event::More { row: 0, runs: 6 });
    told.tell(&Event::RunStarted {
        row: 0,
        run: 2,
        is_side: true,
    });
    told.wait(1.0);
    told.finish(0, 2);
    assert_eq!(
        told.said.last().unwrap(),
        "recorded weather fault 2 of 6: 1.0 s"
    );
    assert!(told.view(100, 24).contains("2/7"), "{}", told.view(100, 24));
}

#[test]
fn what_was_spent_is_said_and_so_is_what_is_not_known_of_it() {
    let mut told = TimedRecording::of(&[("a", 1), ("b", 1)]);
    told.run(0, 1, 1.0);
    told.start(1, 1);
    told.tell(&Event::Answered {
        row: 1,
        run: 1,
        tokens: Some(50_000),
        cost_usd: None,
    });
    told.finish(1, 1);
    assert_eq!(
        spent(&told.state, true).unwrap(),
        "ran 2 runs: 51,204 tokens, at least about $0.003 (1 of 2 answers have no known price)"
    );
    assert_eq!(spent(&State::default(), false), None);
}

#[test]
fn the_view_has_a_row_for_each_cell_and_a_total() {
    let mut told = TimedRecording::of(&[
        ("weather [gpt-5]", 10),
        ("weather [claude-sonnet-4-5]", 10),
        ("tides", 4),
    ]);
    (1..=10).for_each(|run| told.run(0, run, 2.0));
    told.run(1, 1, 6.0);
    told.start(1, 2);
    told.start(1, 3);
    told.call(1, 2, "search");
    told.wait(1.0);
    assert_eq!(
        told.view(120, 24),
        "\
✓ weather [gpt-5]              ██████████  10/10  12,040 tok    $0.03
▸ weather [claude-sonnet-4-5]  █░░░░░░░░░   1/10   1,204 tok   $0.003  ~26 s        search @ docs (+1)
  tides                        ░░░░░░░░░░    0/4                                    waiting
11 of 24 runs · 13,244 tokens · $0.033 · 27 s · about 31 s left"
    );
}

#[test]
fn a_narrow_terminal_has_fewer_columns_and_no_line_is_too_wide() {
    let mut told = TimedRecording::of(&[
        ("weather in the mountains [claude-sonnet-4-5]", 10),
        ("天気", 4),
    ]);
    told.run(0, 1, 2.0);
    told.start(0, 2);
    told.call(0, 2, "a_tool_with_a_rather_long_name_indeed");
    for columns in 1..=140 {
        for line in told.view(columns, 24).lines() {
            assert!(
                measure_text_width(line) < columns.max(2),
                "{columns}: {line}"
            );
        }
    }
    assert_eq!(
        told.view(80, 24),
        "\
▸ weath…e-sonnet-4-5]  1/10   1,204 tok   $0.003  ~18 s        a_tool_with_a_r…
  天気                  0/4                                    waiting
1 of 14 runs · 1,204 tokens · $0.003 · 2 s · about 26 s left"
    );
    assert_eq!(
        told.view(50, 24),
        "\
▸ weathe…aude-sonnet-4-5]  1/10  a_tool_with_a_r…
  天気                      0/4  waiting
1 of 14 runs · $0.003 · about 26 s left"
    );
    assert_eq!(
        told.view(24, 24).lines().next().unwrap(),
        "▸ weat…onnet-4-5]  1/10"
    );
}

#[test]
fn of_hundreds_of_rows_those_at_work_are_shown() {
    let names: Vec<String> = (0..300).map(|at| format!("row {at}")).collect();
    let rows: Vec<(&str, usize)> = names.iter().map(|name| (name.as_str(), 2)).collect();
    let mut told = TimedRecording::of(&rows);
    (0..40).for_each(|row| (1..=2).for_each(|run| told.run(row, run, 1.0)));
    (40..60).for_each(|row| told.start(row, 1));
    let view = told.view(80, 24);
    let shown: Vec<&str> = view.lines().collect();
    assert_eq!(shown.len(), 14, "{view}");
    assert!(
        shown[0].starts_with("▸ row 40") && shown[11].starts_with("▸ row 51"),
        "{view}"
    );
    assert_eq!(
        shown[12],
        "  8 more at work, 40 rows done, 240 rows waiting"
    );
    assert_eq!(
        told.view(80, 6).lines().count(),
        5,
        "one line less than the terminal has"
    );
    assert_eq!(told.view(80, 1).lines().count(), 1);
}

#[test]
fn tool_tests_are_counted() {
    let mut told = TimedRecording::default();
    told.tell(&Event::ToolsBegan { tests: 40 });
    told.tell(&Event::ToolCalled {
        row_name: "adds".to_owned(),
        unrecorded: None,
    });
    told.tell(&Event::ToolCalled {
        row_name: "halves".to_owned(),
        unrecorded: Some("no such file".to_owned()),
    });
    assert_eq!(told.view(80, 24), "2 of 40 tool tests called · 1 failed");
    assert_eq!(told.said, ["failed halves: no such file"]);
    assert_eq!(spent(&told.state, false), None);
}
