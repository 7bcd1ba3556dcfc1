//! What holds for every gate? Tests take each gate from the registry and name none.

use super::GATES;
use crate::engine::Gates;
use crate::engine::assertion::Assertion;
use crate::engine::check::check;
use crate::engine::target::Range;
use crate::matcher::Matcher;
use crate::report::Number;
use crate::suite::read::{Field, Reading};
use crate::suite::variables::Scope;

#[test]
fn every_entry_keeps_every_rule_of_the_registry() {
    let broken: Vec<String> = GATES.iter().flat_map(|kind| check(kind, GATES)).collect();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

fn matcher(yaml: &str) -> Matcher {
    let mut problems = Vec::new();
    let node = crate::yaml::parse(yaml, 0, &mut problems).unwrap();
    let reading = Reading::new(Scope::default(), &|_| None, Gates::default());
    Matcher::read(&mut Field::new(&reading, &node)).unwrap()
}

#[test]
fn every_flag_takes_true_and_false_and_every_matcher_of_it_can_fail() {
    let flags = GATES
        .iter()
        .flat_map(|gate| gate.targets)
        .filter(|target| target.range == Range::Flag);
    let mut tried = 0;
    for target in flags {
        tried += 1;
        for (written, expected) in [
            ("exact: true", true),
            ("exact: false", false),
            ("exact: 1", true),
            ("not: {exact: true}", false),
            ("not: {exact: false}", true),
            ("one-of: [true]", true),
            ("any-of: [{exact: true}]", true),
        ] {
            let assertion = Assertion::new(*target, matcher(written));
            let check = |value: i64| assertion.check(Some(Number::Int(value))).passed;
            let name = target.name;
            assert_eq!(
                (check(1), check(0)),
                (expected, !expected),
                "{name} {written}"
            );
            assert!(assertion.lint(5).is_none(), "{name} {written}");
        }
        let both = Assertion::new(*target, matcher("one-of: [true, false]"));
        let said = both
            .lint(5)
            .map(|problem| problem.message)
            .unwrap_or_default();
        assert!(
            said.ends_with("this cannot fail"),
            "{}: {said}",
            target.name
        );
    }
    assert!(tried > 5);
}

#[test]
fn a_share_of_runs_that_may_be_0_cannot_fail_however_many_runs_there_are() {
    for target in GATES.iter().flat_map(|gate| gate.targets) {
        if target.range != Range::Ratio {
            continue;
        }
        let assertion = Assertion::new(*target, Matcher::at_least(0.0));
        for runs in [0, 1, 10] {
            let problem = assertion.lint(runs);
            let said = problem.map(|problem| problem.message).unwrap_or_default();
            assert!(
                said.ends_with("this cannot fail"),
                "{} with {runs} runs: {said}",
                target.name
            );
        }
    }
}
