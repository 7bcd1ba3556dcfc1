//! TOOLS: does the server list its tools correctly, and answer calls with results?

use super::answer::Answer;
use super::bench::ServerUnderTest;
use super::finding::{Finding, Verdict};
use super::{Probe, ProbeOutcome, does_not_apply, skip};
use mcptest_mcp::client::{Observed, ToolFlaw};
use mcptest_mcp::era::Era;
use mcptest_mcp::jsonrpc::code;
use serde_json::json;
use std::collections::BTreeSet;

const LIST: &str = "tools/list";
const LONGEST_NAME: usize = 128;

pub(super) const PROBES: &[Probe] = &[
    Probe {
        id: "TOOLS-capability",
        title: "a server that lists tools declares the `tools` capability",
        says: "servers that support tools must declare the `tools` capability",
        sections: ["server/tools, Capabilities"; 2],
        help: "add `tools` to the capabilities",
        run: |bench| Box::pin(capability(bench)),
    },
    Probe {
        id: "TOOLS-list",
        title: "the list ends, and every tool has a name and an inputSchema",
        says: "a tool has a unique name and an inputSchema, which must be a valid JSON Schema object",
        sections: ["server/tools, Tool"; 2],
        help: "give every tool a unique `name` and an `inputSchema`, and end the list with a page \
        without a cursor",
        run: |bench| Box::pin(list(bench)),
    },
    Probe {
        id: "TOOLS-names",
        title: "names of tools are short and plain",
        says: "names should have 1 to 128 characters, of A-Z, a-z, 0-9, `_`, `-` and `.` alone",
        sections: ["server/tools, Tool Names"; 2],
        help: "rename the tool",
        run: |bench| Box::pin(names(bench)),
    },
    Probe {
        id: "TOOLS-order",
        title: "the list always has the same order",
        says: "servers should return tools in a deterministic order",
        sections: ["", "server/tools, Capabilities"],
        help: "list the tools by name, or in the order of declaration",
        run: |bench| Box::pin(order(bench)),
    },
    Probe {
        id: "TOOLS-cache",
        title: "the list declares for how long and for whom clients may keep it",
        says: "servers must provide a `ttlMs` of at least 0 and a `cacheScope` with lists",
        sections: ["", "server/utilities/caching, Cacheable Model"],
        help: "write `ttlMs` and `cacheScope` into the result",
        run: |bench| Box::pin(cache(bench)),
    },
    Probe {
        id: "TOOLS-cursor",
        title: "the server refuses a cursor that it never gave",
        says: "invalid cursors should result in an error with code -32602",
        sections: ["server/utilities/pagination, Error Handling"; 2],
        help: "answer an unknown cursor with the error -32602",
        run: |bench| Box::pin(cursor(bench)),
    },
    Probe {
        id: "TOOLS-call",
        title: "callable tools answer with a result or an error",
        says: "a result must follow the schema of CallToolResult: a list of content parts of the known types",
        sections: ["server/tools, Tool Result"; 2],
        help: "answer with `content`, a list of parts, each with its `type` and the fields of \
        that type",
        run: |bench| Box::pin(call(bench)),
    },
];

async fn capability(bench: &mut ServerUnderTest) -> ProbeOutcome {
    let capabilities = bench
        .info
        .as_ref()
        .map(|info| info.capabilities.get().to_owned())
        .unwrap_or_default();
    let is_declared = bench.declares("tools");
    let count = bench.listed().await.map_or(0, |listed| listed.tools.len());
    let finding = match (is_declared, count) {
        (false, 1..) => Finding::broken(format!(
            "{count} tools are listed, but `tools` is not declared"
        )),
        (false, 0) => return does_not_apply("the server has no tools"),
        (true, _) => Finding::held(),
    };
    Ok(finding
        .sent(LIST)
        .came(format!("capabilities {capabilities}")))
}

async fn list(bench: &mut ServerUnderTest) -> ProbeOutcome {
    if !bench.declares("tools") {
        return does_not_apply("the server declares no tools");
    }
    let listed = match bench.listed().await {
        Ok(listed) => listed,
        Err(why) => {
            return Ok(Finding::broken("cannot list the tools")
                .sent(LIST)
                .came(why.to_string()));
        }
    };
    let complaints: Vec<String> = listed.complaints.iter().map(ToString::to_string).collect();
    let finding = Finding::worst(listed.complaints.iter().map(|complaint| match complaint {
        // The schema has a family of its own.
        Observed::BadTool {
            flaw: ToolFlaw::InputType,
            ..
        } => Verdict::Held,
        Observed::BadTool {
            flaw: ToolFlaw::Twice,
            ..
        } => Verdict::Weak(complaint.to_string()),
        complaint => Verdict::Broken(complaint.to_string()),
    }));
    let count = listed.tools.len();
    Ok(finding
        .sent(LIST)
        .came(format!("{count} tools {}", complaints.join("; ")).trim_end()))
}

async fn names(bench: &mut ServerUnderTest) -> ProbeOutcome {
    let listed = bench.listed().await?;
    let is_plain = |name: &str| {
        (1..=LONGEST_NAME).contains(&name.len())
            && name
                .chars()
                .all(|one| one.is_ascii_alphanumeric() || "_-.".contains(one))
    };
    let odd: Vec<&str> = listed
        .tools
        .iter()
        .map(|tool| &*tool.name)
        .filter(|name| !is_plain(name))
        .collect();
    let verdict = odd
        .first()
        .map(|name| Verdict::Weak(format!("the name of the tool {name:?} is unusual")));
    Ok(Finding::worst(verdict).sent(LIST).came(odd.join(", ")))
}

async fn first_page(bench: &ServerUnderTest) -> Answer {
    bench.ask(LIST, json!({})).await
}

async fn order(bench: &mut ServerUnderTest) -> ProbeOutcome {
    let names = |answer: &Answer| match answer {
        Answer::Result(result) => result["tools"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|tool| tool["name"].as_str().unwrap_or_default().to_owned())
            .collect::<Vec<_>>(),
        _ => Vec::new(),
    };
    let (first, second) = (
        names(&first_page(bench).await),
        names(&first_page(bench).await),
    );
    let is_same_set = first.iter().collect::<BTreeSet<_>>() == second.iter().collect();
    let finding = if is_same_set && first != second {
        Finding::weak("the same tools came in a different order")
    } else {
        Finding::held()
    };
    Ok(finding.sent("tools/list, twice").came(second.join(", ")))
}

async fn cache(bench: &mut ServerUnderTest) -> ProbeOutcome {
    if !bench.declares("tools") {
        return does_not_apply("the server declares no tools");
    }
    let answer = first_page(bench).await;
    let finding = match &answer {
        Answer::Result(result) if !result["ttlMs"].as_f64().is_some_and(|ttl| ttl >= 0.0) => {
            Finding::broken("the list has no `ttlMs` of at least 0")
        }
        Answer::Result(result)
            if !matches!(result["cacheScope"].as_str(), Some("public" | "private")) =>
        {
            Finding::broken("the list has no `cacheScope` that is `public` or `private`")
        }
        Answer::Result(_) => Finding::held(),
        _ => return skip("cannot list the tools"),
    };
    Ok(finding.sent(LIST).came(answer.words()))
}

async fn cursor(bench: &mut ServerUnderTest) -> ProbeOutcome {
    match first_page(bench).await {
        Answer::Result(page) if page["nextCursor"].is_string() => {}
        _ => return does_not_apply("the list has one page"),
    }
    let params = json!({ "cursor": "mcptest-no-such-cursor" });
    let answer = bench.ask(LIST, params.clone()).await;
    let finding = match &answer {
        Answer::Error(code::INVALID_PARAMS, _) => Finding::held(),
        Answer::Error(code, _) => Finding::weak(format!("the error is {code}, not -32602")),
        Answer::Result(_) => Finding::weak("the server answered an unknown cursor with a page"),
        Answer::None(_) => Finding::broken("the server did not answer an unknown cursor"),
    };
    Ok(finding
        .sent(format!("{LIST} {params}"))
        .came(answer.words()))
}

async fn call(bench: &mut ServerUnderTest) -> ProbeOutcome {
    let is_modern = bench.era() == Era::Modern;
    let made = bench.made_calls().await?;
    let verdicts = made.iter().filter(|call| !call.is_hung).filter_map(|call| {
        let name = &call.tool.name;
        match (&call.answer, call.faults.first()) {
            (Answer::None(why), _) => Some((call, format!("the call of `{name}` failed: {why}"))),
            (_, Some(fault)) => Some((call, format!("the answer of `{name}` {fault}"))),
            (Answer::Result(result), None) if is_modern && result.get("resultType").is_none() => {
                Some((call, format!("the answer of `{name}` has no `resultType`")))
            }
            _ => None,
        }
    });
    if let Some((call, why)) = verdicts.into_iter().next() {
        return Ok(Finding::broken(why)
            .sent(call.sent())
            .came(call.answer.words()));
    }
    let names: Vec<&str> = made.iter().map(|call| &*call.tool.name).collect();
    Ok(Finding::held()
        .sent(format!("tools/call of {}", names.join(", ")))
        .came("well-formed answers"))
}
