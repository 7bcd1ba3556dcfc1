//! The servers of one run as the model sees them: one catalogue and one way to call tools.

use crate::dialect::{Answered, Arguments, Offered, ToolChoice, Wanted};
use crate::fault::{FaultEffect, FaultPlan, Strike};
use crate::result::{parts_of, recorded, refused};
use mcptest_core::problem::nearest;
use mcptest_core::provider::Family;
use mcptest_core::suite::ToolSchemas;
use mcptest_core::tool_schema::{Fitted, LeftOut, Offer};
use mcptest_core::trace::{CatalogueTool, RecordedCall, RecordedFault, RecordedResult, is_tool};
use mcptest_mcp::client::{Client, Observed, WireError};
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;
use tokio::time::{Instant, sleep, timeout_at};

/// Chooses the distractors among the offered tools.
pub type Distract<'a> = &'a (dyn Fn(&[CatalogueTool]) -> Vec<CatalogueTool> + Send + Sync);

/// A server that is connected to.
#[derive(Clone)]
pub struct Connected {
    /// Its name in the suite.
    pub name: String,
    /// The connection, possibly shared with other runs.
    pub client: Arc<Client>,
    /// The time limit of a call.
    pub timeout: Duration,
}

/// The host's rules for showing tools and results to its model.
#[derive(Debug, Clone, Copy)]
pub struct View {
    /// The family of the model's provider.
    pub family: &'static Family,
    /// The treatment of schemas that the model's provider refuses.
    pub tool_schemas: ToolSchemas,
    /// The most characters of a result that the model reads.
    pub max_result_chars: usize,
}

/// The tools of one run.
pub struct Toolbox {
    servers: Vec<Connected>,
    catalogue: Vec<CatalogueTool>,
    offered: Vec<Offered>,
    fitted: Vec<Fitted>,
    left_out: Vec<LeftOut>,
    by_wire_name: BTreeMap<String, usize>,
    faults: FaultPlan,
    max_result_chars: usize,
}

/// The tools of one run, and the problems of other tools.
pub struct OpenedToolbox {
    /// The tools.
    pub toolbox: Toolbox,
    /// Problems of single tools, which do not fail the run.
    pub complaints: Vec<Oddity>,
}

/// An irregularity of a server.
#[derive(Debug, Clone, PartialEq)]
pub struct Oddity {
    /// The server's name.
    pub server: String,
    /// The observation.
    pub observed: Observed,
}

/// A call with its result.
#[derive(Debug)]
pub struct Done {
    /// The recorded call.
    pub call: RecordedCall,
    /// The recorded result.
    pub result: RecordedResult,
    /// The fault that it ran into.
    pub fault: Option<RecordedFault>,
    /// The result as the model sees it.
    pub answered: Answered,
    /// The start of the call.
    pub(crate) started: Instant,
}

/// Why a `tool_choice` names no tool.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum ToolChoiceError {
    #[error(
        "`tool_choice`: the model has no tool `{written}`{}",
        near.as_ref().map(|near| format!("; did you mean `{near}`?")).unwrap_or_default()
    )]
    Unknown {
        written: String,
        near: Option<String>,
    },
    #[error(
        "`tool_choice`: `{written}` could be {}; write one of them",
        tools.iter().map(|tool| format!("`{tool}`")).collect::<Vec<_>>().join(" or ")
    )]
    Ambiguous { written: String, tools: Vec<String> },
}

/// The target of a call.
enum Route<'t> {
    /// The call goes to a tool of a server.
    Tool {
        server: &'t Connected,
        tool: &'t CatalogueTool,
    },
    /// A distractor.
    Distractor(&'t CatalogueTool),
    /// A call of an unknown tool, with the names as written.
    Nowhere {
        server: Option<&'t str>,
        tool: &'t str,
    },
}

/// The code for an unknown tool.
const UNKNOWN_TOOL: i64 = -32602;

impl Toolbox {
    /// Lists the tools of every server, and offers all except the `hidden` ones.
    pub async fn open(
        servers: Vec<Connected>,
        distract: Distract<'_>,
        hidden: &[String],
        faults: FaultPlan,
        view: View,
    ) -> Result<OpenedToolbox, WireError> {
        let mut catalogue = Vec::new();
        let mut complaints = Vec::new();
        for server in &servers {
            let tools = server.client.list_tools().await?;
            complaints.extend(tools.complaints.into_iter().map(|observed| Oddity {
                server: server.name.clone(),
                observed,
            }));
            catalogue.extend(
                tools
                    .tools
                    .into_iter()
                    .map(|tool| tool.into_catalogue(&server.name)),
            );
        }
        let distractors = distract(&catalogue);
        let is_hidden = |tool: &CatalogueTool| {
            hidden
                .iter()
                .any(|name| is_tool(name, &tool.name, tool.server.as_deref()))
        };
        catalogue.retain(|tool| !is_hidden(tool));
        catalogue.extend(distractors.into_iter().map(|tool| CatalogueTool {
            distractor: true,
            ..tool
        }));
        Ok(OpenedToolbox {
            toolbox: Self::new(servers, catalogue, faults, view),
            complaints,
        })
    }

    fn new(
        servers: Vec<Connected>,
        catalogue: Vec<CatalogueTool>,
        faults: FaultPlan,
        view: View,
    ) -> Self {
        let Offer {
            catalogue,
            fitted,
            names,
            left_out,
        } = Offer::new(catalogue, view.family, view.tool_schemas);
        let by_wire_name = names.iter().cloned().zip(0..).collect();
        let offer = |((tool, fitted), name): ((&CatalogueTool, &Fitted), String)| Offered {
            name,
            full_name: tool.full_name(),
            description: tool.description.clone(),
            input_schema: fitted.schema.clone(),
        };
        let offered = catalogue
            .iter()
            .zip(&fitted)
            .zip(names)
            .map(offer)
            .collect();
        let max_result_chars = view.max_result_chars;
        Self {
            servers,
            catalogue,
            offered,
            fitted,
            left_out,
            by_wire_name,
            faults,
            max_result_chars,
        }
    }

    /// The tools as the model sees them.
    pub fn offered(&self) -> &[Offered] {
        &self.offered
    }

    /// The tools for the recording's catalogue.
    pub fn catalogue(&self) -> &[CatalogueTool] {
        &self.catalogue
    }

    /// The tools that are not offered, because the provider would refuse them.
    pub fn left_out(&self) -> &[LeftOut] {
        &self.left_out
    }

    /// Returns true if faults are injected.
    pub fn has_faults(&self) -> bool {
        !self.faults.is_empty()
    }

    /// Makes the call. Any failure becomes its result.
    pub async fn call(&self, index: usize, wanted: &Wanted, deadline: Instant) -> Done {
        let (call, route) = (self.recorded(wanted), self.route(&wanted.name));
        let arguments = self.own_arguments(wanted);
        let started = Instant::now();
        let (outcome, fault) = self.outcome(index, &route, &arguments, deadline).await;
        let duration_ms = u64::try_from(started.elapsed().as_millis()).ok();
        let answered = Answered {
            call_id: wanted.id.clone(),
            name: wanted.name.clone(),
            content: parts_of(&outcome, self.max_result_chars),
            is_error: outcome.is_error,
        };
        let result = RecordedResult {
            call_index: index,
            duration_ms,
            ..outcome
        };
        Done {
            call,
            result,
            fault,
            answered,
            started,
        }
    }

    /// The arguments under the names that the server gave them.
    fn own_arguments(&self, wanted: &Wanted) -> Arguments {
        let fitted = self
            .by_wire_name
            .get(&wanted.name)
            .and_then(|at| self.fitted.get(*at));
        match (&wanted.arguments, fitted) {
            (Arguments::Json(json), Some(fitted)) => Arguments::Json(fitted.restored(json)),
            (arguments, _) => arguments.clone(),
        }
    }

    /// The record of a call that the model wants.
    pub fn recorded(&self, wanted: &Wanted) -> RecordedCall {
        let route = self.route(&wanted.name);
        let (server, tool) = match &route {
            Route::Tool { server, tool } => (Some(server.name.as_str()), tool.name.as_str()),
            Route::Distractor(tool) => (tool.server.as_deref(), tool.name.as_str()),
            Route::Nowhere { server, tool } => (*server, *tool),
        };
        let (args, args_text) = match self.own_arguments(wanted) {
            Arguments::Json(json) => (Some(json), None),
            Arguments::Text(text) => (None, Some(text)),
        };
        RecordedCall {
            name: tool.to_owned(),
            server: server.map(str::to_owned),
            args,
            args_text,
            id: Some(wanted.id.clone()),
            turn: None,
            caller: wanted.caller.clone(),
            distractor: matches!(route, Route::Distractor(_)),
        }
    }

    async fn outcome(
        &self,
        index: usize,
        route: &Route<'_>,
        arguments: &Arguments,
        deadline: Instant,
    ) -> (RecordedResult, Option<RecordedFault>) {
        let (server, tool) = match route {
            Route::Tool { server, tool } => (*server, *tool),
            Route::Distractor(tool) => return (self.unknown(&tool.name, false), None),
            Route::Nowhere { tool, .. } => return (self.unknown(tool, true), None),
        };
        let arguments = match arguments {
            Arguments::Json(json) => json,
            Arguments::Text(text) => return (refused(None, not_an_object(text)), None),
        };
        let timeout_ms = u64::try_from(server.timeout.as_millis()).unwrap_or(u64::MAX);
        match self
            .faults
            .strike(index, Some(&server.name), &tool.name, timeout_ms)
        {
            None => (
                Self::reach(server, &tool.name, arguments, deadline).await,
                None,
            ),
            Some(strike) => {
                let outcome = Self::struck(server, &tool.name, arguments, &strike, deadline).await;
                (outcome, Some(strike.event))
            }
        }
    }

    /// Makes a call with an injected fault. The tool's effects still happen if only its answer is lost.
    async fn struck(
        server: &Connected,
        tool: &str,
        arguments: &RawValue,
        strike: &Strike,
        deadline: Instant,
    ) -> RecordedResult {
        let reached = if strike.struck.reaches_server() {
            Some(Self::reach(server, tool, arguments, deadline).await)
        } else {
            None
        };
        if strike.real {
            let held = match strike.struck {
                FaultEffect::Silence | FaultEffect::Lost => Duration::from_millis(strike.limit_ms),
                FaultEffect::Late { delay_ms } | FaultEffect::AfterCancel { delay_ms } => {
                    Duration::from_millis(delay_ms)
                }
                FaultEffect::Refused { .. }
                | FaultEffect::Malformed
                | FaultEffect::Disconnected => Duration::ZERO,
            };
            let _out_of_time = timeout_at(deadline, sleep(held)).await;
        }
        match (strike.failure(), reached) {
            (None, Some(outcome)) => outcome,
            (Some(failure), _) => refused(failure.code, failure.message),
            (None, None) => refused(None, "no answer".to_owned()),
        }
    }

    async fn reach(
        server: &Connected,
        tool: &str,
        arguments: &RawValue,
        deadline: Instant,
    ) -> RecordedResult {
        let call = server
            .client
            .call_tool(tool, arguments, Some(server.timeout));
        match timeout_at(deadline, call).await {
            Ok(called) => recorded(called),
            Err(_) => refused(
                None,
                "not finished: the run's `time_budget` is used up".to_owned(),
            ),
        }
    }

    fn route<'t>(&'t self, written: &'t str) -> Route<'t> {
        let server_of = |name: &str| self.servers.iter().find(|server| server.name == name);
        if let Some(tool) = self
            .by_wire_name
            .get(written)
            .and_then(|at| self.catalogue.get(*at))
        {
            if tool.distractor {
                return Route::Distractor(tool);
            }
            if let Some(server) = tool.server.as_deref().and_then(server_of) {
                return Route::Tool { server, tool };
            }
        }
        match written.split_once("__") {
            Some((server, tool)) if server_of(server).is_some() && !tool.is_empty() => {
                Route::Nowhere {
                    server: Some(server),
                    tool,
                }
            }
            _ => Route::Nowhere {
                server: None,
                tool: written,
            },
        }
    }

    /// The meaning of a `tool_choice` here. `None` without tools.
    pub(crate) fn choice(&self, written: &str) -> Result<Option<ToolChoice>, ToolChoiceError> {
        let word = match written {
            "auto" => ToolChoice::Auto,
            "required" => ToolChoice::Required,
            "none" => ToolChoice::None,
            _ => return self.chosen(written).map(Some),
        };
        Ok(Some(word).filter(|_| !self.offered.is_empty()))
    }

    fn chosen(&self, written: &str) -> Result<ToolChoice, ToolChoiceError> {
        let is_meant = |at: &usize| {
            let tool = &self.catalogue[*at];
            is_tool(written, &tool.name, tool.server.as_deref())
        };
        let meant: Vec<&Offered> = (0..self.catalogue.len())
            .filter(is_meant)
            .map(|at| &self.offered[at])
            .collect();
        match &meant[..] {
            [one] => Ok(ToolChoice::Tool(one.name.clone())),
            [] => {
                let names = self.catalogue.iter().map(|tool| tool.name.as_str());
                let near = nearest(written, names.chain(["auto", "required", "none"]));
                Err(ToolChoiceError::Unknown {
                    written: written.to_owned(),
                    near: near.map(str::to_owned),
                })
            }
            several => Err(ToolChoiceError::Ambiguous {
                written: written.to_owned(),
                tools: several.iter().map(|tool| tool.full_name.clone()).collect(),
            }),
        }
    }

    /// The result of a call to an unknown tool. A distractor's own name is not a hint.
    fn unknown(&self, tool: &str, hints: bool) -> RecordedResult {
        let names = self
            .catalogue
            .iter()
            .filter(|tool| !tool.distractor)
            .map(|tool| tool.name.as_str());
        let near = nearest(tool, names).filter(|_| hints);
        let hint = near
            .map(|near| format!("; did you mean {near:?}?"))
            .unwrap_or_default();
        refused(Some(UNKNOWN_TOOL), format!("unknown tool {tool:?}{hint}"))
    }
}

fn not_an_object(text: &str) -> String {
    const SHOWN: usize = 120;
    let start: String = text.chars().take(SHOWN).collect();
    let more = if text.chars().count() > SHOWN {
        "…"
    } else {
        ""
    };
    format!("the arguments are not a JSON object, so the tool was not called: {start}{more}")
}
