//! SCHEMA: are the declared schemas valid, and do answers match them?

use super::answer::Answer;
use super::bench::{MadeCall, ServerUnderTest};
use super::finding::{Finding, Verdict};
use super::{Probe, ProbeOutcome, does_not_apply, skip};
use mcptest_core::schema::JsonSchema;
use mcptest_core::suite::output_faults;
use mcptest_mcp::era::Era;
use serde_json::Value;

pub(super) const PROBES: &[Probe] = &[
    Probe {
        id: "SCHEMA-input",
        title: "every inputSchema is a JSON Schema of an object",
        says: "inputSchema must be a valid JSON Schema object, with `type: \"object\"`",
        sections: ["server/tools, Tool"; 2],
        help: "fix the schema; a tool without arguments has `{\"type\": \"object\", \"additionalProperties\": false}`",
        run: |bench| Box::pin(schemas(bench, "inputSchema", true)),
    },
    Probe {
        id: "SCHEMA-output",
        title: "every outputSchema is a JSON Schema",
        says: "schemas must be valid according to their declared or default dialect",
        sections: ["basic, Schema Validation"; 2],
        help: "fix the schema, or omit it",
        run: |bench| Box::pin(output(bench)),
    },
    Probe {
        id: "SCHEMA-structured-content",
        title: "the answers of tools match their outputSchema",
        says: "if an output schema is provided, servers must provide structured results that conform to it",
        sections: ["server/tools, Output Schema"; 2],
        help: "answer with `structuredContent` that matches, or change the outputSchema",
        run: |bench| Box::pin(structured_content(bench)),
    },
    Probe {
        id: "SCHEMA-text-beside",
        title: "structured content is repeated as text",
        says: "a tool that returns structured content should also return the serialized JSON in a text part",
        sections: ["server/tools, Structured Content"; 2],
        help: "repeat the structured content as JSON in a part of the type `text`",
        run: |bench| Box::pin(text_beside(bench)),
    },
];

async fn output(bench: &mut ServerUnderTest) -> ProbeOutcome {
    // In the modern era structured content may be any JSON.
    let is_object = bench.era() == Era::Legacy;
    schemas(bench, "outputSchema", is_object).await
}

async fn schemas(bench: &mut ServerUnderTest, key: &str, is_object: bool) -> ProbeOutcome {
    let listed = bench.listed().await?;
    let mut count = 0;
    let mut verdicts = Vec::new();
    for tool in &listed.tools {
        let raw: Value = serde_json::from_str(tool.raw.get()).unwrap_or_default();
        let Some(schema) = raw.get(key) else { continue };
        count += 1;
        if let Err(fault) = JsonSchema::compile_as_declared(schema) {
            let why = format!(
                "the {key} of `{}` is not a valid JSON Schema: {}",
                tool.name, fault.reason
            );
            verdicts.push((Verdict::Broken(why), schema.to_string()));
        } else if is_object && schema["type"] != "object" {
            let why = format!("the {key} of `{}` is not of type \"object\"", tool.name);
            verdicts.push((Verdict::Broken(why), schema.to_string()));
        }
    }
    if count == 0 {
        return does_not_apply(format!("no tool has an {key}"));
    }
    let came = verdicts
        .first()
        .map_or_else(|| format!("{count} schemas"), |(_, schema)| schema.clone());
    Ok(
        Finding::worst(verdicts.into_iter().map(|(verdict, _)| verdict))
            .sent("tools/list")
            .came(came),
    )
}

async fn structured_content(bench: &mut ServerUnderTest) -> ProbeOutcome {
    each_result(
        bench,
        "no callable tool declares an outputSchema and answers",
        |call, result| {
            let schema = call.tool.output.as_ref()?;
            let compiled = JsonSchema::compile_as_declared(schema).ok()?;
            let content = result.get("structuredContent");
            // What takes too long to tell is no verdict.
            if content.is_some_and(|content| compiled.verdict(content).is_none()) {
                return None;
            }
            let fault = output_faults(schema, result).into_iter().next();
            Some(fault.map_or(Verdict::Held, |why| {
                Verdict::Broken(format!("`{}`: {why}", call.tool.name))
            }))
        },
    )
    .await
}

async fn text_beside(bench: &mut ServerUnderTest) -> ProbeOutcome {
    each_result(
        bench,
        "no callable tool answers with structured content",
        |call, result| {
            result.get("structuredContent")?;
            let mut parts = result["content"].as_array().into_iter().flatten();
            let why = format!(
                "`{}` answers with structured content but no text",
                call.tool.name
            );
            Some(if parts.any(|part| part["type"] == "text") {
                Verdict::Held
            } else {
                Verdict::Weak(why)
            })
        },
    )
    .await
}

/// Checks each result without an error by a rule; `None` if the rule does not apply to a result.
async fn each_result(
    bench: &mut ServerUnderTest,
    nothing: &str,
    rule: impl Fn(&MadeCall, &Value) -> Option<Verdict>,
) -> ProbeOutcome {
    let made = bench.made_calls().await?;
    let judged: Vec<(&MadeCall, Verdict)> = made
        .iter()
        .filter(|call| !call.answer.is_tool_error())
        .filter_map(|call| match &call.answer {
            Answer::Result(result) => Some((call, rule(call, result)?)),
            _ => None,
        })
        .collect();
    let shown = judged
        .iter()
        .find(|(_, verdict)| *verdict != Verdict::Held)
        .or(judged.first());
    let Some((call, _)) = shown else {
        return skip(nothing);
    };
    let (sent, came) = (call.sent(), call.answer.words());
    Ok(
        Finding::worst(judged.into_iter().map(|(_, verdict)| verdict))
            .sent(sent)
            .came(came),
    )
}
