//! `generate`: the reference pages and schemas, from the same entries that the tool runs on.

use crate::say;
use mcptest::GATES;
use mcptest_core::eval::{Better, Fold, GateKind, Range, Target};
use mcptest_core::provider::{FAMILIES, KINDS};
use std::path::Path;
use std::process::ExitCode;

pub(crate) fn run(arguments: &[String]) -> Result<ExitCode, String> {
    let check = match arguments {
        [] => false,
        [flag] if flag == "--check" => true,
        _ => return Err("usage: cargo xtask generate [--check]".to_owned()),
    };
    let mut stale = 0;
    for (path, text) in pages() {
        let current = std::fs::read_to_string(&path).unwrap_or_default();
        if current == text {
            continue;
        }
        stale += 1;
        if check {
            say(&format!(
                "{path} is out of date: run `cargo xtask generate`"
            ));
            continue;
        }
        let folder = Path::new(&path).parent().unwrap_or(Path::new(""));
        std::fs::create_dir_all(folder)
            .and_then(|()| std::fs::write(&path, &text))
            .map_err(|error| format!("{path}: {error}"))?;
        say(&format!("wrote {path}"));
    }
    Ok(ExitCode::from(u8::from(check && stale > 0)))
}

/// Every generated file with its text.
fn pages() -> Vec<(String, String)> {
    let mut pages = vec![
        (
            "docs/schema/suite.schema.json".to_owned(),
            format!("{:#}\n", mcptest_core::suite::json_schema(GATES)),
        ),
        (
            "docs/schema/manifest.schema.json".to_owned(),
            format!("{:#}\n", mcptest_mock::manifest::json_schema()),
        ),
        (
            "docs/schema/trace.schema.json".to_owned(),
            format!("{:#}\n", mcptest_core::trace::fields::json_schema()),
        ),
        ("docs/traces.md".to_owned(), traces()),
        (
            "docs/schema/report.schema.json".to_owned(),
            mcptest_report::json::SCHEMA.to_owned(),
        ),
        (
            "docs/schema/verdicts.schema.json".to_owned(),
            mcptest_report::verdicts::SCHEMA.to_owned(),
        ),
        (
            "docs/schema/calibration.schema.json".to_owned(),
            mcptest_grade::show::calibration::SCHEMA.to_owned(),
        ),
        (
            "docs/schema/baseline-diff.schema.json".to_owned(),
            mcptest_compare::show::baseline::SCHEMA.to_owned(),
        ),
        (
            "docs/schema/compare.schema.json".to_owned(),
            mcptest_compare::show::reports::SCHEMA.to_owned(),
        ),
        ("docs/reference/README.md".to_owned(), index()),
        ("docs/reference/matchers.md".to_owned(), matchers()),
        ("docs/reference/providers.md".to_owned(), providers()),
        ("docs/reference/reporters.md".to_owned(), reporters()),
        (
            "docs/reference/suite.md".to_owned(),
            crate::yaml_reference::page(&mcptest_core::suite::json_schema(GATES)),
        ),
    ];
    for gate in GATES {
        pages.push((format!("docs/reference/{}.md", gate.key), anchored(gate)));
    }
    pages
}

/// The page of a gate, with anchors for its targets.
fn anchored(gate: &GateKind) -> String {
    let mut text = gate.doc.to_owned();
    for target in gate.targets {
        let (row, name) = (format!("| `{}`", target.name), format!("`{}`", target.name));
        let at = text
            .find(&row)
            .map(|at| at + 2)
            .or_else(|| text.find(&name));
        let anchor = format!("<a id=\"{}\"></a>", target.anchor());
        text.insert_str(at.unwrap_or(text.len()), &anchor);
    }
    text
}

fn index() -> String {
    let mut text = String::from(
        "# Reference\n\nThe gates, each a block of an agent. `mcptest explain NAME` prints the same page.\n\n\
         | Block | Question |\n|---|---|\n",
    );
    for gate in GATES {
        text.push_str(&format!(
            "| [`{0}`]({0}.md) | {1} |\n",
            gate.key, gate.summary
        ));
    }
    text.push_str(
        "\n## Every target\n\n| Target | Values | Over several runs | Meaning |\n|---|---|---|---|\n",
    );
    for target in GATES.iter().flat_map(|gate| gate.targets) {
        let (values, fold) = (values(target.range), fold(target));
        text.push_str(&format!(
            "| `{}` | {values} | {fold} | {} |\n",
            target.name, target.doc
        ));
    }
    text.push_str("\nSee also the [matchers](matchers.md), the [providers](providers.md), the [reporters](reporters.md), and [which edits to a run each gate sees](../gate-power.md).\n");
    text
}

/// The page on traces, with the table of its fields between the two marks.
fn traces() -> String {
    const MARKS: [&str; 2] = ["<!-- fields -->\n", "<!-- end of fields -->"];
    let page = std::fs::read_to_string("docs/traces.md").unwrap_or_default();
    let Some((before, rest)) = page.split_once(MARKS[0]) else {
        return MARKS.concat();
    };
    let (_, after) = rest.split_once(MARKS[1]).unwrap_or_default();
    let rows = mcptest_core::trace::fields::documentation();
    let row =
        |(path, kind, doc): (String, &str, String)| format!("| `{path}` | {kind} | {doc} |\n");
    let rows: String = rows.into_iter().map(row).collect();
    let head = "| Field | | |\n|---|---|---|\n";
    format!("{before}{}\n{head}{rows}\n{}{after}", MARKS[0], MARKS[1])
}

fn values(range: Range) -> &'static str {
    match range {
        Range::Flag => "0 or 1",
        Range::Percent => "0 to 100",
        Range::Ratio => "0 to 1",
        Range::Count => "0, 1, 2, …",
        Range::Amount => "0 and up",
    }
}

fn fold(target: &Target) -> &'static str {
    match (target.fold, target.better()) {
        (Fold::Worst, Better::High) => "lowest",
        (Fold::Worst, Better::Low) => "highest",
        (Fold::Sum, _) => "sum",
        (Fold::Pooled, _) => "over all runs at once",
    }
}

fn providers() -> String {
    let mut text = String::from(
        "# Providers\n\nKnown by the ids of their models; [how models are named and asked](../providers.md).\n\n\
         | Ids that begin with | Provider | Key | Another base URL |\n|---|---|---|---|\n",
    );
    let either = |names: &[&str]| {
        names
            .iter()
            .map(|name| format!("`{name}`"))
            .collect::<Vec<_>>()
            .join(" or ")
    };
    for family in FAMILIES {
        let (keys, urls) = (either(family.keys), either(family.base_urls));
        text.push_str(&format!(
            "| {} | {} | {keys} | {urls} |\n",
            family.shown_prefixes(),
            family.title
        ));
    }
    text.push_str("\n## Under `providers:`\n\n| `type` | Dialect | Sent to |\n|---|---|---|\n");
    for kind in KINDS {
        text.push_str(&format!(
            "| `{}` | {} | `{}` |\n",
            kind.name, kind.dialect, kind.path
        ));
    }
    text
}

fn reporters() -> String {
    let mut text = String::from(
        "# Reporters\n\n`--reporter KIND` writes to standard output, `--reporter KIND=FILE` to a file; without either, the \
         first one writes to standard output.\n\n| Kind | What it is for |\n|---|---|\n",
    );
    for reporter in mcptest_report::REPORTERS {
        text.push_str(&format!("| `{}` | {} |\n", reporter.key, reporter.doc));
    }
    text
}

fn matchers() -> String {
    const TITLE: &str = "# Matchers\n\nAn expectation is `{target, matcher, message?}`. A matcher is a map \
         with one of the keys below. A target that has no value fails every matcher, `not` included; only `absent: \
         true` passes.\n\n";
    const TABLE: &str = "| Matcher | Meaning | Applies to |\n|---|---|---|\n";
    let mut text = format!("{TITLE}{THREE_ANSWERS}## The matchers\n\n{TABLE}");
    for matcher in mcptest_core::matcher::documentation() {
        let also = matcher
            .alias
            .map(|alias| format!(" (`{alias}`)"))
            .unwrap_or_default();
        let (key, doc, asked_of) = (matcher.key, matcher.doc, matcher.asked_of);
        text.push_str(&format!("| `{key}`{also} | {doc} | {asked_of} |\n"));
    }
    text
}

const THREE_ANSWERS: &str = r#"## Three answers

A matcher holds, does not hold, or does not apply to the value. For example, a number cannot be compared with a text, and a pattern cannot match a list. A matcher that does not apply fails, and so does its `not`: nothing was measured, so nothing passes. The failure names the path to write.

```yaml
# Fails for every run: a result's content is a list of blocks, and no block is a text.
- { target: "tool_results[0].content", matcher: { not: { icontains: error } } }
# Checks the text of the first block of the first result.
- { target: "tool_results[0].content[0].text", matcher: { not: { icontains: error } } }
# Checks the texts of all results. Two stars make one flat list.
- { target: "tool_results[*].content[*].text", matcher: { no-item: { icontains: error } } }
```

- `any-of` holds if one of its matchers holds, even if others do not apply. Likewise, `all-of` does not hold if one of its matchers does not. Use `any-of` for values of two types: `any-of: [{ exact: 5 }, { regex: "^5 " }]`.
- `any-item`, `every-item` and `no-item` treat the items of a list likewise: `no-item` passes only if its matcher applies to every item.
- Equality applies to every value: `not: { exact: 5 }` holds for `"5"`.
- `"900"` is a text, not a number, and `gte: 500` does not apply to it. In rules of safety, such as `forbidden:` in a scenario, doubt counts as danger: there `"900"` counts as 900.
- Numbers are compared exactly, even beyond 2^53.

"#;
