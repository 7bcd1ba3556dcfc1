//! Which block of each gate does a correct run meet, and a wrong run not?

/// A run that meets every block.
pub(crate) const RIGHT: &str = r#"{"tool_calls":[{"name":"search","server":"docs","turn":1},{"name":"open_page","server":"docs","turn":2}],
    "tool_results":[{"call_index":0,"is_error":false},{"call_index":1,"is_error":false}],"final_response":"Found it."}"#;
/// A run that meets none of the blocks.
pub(crate) const WRONG: &str = r#"{"tool_calls":[{"name":"delete_page","server":"docs","turn":1}],
    "tool_results":[{"call_index":0,"is_error":true}],"final_response":"I created a page."}"#;

/// Every gate that can fail a single run by observed evidence, with a block that `WRONG` does not
/// meet.
pub(crate) const BLOCKS: [(&str, &str); 12] = [
    (
        "trajectory",
        "trajectory: { mode: strict, calls: [search, open_page] }",
    ),
    (
        "trajectory_axes",
        "trajectory_axes: { require_present: true, order: [{ first: search, second: open_page }] }",
    ),
    (
        "golden_path",
        "golden_path: { calls: [search, open_page], require: all }",
    ),
    ("narrative", "narrative: {}"),
    (
        "tool_selection",
        "tool_selection: { expected_tool: search, min_selection_rate: 1.0 }",
    ),
    (
        "equal_function_sets",
        "equal_function_sets: { classes: [{ name: find, members: [search] }, { name: read, members: [open_page] }] }",
    ),
    (
        "discovery",
        "discovery: { classes: [{ name: find, members: [search] }, { name: read, members: [open_page] }] }",
    ),
    (
        "distractors",
        "distractors: { count: 2, source: { from: catalog }, correct: [search] }",
    ),
    ("tool_edges", "tool_edges: { restricted: [delete_page] }"),
    (
        "token_efficiency",
        "token_efficiency: { classes: [{ name: find, members: [search] }, { name: read, members: [open_page] }] }",
    ),
    (
        "scenario",
        "scenario: { seed: { seen: { n: 0 } }, transitions: [{ tool: search, effect: { inc: { seen.n: 1 } } }], \
         expect_state: { seen.n: 1 } }",
    ),
    (
        "recovery",
        "recovery: { max_detection_ms: 1, max_recovery_ms: 1, failures: errors }",
    ),
];

/// The gate whose verdict on a run depends on recorded grades, which these tests do not have.
pub(crate) const ASKS_JUDGES: &str = "eval";
