//! What holds for every reporter?

use crate::{Options, REPORTERS, find, json, sample};
use mcptest_core::eval::GATES;
use mcptest_core::report::Report;
use std::collections::BTreeSet;

#[test]
fn every_reporter_has_its_own_key_and_says_what_it_is_for() {
    let keys: BTreeSet<_> = REPORTERS.iter().map(|reporter| reporter.key).collect();
    assert_eq!(keys.len(), REPORTERS.len());
    for reporter in REPORTERS {
        assert!(
            !reporter.doc.is_empty() && !reporter.doc.contains('\n'),
            "{}",
            reporter.key
        );
        assert!(!reporter.extension.starts_with('.') && !reporter.extension.is_empty());
        assert_eq!(
            find(reporter.key).map(|found| found.key),
            Some(reporter.key)
        );
    }
    assert!(find("yaml").is_none());
    assert_eq!(REPORTERS[0].key, "pretty");
}

#[test]
fn the_same_report_gives_the_same_bytes_also_when_read_back() {
    let report = sample::report();
    let saved = (find("json").unwrap().render)(&report, &Options::default());
    let again = json::read(std::str::from_utf8(&saved).unwrap()).unwrap();
    for reporter in REPORTERS {
        for options in [
            Options::default(),
            Options {
                colour: true,
                width: Some(80),
                verbose: 2,
                ..Options::default()
            },
        ] {
            let first = (reporter.render)(&report, &options);
            assert!(
                first == (reporter.render)(&report, &options),
                "{} twice",
                reporter.key
            );
            assert!(
                first == (reporter.render)(&again, &options),
                "{} read back",
                reporter.key
            );
            assert_eq!(first.last(), Some(&b'\n'), "{}", reporter.key);
        }
    }
}

#[test]
fn a_report_without_tests_is_rendered_by_all() {
    for reporter in REPORTERS {
        assert!(
            !(reporter.render)(&Report::new(vec![], GATES), &Options::default()).is_empty(),
            "{}",
            reporter.key
        );
    }
}
