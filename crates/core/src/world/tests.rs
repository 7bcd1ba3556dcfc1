//! The effects of calls on a small bank, and the calls that it refuses.

use super::*;
use crate::suite::read::Reading;
use crate::yaml;

fn world(text: &str) -> World {
    let mut problems = Vec::new();
    let root = yaml::parse(text, 0, &mut problems).unwrap();
    let reading = Reading::as_written(text);
    let world = Field::new(&reading, &root).block(World::read).unwrap();
    assert_eq!(reading.into_problems(), [], "{text}");
    world
}

fn step(world: &World, state: &mut Value, tool: &str, args: &Value) -> WorldStep {
    world.step(state, Tool::new(tool, None), args)
}

/// The state after one call of `go` with this effect.
fn after(seed: &Value, effect: &str, args: &Value) -> Value {
    let world = world(&format!(
        "seed: {seed}\ntransitions:\n  - tool: go\n    effect: {effect}\n"
    ));
    let mut state = world.seed.clone();
    assert!(matches!(
        step(&world, &mut state, "go", args),
        WorldStep::Changed(_)
    ));
    state
}

/// Why a call of `go` cannot be made under this guard; `None` if it can.
fn refusal(seed: &Value, guard: &str, args: &Value) -> Option<String> {
    let world = world(&format!(
        "seed: {seed}\ntransitions:\n  - tool: go\n    when: {guard}\n"
    ));
    match step(&world, &mut world.seed.clone(), "go", args) {
        WorldStep::Invalid(why) => Some(why),
        _ => None,
    }
}

#[test]
fn every_effect_changes_what_it_names_and_nothing_else() {
    let seed = json!({"a": {"n": 1, "list": [1, "x", 1.0]}, "b": true});
    let inner = |effect: &str| after(&seed, effect, &json!({}))["a"].clone();
    assert_eq!(
        inner("{ set: { a.n: [2] } }"),
        json!({"n": [2], "list": [1, "x", 1.0]})
    );
    assert_eq!(
        inner("{ set: { a.new.deep: 2 } }")["new"],
        json!({"deep": 2})
    );
    assert_eq!(
        inner("{ inc: { a.n: 2, a.m: 3 } }"),
        json!({"n": 3, "m": 3, "list": [1, "x", 1.0]})
    );
    assert_eq!(inner("{ dec: { a.n: 0.5 } }")["n"], json!(0.5));
    assert_eq!(
        inner("{ append: { a.list: y, a.other: z } }")["list"],
        json!([1, "x", 1.0, "y"])
    );
    assert_eq!(
        inner("{ remove: { a.list: 1, a.none: 2 } }")["list"],
        json!(["x"])
    );
    assert_eq!(
        inner("{ unset: [a.n, a.list.0] }"),
        json!({"list": ["x", 1.0]})
    );
    assert_eq!(after(&seed, "{ unset: a }", &json!({})), json!({"b": true}));
}

#[test]
fn an_effect_sees_what_those_before_it_did_and_a_refused_call_changes_nothing() {
    let twice = "{ set: { n: 10 }, inc: { n: 5 }, dec: { n: 2 }, append: { list: 1 }, remove: { list: 2 } }";
    assert_eq!(
        after(&json!({"n": 1, "list": [2]}), twice, &json!({})),
        json!({"n": 13, "list": [1]})
    );
    let world =
        world("seed: { n: 1, s: x }\ntransitions: [{ tool: go, effect: { inc: { n: 1, s: 1 } } }]");
    let mut state = world.seed.clone();
    assert!(matches!(
        step(&world, &mut state, "go", &json!({})),
        WorldStep::Invalid(_)
    ));
    assert_eq!(state, world.seed);
}

#[test]
fn a_guard_on_an_argument_that_is_missing_does_not_hold() {
    for guard in [
        "{ owner: { ne: '{user}' } }",
        "{ owner: '{user}' }",
        "{ 'of.{user}': { exists: false } }",
    ] {
        let why = refusal(&json!({"owner": "ann"}), guard, &json!({}));
        assert_eq!(
            why.as_deref(),
            Some("the call lacks an argument that a guard names"),
            "{guard}"
        );
    }
}

#[test]
fn arguments_are_filled_in_with_their_type_and_missing_ones_leave_their_effect_out() {
    let args = json!({"id": "a.b", "n": 2, "to": {"city": "Oslo"}});
    let effect = r#"{ set: { "o.{id}": { n: "{n}", at: "in {to.city}", no: "{missing}" }, "p.{missing}": 1, q: "{missing}" } }"#;
    let state = after(&json!({}), effect, &args);
    assert_eq!(
        state,
        json!({"o": {"a.b": {"n": 2, "at": "in Oslo"}}}),
        "a dot of an argument is no step"
    );
}

#[test]
fn every_guard_says_why_it_does_not_hold() {
    let seed = json!({"n": 5, "day": "2024-05-15", "open": true, "none": null});
    let holds = |guard: &str| refusal(&seed, guard, &json!({"x": 5, "k": "n"})).is_none();
    for guard in [
        "{ n: 5 }",
        "{ n: { eq: 5.0 } }",
        "{ n: { ne: 6 } }",
        "{ n: { min: 5, max: 5 } }",
        "{ n: { in: [4, 5] } }",
        "{ n: { exists: true } }",
        "{ m: { exists: false } }",
        "{ none: { eq: null } }",
        "{ day: { max: 2024-06 } }",
        "{ args.x: { max: 5 } }",
        "{ n: { eq: '{x}' } }",
        "{ '{k}': 5 }",
    ] {
        assert!(holds(guard), "{guard}");
    }
    for guard in [
        "{ n: { ne: 5 } }",
        "{ m: { ne: 5 } }",
        "{ day: { min: 3 } }",
        "{ n: { in: [] } }",
        "{ '{z}': 5 }",
    ] {
        assert!(!holds(guard), "{guard}");
    }
    let why = |guard: &str| refusal(&seed, guard, &json!({"x": 6})).unwrap();
    assert_eq!(
        why("{ n: { min: '{x}' } }"),
        "`n` is 5, and must be at least 6"
    );
    assert_eq!(why("{ m: open }"), "`m` is not there, and must be \"open\"");
    assert_eq!(
        why("{ '{z}': 5 }"),
        "the call lacks an argument that a guard names"
    );
}

#[test]
fn the_first_transition_that_holds_is_made_and_a_call_with_none_changes_nothing() {
    let world = world(
        "seed: { n: 1 }\ntransitions:\n  - { tool: bank.go, when: { n: 1 }, effect: { set: { n: 2 }, inc: { m: 1 } } }\n  \
         - { tool: bank.go, when: { n: 2 }, effect: { inc: { n: text } } }\n",
    );
    let mut state = world.seed.clone();
    assert!(
        matches!(step(&world, &mut state, "go", &json!({})), WorldStep::Changed(places) if places.len() == 2)
    );
    assert_eq!(state, json!({"n": 2, "m": 1}));
    let why = "`n` is 2, and must be 1; `n` cannot be changed by \"text\"";
    assert_eq!(
        step(&world, &mut state, "go", &json!({})),
        WorldStep::Invalid(why.to_owned())
    );
    assert_eq!(
        step(&world, &mut state, "look", &json!({})),
        WorldStep::Read
    );
    assert_eq!(state, json!({"n": 2, "m": 1}));
}

#[test]
fn what_cannot_be_changed_makes_the_call_invalid() {
    for (effect, why) in [
        ("{ set: { n.deep: 1 } }", "`n` is 5, so it has no entries"),
        (
            "{ set: { list.3: 1 } }",
            "`list` is a list of 1; it has no item 3",
        ),
        ("{ append: { n: 1 } }", "`n` is no list"),
    ] {
        let world = world(&format!(
            "seed: {{ n: 5, list: [0] }}\ntransitions:\n  - {{ tool: go, effect: {effect} }}\n"
        ));
        let mut state = world.seed.clone();
        assert_eq!(
            step(&world, &mut state, "go", &json!({})),
            WorldStep::Invalid(why.to_owned())
        );
        assert_eq!(state, world.seed);
    }
}
