//! `ndjson`: one JSON object per line, for streams and log collectors.

use crate::bound::{bounded, numbers_alone};
use crate::{Options, Reporter};
use mcptest_core::json::{Layout, write};
use mcptest_core::report::{Report, TestReport};
use rayon::prelude::*;

pub(crate) const REPORTER: Reporter = Reporter::new(
    "ndjson",
    "one JSON object per line: each test, then the summary",
    "ndjson",
    render,
);

/// The number of tests that justify a separate task.
const AT_ONCE: usize = 64;

fn render(report: &Report, _: &Options) -> Vec<u8> {
    let report = numbers_alone(report);
    let report = bounded(&report);
    let mut out = match &report.tests[..] {
        few if few.len() <= AT_ONCE => tests(few),
        many => many
            .par_chunks(AT_ONCE)
            .map(tests)
            .collect::<Vec<_>>()
            .concat(),
    };
    if let Some(coverage) = &report.coverage {
        out.push_str(&line(
            "\"type\":\"coverage\"",
            &write(coverage, Layout::Compact),
        ));
    }
    let first = format!(
        "\"type\":\"summary\",\"schema_version\":{}",
        report.schema_version
    );
    out.push_str(&line(&first, &write(&report.summary, Layout::Compact)));
    out.into_bytes()
}

fn tests(tests: &[TestReport]) -> String {
    tests
        .iter()
        .map(|test| line("\"type\":\"test\"", &test.to_json()))
        .collect()
}

/// A non-empty object, with further members before its own.
fn line(first: &str, object: &str) -> String {
    format!("{{{first},{}\n", &object[1..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use mcptest_core::eval::Gates;
    use mcptest_core::report::Evidence;
    use serde_json::{Value, json};

    #[test]
    fn each_test_is_a_line_and_the_summary_is_the_last() {
        let report = sample::report();
        let mut with_evidence = report.clone();
        for gate in with_evidence
            .tests
            .iter_mut()
            .flat_map(|test| &mut test.gates)
        {
            gate.evidence = Some(Box::new(Evidence::ToolSelection { tools: Vec::new() }));
        }
        let text = String::from_utf8(render(&with_evidence, &Options::default())).unwrap();
        let lines: Vec<Value> = text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let (last, tests) = lines.split_last().unwrap();
        assert_eq!(tests.len(), report.tests.len());
        for (line, test) in tests.iter().zip(&report.tests) {
            assert_eq!(line["type"], "test");
            assert_eq!(
                &serde_json::from_value::<TestReport>(line.clone()).unwrap(),
                test
            );
        }
        assert_eq!(last["type"], "summary");
        assert_eq!(
            (&last["schema_version"], &last["tests"]),
            (&json!(1), &json!(report.tests.len()))
        );
    }

    #[test]
    fn every_line_starts_with_its_type() {
        let text = String::from_utf8(render(&sample::report(), &Options::default())).unwrap();
        assert!(text.lines().all(|line| line.starts_with("{\"type\":\"")));
    }

    #[test]
    fn many_tests_are_in_order() {
        let one = sample::report();
        let tests: Vec<TestReport> = (0..=3 * AT_ONCE)
            .map(|number| {
                let mut test = one.tests[0].clone();
                test.name = number.to_string();
                test
            })
            .collect();
        let text = String::from_utf8(render(
            &Report::new(tests, Gates::default()),
            &Options::default(),
        ))
        .unwrap();
        let names = text
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap()["name"].clone());
        let wanted = (0..=3 * AT_ONCE).map(|number| Value::from(number.to_string()));
        assert!(names.eq(wanted.chain([Value::Null])));
    }

    #[test]
    fn nothing_selected_is_a_summary_alone() {
        let text = String::from_utf8(render(
            &Report::new(vec![], Gates::default()),
            &Options::default(),
        ))
        .unwrap();
        let totals = r#""tests":0,"passed":0,"failed":0,"errors":0,"skipped":0,"runs":0,"gates":0,"not_exercised":0"#;
        assert_eq!(
            text,
            format!("{{\"type\":\"summary\",\"schema_version\":1,{totals}}}\n")
        );
    }
}
