//! LIFECYCLE: does a server start, agree on a version and end correctly?

use super::answer::Answer;
use super::bench::{ServerUnderTest, Unusable};
use super::finding::{Finding, Verdict};
use super::{Probe, ProbeOutcome, does_not_apply, skip};
use mcptest_mcp::client::{Observed, WireError};
use mcptest_mcp::era::{Era, meta};
use mcptest_mcp::jsonrpc::{self, Id, code};
use serde_json::{Value, json};
use std::future::ready;

pub(super) const HANDSHAKE: &str = "LIFECYCLE-handshake";
const NO_SUCH_VERSION: &str = "1999-01-01";

pub(super) const PROBES: &[Probe] = &[
    Probe {
        id: HANDSHAKE,
        title: "the handshake names a version, capabilities and the server",
        says: "the server must respond with its own capabilities and information",
        sections: [
            "basic/lifecycle, Initialization",
            "server/discover, Response",
        ],
        help: "answer with `protocolVersion`, `capabilities` and `serverInfo` with `name` and `version`",
        run: |bench| Box::pin(ready(handshake(bench))),
    },
    Probe {
        id: "LIFECYCLE-version",
        title: "the server does not accept a version that does not exist",
        says: "a server that does not support the requested version must answer with one that it supports, or with an \
               error that names those",
        sections: [
            "basic/lifecycle, Version Negotiation",
            "basic/versioning, Protocol Version Negotiation",
        ],
        help: "compare the version with the supported versions, and never repeat an unknown one",
        run: |bench| Box::pin(version(bench)),
    },
    Probe {
        id: "LIFECYCLE-ping",
        title: "the server answers a ping",
        says: "the receiver must respond promptly with an empty response",
        sections: ["basic/utilities/ping, Behavior Requirements", ""],
        help: "answer `ping` with the result `{}`",
        run: |bench| Box::pin(ping(bench)),
    },
    Probe {
        id: "LIFECYCLE-text-id",
        title: "the server answers a request with a string id under that id",
        says: "requests must include a string or integer ID, and a response must include the same ID",
        sections: ["basic, Responses"; 2],
        help: "send the id back unchanged, with its type",
        run: |bench| Box::pin(text_id(bench)),
    },
    Probe {
        id: "LIFECYCLE-missing-meta",
        title: "the server refuses a request without its `_meta`",
        says: "a request missing any required field is malformed; the server must reject it with -32602",
        sections: ["", "basic, _meta"],
        help: "refuse a request whose `_meta` lacks the protocol version or the client's capabilities",
        run: |bench| Box::pin(missing_meta(bench)),
    },
    Probe {
        id: "LIFECYCLE-result-type",
        title: "every result has a type",
        says: "the result must include a `resultType` field",
        sections: ["", "basic, Result Responses"],
        help: "write `resultType: \"complete\"` into every complete result",
        run: |bench| Box::pin(result_type(bench)),
    },
];

/// The probes that are judged after all others.
pub(super) const AT_THE_END: &[Probe] = &[
    Probe {
        id: "LIFECYCLE-shutdown",
        title: "the process ends when its input is closed",
        says: "the client closes the input stream and waits for the server to exit; servers should exit promptly then",
        sections: [
            "basic/lifecycle, Shutdown",
            "basic/transports/stdio, Shutdown",
        ],
        help: "end the process, and everything that it started, when standard input ends",
        run: |bench| Box::pin(shutdown(bench)),
    },
    Probe {
        id: "LIFECYCLE-messages",
        title: "everything that the server sent is a message, and it answered each request once",
        says: "the server must not write anything that is not a valid MCP message, and a response must include the id \
               of its request",
        sections: ["basic/transports, stdio", "basic/transports/stdio"],
        help: "write logs and banners to standard error, and answer each request once, under its own id",
        run: |bench| Box::pin(messages(bench)),
    },
];

/// The finding for a server without a handshake.
pub(super) fn no_handshake(error: &WireError) -> Finding {
    Finding::broken(error.to_string())
        .sent(&error.method)
        .came(error.misbehaviour.sentence(&error.method))
}

fn handshake(bench: &ServerUnderTest) -> ProbeOutcome {
    let Some(info) = &bench.info else {
        return skip("no handshake took place");
    };
    let sent = if info.era == Era::Legacy {
        "initialize"
    } else {
        "server/discover"
    };
    let missing: Vec<&str> = [("name", &info.name), ("version", &info.version)]
        .into_iter()
        .filter_map(|(key, value)| value.is_empty().then_some(key))
        .collect();
    let why = format!("the answer lacks the server's {}", missing.join(" and "));
    let finding = match (missing.is_empty(), info.era) {
        (true, _) => Finding::held(),
        (false, Era::Legacy) => Finding::broken(why),
        (false, Era::Modern) => Finding::weak(why),
    };
    Ok(finding.sent(sent).came(info.raw.get()))
}

async fn version(bench: &mut ServerUnderTest) -> ProbeOutcome {
    let id = bench.next_id();
    let stranger = match bench.stranger() {
        Ok(stranger) => stranger,
        Err(error) => return Ok(Finding::broken(error.to_string())),
    };
    let is_legacy = bench.era() == Era::Legacy;
    let line = if is_legacy {
        let client = json!({ "name": "mcptest", "version": "1" });
        let params =
            json!({ "protocolVersion": NO_SUCH_VERSION, "capabilities": {}, "clientInfo": client });
        stranger.request_line(&id, "initialize", params)
    } else {
        let version = json!({ "_meta": { (meta::PROTOCOL_VERSION): NO_SUCH_VERSION } });
        stranger.request_line(&id, "server/discover", version)
    };
    let modern = [
        ("mcp-protocol-version", NO_SUCH_VERSION),
        ("mcp-method", "server/discover"),
    ];
    let headers: &[(&str, &str)] = if is_legacy { &[] } else { &modern };
    let came = bench.raw(&stranger, &line, headers, &id).await;
    stranger.close().await;
    let finding = match came.answer() {
        None => Finding::broken("no answer to an unknown version"),
        Some(Answer::Error(code, _)) if !is_legacy && code != code::UNSUPPORTED_VERSION => {
            Finding::broken(format!(
                "the error is {code}, not {}",
                code::UNSUPPORTED_VERSION
            ))
        }
        Some(Answer::Result(result)) if result["protocolVersion"] == NO_SUCH_VERSION => {
            Finding::broken(format!(
                "the server claims to support {NO_SUCH_VERSION}, which does not exist"
            ))
        }
        Some(Answer::Result(_)) if !is_legacy => Finding::broken(
            "the server answered a request in a version that does not exist with \
            a result",
        ),
        Some(_) => Finding::held(),
    };
    Ok(finding.sent(line).came(came.words()))
}

async fn ping(bench: &mut ServerUnderTest) -> ProbeOutcome {
    let answer = bench.ask("ping", json!({})).await;
    let finding = match &answer {
        Answer::Result(Value::Object(members)) if members.keys().all(|key| key == "_meta") => {
            Finding::held()
        }
        Answer::Result(_) => Finding::weak("the answer to a ping is not empty"),
        Answer::Error(..) => Finding::broken("the server refused a ping"),
        Answer::None(_) => Finding::broken("the server did not answer a ping"),
    };
    Ok(finding.sent("ping").came(answer.words()))
}

async fn text_id(bench: &mut ServerUnderTest) -> ProbeOutcome {
    let id = bench.next_id();
    let method = bench.harmless();
    let client = bench.client()?;
    let line = client.request_line(&id, method, json!({}));
    let came = bench
        .raw(client, &line, &[("mcp-method", method)], &id)
        .await;
    let answered: Value = serde_json::from_str(&came.text).unwrap_or_default();
    let is_same = answered["id"] == *id;
    let why = format!("the server did not answer the request {id:?} under its id");
    let finding = if is_same {
        Finding::held()
    } else {
        Finding::broken(why)
    };
    Ok(finding.sent(line).came(came.words()))
}

async fn missing_meta(bench: &mut ServerUnderTest) -> ProbeOutcome {
    let id = bench.next_id();
    // On a connection of its own: a server of both eras may take it for a request of the older one, and stay there.
    let stranger = bench.stranger().map_err(Unusable::NotConnected)?;
    let line = jsonrpc::request(&Id::Text(id.clone()), "tools/list", Some("{}"));
    let came = bench
        .raw(&stranger, &line, &[("mcp-method", "tools/list")], &id)
        .await;
    stranger.close().await;
    let finding = match came.answer() {
        Some(Answer::Error(code::INVALID_PARAMS, _)) => Finding::held(),
        // On stdio nothing says that it is not a request of the older era, which has errors of its own.
        Some(Answer::Error(..)) if !bench.is_http() => Finding::held(),
        Some(Answer::Error(code, _)) => {
            Finding::broken(format!("the error is {code}, not {}", code::INVALID_PARAMS))
        }
        Some(_) if !bench.is_http() && bench.speaks_legacy().await => {
            return does_not_apply(
                "the server also supports the legacy protocol, whose requests have no `_meta`",
            );
        }
        Some(_) => Finding::broken("the server answered a request without `_meta` with a result"),
        None => Finding::broken("the server did not answer a request without `_meta`"),
    };
    Ok(finding.sent(line).came(came.words()))
}

async fn result_type(bench: &mut ServerUnderTest) -> ProbeOutcome {
    let answer = bench.ask("server/discover", json!({})).await;
    let finding = match &answer {
        Answer::Result(result) if result["resultType"].is_string() => Finding::held(),
        Answer::Result(_) => Finding::broken("the result has no `resultType`"),
        Answer::Error(..) | Answer::None(_) => {
            return skip(format!("no result came: {}", answer.words()));
        }
    };
    Ok(finding.sent("server/discover").came(answer.words()))
}

async fn shutdown(bench: &mut ServerUnderTest) -> ProbeOutcome {
    bench.only_over(false)?;
    let Some(closing) = bench.end().await else {
        return skip("no connection exists");
    };
    let came = closing
        .process
        .status
        .clone()
        .unwrap_or_else(|| "no exit status".to_owned());
    let finding = if closing.process.killed {
        Finding::weak(
            "the process did not end when its input ended or on SIGTERM, so it was killed",
        )
    } else if closing.process.terminated {
        Finding::weak("the process did not end when its input ended, so it was sent SIGTERM")
    } else if closing.process.left_processes {
        Finding::weak("the process left child processes behind, which were ended")
    } else {
        Finding::held()
    };
    Ok(finding.sent("the end of standard input").came(came))
}

async fn messages(bench: &mut ServerUnderTest) -> ProbeOutcome {
    bench.end().await;
    let broken = bench.observed.iter().filter(|seen| is_no_message(seen));
    let mut said: Vec<String> = broken.map(ToString::to_string).collect();
    said.dedup();
    let finding = Finding::worst(said.first().cloned().map(Verdict::Broken));
    Ok(finding
        .sent("all probes before this one")
        .came(said.join("; ")))
}

/// Returns true for a message that is not an answer or a notification. Ids of raw messages belong
/// to the check.
fn is_no_message(seen: &Observed) -> bool {
    match seen {
        Observed::UnknownId { id } => !id.contains("check-"),
        Observed::DuplicateReply { .. } => true,
        Observed::ErrorWithoutId { .. } => false,
        seen => seen.is_in_place_of_an_answer(),
    }
}
