//! Which members do the requests and results of MCP have? Only members that are read, borrowed from
//! the text.

use crate::jsonrpc::Id;
use mcptest_core::trace::RecordedResult;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The parameters of `tools/call`.
#[derive(Debug, Clone, Deserialize)]
pub struct CallParams<'a> {
    /// The tool.
    #[serde(borrow)]
    pub name: Cow<'a, str>,
    /// Its arguments.
    #[serde(borrow, default)]
    pub arguments: Option<&'a RawValue>,
    /// The state of a result that needs input.
    #[serde(borrow, default, rename = "requestState")]
    pub state: Option<&'a RawValue>,
    /// The input.
    #[serde(borrow, default, rename = "inputResponses")]
    pub responses: Option<&'a RawValue>,
}

impl<'a> CallParams<'a> {
    /// Reads the parameters; `None` if they name no tool.
    pub fn read(params: &'a RawValue) -> Option<Self> {
        serde_json::from_str(params.get()).ok()
    }

    /// Returns true if it continues a call that needed more input.
    pub fn is_continued(&self) -> bool {
        self.responses.is_some() || self.state.is_some()
    }
}

/// A result of `tools/call`.
#[derive(Debug, Clone, Deserialize)]
pub struct CallResult<'a> {
    /// True if the tool reports a failure.
    #[serde(default, rename = "isError")]
    pub is_error: Option<bool>,
    /// The content blocks.
    #[serde(borrow, default)]
    pub content: Option<&'a RawValue>,
    /// The structured content.
    #[serde(borrow, default, rename = "structuredContent")]
    pub structured: Option<&'a RawValue>,
    /// The state to send along with the input.
    #[serde(borrow, default, rename = "requestState")]
    pub state: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "resultType")]
    kind: Option<Cow<'a, str>>,
}

impl<'a> CallResult<'a> {
    /// Reads it.
    pub fn read(result: &'a RawValue) -> serde_json::Result<Self> {
        serde_json::from_str(result.get())
    }

    /// The part that a recording keeps.
    pub fn to_recorded(&self) -> RecordedResult {
        RecordedResult {
            is_error: self.is_error.unwrap_or_default(),
            content: self.content.map(ToOwned::to_owned),
            structured: self.structured.map(ToOwned::to_owned),
            ..RecordedResult::default()
        }
    }

    /// Returns true if the call cannot continue without input.
    pub fn needs_input(&self) -> bool {
        self.kind.as_deref() == Some("input_required")
    }
}

/// The members that all parameters share.
#[derive(Debug, Default, Deserialize)]
pub struct CommonParams<'a> {
    #[serde(borrow, default, rename = "requestId")]
    request_id: Option<&'a RawValue>,
    /// The token of the request, in a progress notification.
    #[serde(borrow, default, rename = "progressToken")]
    progress_token: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "requestState")]
    state: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "inputResponses")]
    responses: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "_meta")]
    meta: Option<Meta<'a>>,
}

/// The contents of `_meta`.
#[derive(Debug, Default, Deserialize)]
struct Meta<'a> {
    #[serde(borrow, default, rename = "progressToken")]
    progress_token: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "io.modelcontextprotocol/protocolVersion")]
    version: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "io.modelcontextprotocol/clientInfo")]
    client_info: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "io.modelcontextprotocol/subscriptionId")]
    subscription: Option<&'a RawValue>,
}

impl<'a> CommonParams<'a> {
    /// Reads the parameters. Unreadable ones count as empty.
    pub fn read(params: Option<&'a RawValue>) -> Self {
        params
            .and_then(|params| serde_json::from_str(params.get()).ok())
            .unwrap_or_default()
    }

    /// Returns true if the request continues one that needed more input.
    pub fn is_continued(&self) -> bool {
        self.responses.is_some() || self.state.is_some()
    }

    /// The revision of the modern protocol in the request.
    pub fn modern_version(&self) -> Option<String> {
        serde_json::from_str(self.meta.as_ref()?.version?.get()).ok()
    }

    /// The request that a notification is about.
    pub(crate) fn request_id(&self) -> Option<Id> {
        self.request_id.and_then(Id::of)
    }

    /// The token of the request whose progress is reported.
    pub(crate) fn progress_of(&self) -> Option<Id> {
        self.progress_token.and_then(Id::of)
    }

    /// The token for progress notifications to the sender.
    pub fn wants_progress(&self) -> Option<&'a RawValue> {
        self.meta.as_ref()?.progress_token
    }

    /// The subscription that a message belongs to.
    pub(crate) fn subscription(&self) -> Option<Id> {
        self.meta.as_ref()?.subscription.and_then(Id::of)
    }

    /// The sender of a request of the modern protocol, as JSON text. Empty if it is missing.
    pub(crate) fn modern_client(&self) -> Option<&'a str> {
        let meta = self.meta.as_ref().filter(|meta| meta.version.is_some())?;
        Some(meta.client_info.map_or("", RawValue::get))
    }
}
