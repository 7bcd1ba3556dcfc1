//! EDGE: how does a server handle calls that hang, are cancelled, are huge or unusual, or run
//! concurrently?

use super::answer::Answer;
use super::bench::{Callable, SLOW, ServerUnderTest};
use super::finding::{Finding, Verdict};
use super::{Probe, ProbeOutcome, skip};
use mcptest_mcp::client::{Client, Observed};
use mcptest_mcp::jsonrpc;
use serde_json::value::to_raw_value;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

const AT_ONCE: usize = 50;
const CALLS_AT_ONCE: usize = 20;
const HUGE: usize = 1 << 20;
const DEEP: usize = 100;
/// Right-to-left, zero-width, a JavaScript line end, a character beyond the first plane, and a NUL.
const ODD: &str = "mcptest \u{0} \u{202e}abc\u{202c} \u{2028} \u{feff} e\u{301} \u{1f9ea} \"'`$(x)%s{{}}\\ \r\n\t";
const ANSWERED: &str = "messages must follow JSON-RPC 2.0, in which every request is answered, with a result or an error";

/// The parameters of a cancellation whose request does not exist.
const NO_REQUEST: &str = r#"{"reason":"a probe","requestId":"check-none"}"#;

pub(super) const PROBES: &[Probe] = &[
    Probe {
        id: "EDGE-hang",
        title: "the server answers every call in time",
        says: ANSWERED,
        sections: ["basic, Messages"; 2],
        help: "find out what the tool waits for; `--timeout` gives it more time",
        run: |bench| Box::pin(hang(bench)),
    },
    Probe {
        id: "EDGE-cancel",
        title: "the server does not answer a cancelled call, and continues",
        says: "receivers of a cancellation should stop processing and not send a response",
        sections: [
            "basic/utilities/cancellation, Behavior Requirements",
            "basic/patterns/cancellation, Behavior Requirements",
        ],
        help: "stop the work on `notifications/cancelled`, and send nothing more for it",
        run: |bench| Box::pin(cancel(bench)),
    },
    Probe {
        id: "EDGE-cancel-unknown",
        title: "the server ignores a cancellation of an unknown request",
        says: "invalid cancellation notifications should be ignored",
        sections: [
            "basic/utilities/cancellation, Error Handling",
            "basic/patterns/cancellation, Error Handling",
        ],
        help: "ignore cancellations of unknown requests",
        run: |bench| Box::pin(notification(bench, "notifications/cancelled", NO_REQUEST)),
    },
    Probe {
        id: "EDGE-unknown-notification",
        title: "the server ignores an unknown notification",
        says: "the receiver of a notification must not send a response",
        sections: ["basic, Notifications"; 2],
        help: "ignore unknown notifications",
        run: |bench| Box::pin(notification(bench, "notifications/mcptest", "{}")),
    },
    Probe {
        id: "EDGE-many-requests",
        title: "the server answers each of 50 concurrent requests once",
        says: ANSWERED,
        sections: ["basic, Responses"; 2],
        help: "match answers to requests by their ids",
        run: |bench| Box::pin(many_requests(bench)),
    },
    Probe {
        id: "EDGE-many-calls",
        title: "the server answers each of 20 concurrent calls once",
        says: ANSWERED,
        sections: ["basic, Responses"; 2],
        help: "make the tool safe to call concurrently",
        run: |bench| Box::pin(many_calls(bench)),
    },
    Probe {
        id: "EDGE-huge-argument",
        title: "the server answers a call with a string of 1 MiB",
        says: ANSWERED,
        sections: ["basic, Messages"; 2],
        help: "refuse messages that are too long with an error, and continue",
        run: |bench| Box::pin(huge_argument(bench)),
    },
    Probe {
        id: "EDGE-odd-text",
        title: "the server answers a call with unusual characters",
        says: ANSWERED,
        sections: ["basic, Messages"; 2],
        help: "treat every text as data, and answer in UTF-8",
        run: |bench| Box::pin(with_text(bench, ODD, "odd characters")),
    },
    Probe {
        id: "EDGE-deep-nesting",
        title: "the server answers a call with arguments nested 100 deep",
        says: ANSWERED,
        sections: ["basic, Messages"; 2],
        help: "refuse messages that are nested too deeply with an error, and continue",
        run: |bench| Box::pin(deep_nesting(bench)),
    },
    Probe {
        id: "EDGE-disconnect",
        title: "a client that disconnects during a call leaves nothing behind",
        says: "the server should exit when its input is closed; over HTTP a disconnection may occur at any time",
        sections: [
            "basic/lifecycle, Shutdown",
            "basic/transports/stdio, Shutdown",
        ],
        help: "end the process when standard input ends, even during a call, and continue when a \
        connection breaks",
        run: |bench| Box::pin(disconnect(bench)),
    },
];

async fn hang(bench: &mut ServerUnderTest) -> ProbeOutcome {
    let limit = bench.spec.timeout;
    let made = bench.made_calls().await?;
    let slowest = made.iter().max_by_key(|call| call.took);
    match (made.iter().find(|call| call.is_hung), slowest) {
        (Some(call), _) => {
            let why = format!(
                "`{}` gave no answer within {} s",
                call.tool.name,
                limit.as_secs_f64()
            );
            Ok(Finding::broken(why)
                .sent(call.sent())
                .came(call.answer.words()))
        }
        (None, Some(call)) => Ok(Finding::held().sent(call.sent()).came("an answer in time")),
        (None, None) => skip("nothing was called"),
    }
}

async fn cancel(bench: &mut ServerUnderTest) -> ProbeOutcome {
    let made = bench.made_calls().await?;
    let Some(call) = made.iter().max_by_key(|call| call.took) else {
        return skip("nothing was called");
    };
    let client = Arc::clone(bench.client()?);
    let Ok(raw) = to_raw_value(&call.arguments) else {
        return skip("no arguments");
    };
    let is_slow = call.took >= SLOW;
    let run_on = if is_slow { SLOW / 6 } else { Duration::ZERO };
    // Dropping the call cancels it.
    let is_over = timeout(run_on, client.call_tool(&call.tool.name, &raw, None))
        .await
        .is_ok();
    if is_slow {
        sleep((call.took * 2).min(bench.spec.timeout)).await;
    }
    let alive = bench.is_alive().await;
    let late = client
        .observed()
        .into_iter()
        .find(|seen| matches!(seen, Observed::LateReply { .. }));
    let finding = match (&alive, &late) {
        (Err(_), _) => Finding::broken("the server did not continue after a cancelled call"),
        // The answer to a short call may have crossed the cancellation.
        (Ok(()), Some(late)) if is_slow && !is_over => Finding::weak(late.to_string()),
        _ => Finding::held(),
    };
    let stuck = alive.err().map(|stuck| stuck.to_string());
    let came = stuck.or(late.map(|late| late.to_string()));
    let came = came.unwrap_or_else(|| "no answer, and the next request answered".to_owned());
    Ok(finding
        .sent(format!("{}, then notifications/cancelled", call.sent()))
        .came(came))
}

/// Sends an unknown notification: no answer may arrive, except a refusal over HTTP.
async fn notification(bench: &ServerUnderTest, method: &str, params: &str) -> ProbeOutcome {
    let line = jsonrpc::notification(method, Some(params));
    let came = match bench.raw_and_on(&line, &[("mcp-method", method)]).await {
        Ok(came) => came,
        Err(why) => {
            return Ok(Finding::broken("the server did not continue")
                .sent(line)
                .came(why.to_string()));
        }
    };
    let finding = match came.status {
        None if came.text.is_empty() => Finding::held(),
        None => Finding::broken("the server answered a notification"),
        Some(202 | 400..=499) => Finding::held(),
        Some(status) => Finding::weak(format!(
            "the server answered a notification with HTTP {status}, not 202"
        )),
    };
    Ok(finding.sent(line).came(came.words()))
}

async fn many_requests(bench: &mut ServerUnderTest) -> ProbeOutcome {
    let method = bench.harmless();
    let client = Arc::clone(bench.client()?);
    let mut asked = JoinSet::new();
    for _ in 0..AT_ONCE {
        let client = Arc::clone(&client);
        asked.spawn(async move { Answer::of(client.request(method, None).await) });
    }
    all_answered(asked, &client, format!("{AT_ONCE} times {method}")).await
}

async fn many_calls(bench: &mut ServerUnderTest) -> ProbeOutcome {
    let made = bench.made_calls().await?;
    let quick = made
        .iter()
        .find(|call| call.is_quick() && !call.answer.is_refusal());
    let Some(call) = quick else {
        return skip("no tool returned a result promptly");
    };
    let client = Arc::clone(bench.client()?);
    let Ok(raw) = to_raw_value(&call.arguments) else {
        return skip("no arguments");
    };
    let mut asked = JoinSet::new();
    for _ in 0..CALLS_AT_ONCE {
        let (client, name, raw) = (Arc::clone(&client), call.tool.name.clone(), raw.clone());
        asked.spawn(async move { Answer::of(client.call_tool(&name, &raw, None).await.outcome) });
    }
    let sent = format!("{CALLS_AT_ONCE} times {}", call.sent());
    all_answered(asked, &client, sent).await
}

async fn all_answered(asked: JoinSet<Answer>, client: &Client, sent: String) -> ProbeOutcome {
    let answers = asked.join_all().await;
    let twice = client
        .observed()
        .into_iter()
        .find(|seen| matches!(seen, Observed::DuplicateReply { .. }));
    let lost: Vec<String> = answers
        .iter()
        .filter(|answer| matches!(answer, Answer::None(_)))
        .map(Answer::words)
        .collect();
    let count = answers.len();
    let finding = match (lost.len(), twice) {
        (0, None) => Finding::held(),
        (0, Some(twice)) => Finding::broken(twice.to_string()),
        (lost, _) => Finding::broken(format!(
            "the server did not answer {lost} of {count} concurrent requests"
        )),
    };
    Ok(finding.sent(sent).came(
        lost.first()
            .cloned()
            .unwrap_or_else(|| format!("{count} answers")),
    ))
}

async fn huge_argument(bench: &mut ServerUnderTest) -> ProbeOutcome {
    with_text(bench, &"x".repeat(HUGE), "a string of 1 MiB").await
}

/// Calls a tool with this text as an argument; any answer will do.
async fn with_text(bench: &mut ServerUnderTest, text: &str, what: &str) -> ProbeOutcome {
    let made = bench.made_calls().await?;
    let mut quick = made
        .iter()
        .filter(|call| call.is_quick())
        .map(|call| &call.tool);
    let Some((tool, arguments)) = quick.find_map(|tool| Some((tool, text_argument(tool, text)?)))
    else {
        return skip("no callable tool with a string argument returned promptly");
    };
    let answer = bench.call(&tool.name, &arguments).await;
    let verdict = match &answer {
        Answer::None(_) => Verdict::Broken(format!(
            "the server did not answer a call of `{}` with {what}",
            tool.name
        )),
        _ => Verdict::Held,
    };
    Ok(Finding::worst([verdict])
        .sent(format!("tools/call {} {arguments}", tool.name))
        .came(answer.words()))
}

/// Valid arguments with this text as one string.
fn text_argument(tool: &Callable, text: &str) -> Option<Value> {
    let mut arguments = tool.arguments.clone()?;
    let is_text = |schema: &Value| schema["type"] == "string" && schema.get("enum").is_none();
    let (name, _) = tool.input["properties"]
        .as_object()?
        .iter()
        .find(|(_, schema)| is_text(schema))?;
    arguments[name] = json!(text);
    Some(arguments)
}

async fn deep_nesting(bench: &mut ServerUnderTest) -> ProbeOutcome {
    let deep = (0..DEEP).fold(json!(1), |inner, _| json!({ "a": inner }));
    let answer = bench
        .call("mcptest_no_such_tool", &json!({ "deep": deep }))
        .await;
    let finding = match &answer {
        Answer::None(_) => Finding::broken("the server did not answer arguments nested 100 deep"),
        _ => Finding::held(),
    };
    Ok(finding
        .sent("tools/call mcptest_no_such_tool with arguments nested 100 deep")
        .came(answer.words()))
}

async fn disconnect(bench: &mut ServerUnderTest) -> ProbeOutcome {
    let made = bench.made_calls().await.unwrap_or_default();
    let slowest = made.iter().max_by_key(|call| call.took);
    let (method, params) = match slowest {
        Some(call) => (
            "tools/call",
            json!({ "name": call.tool.name, "arguments": call.arguments }),
        ),
        None => ("tools/list", json!({})),
    };
    let id = bench.next_id();
    let client = bench.client()?;
    let line = client.request_line(&id, method, params);
    // Over HTTP the connection is dropped with the request.
    let _gone = timeout(
        Duration::from_millis(20),
        client.send_raw(&line, &[("mcp-method", method)]),
    )
    .await;
    if bench.is_http() {
        let finding = match bench.is_alive().await {
            Ok(()) => Finding::held().came("an answer to the next request"),
            Err(why) => Finding::broken("the server did not continue after a client disconnected")
                .came(why.to_string()),
        };
        return Ok(finding.sent(line));
    }
    let Some(closing) = bench.end().await else {
        return skip("no connection exists");
    };
    let finding = if closing.process.killed {
        Finding::weak("the process did not end when its input ended during a call, or on SIGTERM")
    } else if closing.process.left_processes {
        Finding::weak("the process left child processes behind when its input ended during a call")
    } else {
        Finding::held()
    };
    let sent = format!("{line}, then the end of standard input");
    Ok(finding
        .sent(sent)
        .came(closing.process.status.clone().unwrap_or_default()))
}
