//! Which listeners learn of a change of the server, and in which words?

use super::outlet::Outlet;
use super::session::Session;
use crate::manifest::ServerChange;
use mcptest_mcp::jsonrpc::{self, Id};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Not;
use std::sync::Arc;

impl ServerChange {
    const fn method(&self) -> &'static str {
        match self {
            Self::Tools => "notifications/tools/list_changed",
            Self::Prompts => "notifications/prompts/list_changed",
            Self::Resources => "notifications/resources/list_changed",
            Self::Updated(_) => "notifications/resources/updated",
        }
    }
}

/// Everyone who listens.
#[derive(Debug, Default)]
pub(super) struct Audience(Mutex<Listeners>);

#[derive(Debug, Default)]
struct Listeners {
    last_number: u64,
    by_number: BTreeMap<u64, Listener>,
}

#[derive(Debug)]
struct Listener {
    interest: Interest,
    outlet: Outlet,
}

/// The changes that a listener wants to learn of.
#[derive(Debug)]
pub(super) enum Interest {
    /// A legacy session: every list, and the resources that it subscribed to.
    Session(Arc<Session>),
    /// A modern `subscriptions/listen`.
    Subscription { id: Id, filter: Filter },
}

/// The `notifications` of a `subscriptions/listen`.
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Filter {
    #[serde(skip_serializing_if = "Not::not")]
    pub(super) prompts_list_changed: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) resource_subscriptions: Vec<String>,
    #[serde(skip_serializing_if = "Not::not")]
    pub(super) resources_list_changed: bool,
    #[serde(skip_serializing_if = "Not::not")]
    pub(super) tools_list_changed: bool,
}

impl Filter {
    /// The message that lists the accepted subscriptions.
    pub(super) fn acknowledgement(&self, id: &Id) -> String {
        let honoured = serde_json::to_string(self).unwrap_or_default();
        let params = format!(
            r#"{{"notifications":{honoured},{}}}"#,
            subscription_meta(id)
        );
        jsonrpc::notification("notifications/subscriptions/acknowledged", Some(&params))
    }
}

impl Interest {
    fn wants(&self, change: &ServerChange) -> bool {
        match (self, change) {
            (Self::Session(session), ServerChange::Updated(uri)) => {
                session.subscriptions.lock().contains(uri)
            }
            (Self::Session(_), _) => true,
            (Self::Subscription { filter, .. }, ServerChange::Tools) => filter.tools_list_changed,
            (Self::Subscription { filter, .. }, ServerChange::Prompts) => {
                filter.prompts_list_changed
            }
            (Self::Subscription { filter, .. }, ServerChange::Resources) => {
                filter.resources_list_changed
            }
            (Self::Subscription { filter, .. }, ServerChange::Updated(uri)) => {
                filter.resource_subscriptions.contains(uri)
            }
        }
    }

    fn message(&self, change: &ServerChange) -> String {
        let uri = match change {
            ServerChange::Updated(uri) => format!(r#""uri":{}"#, jsonrpc::write_text(uri)),
            _ => String::new(),
        };
        let params = match self {
            Self::Session(_) if uri.is_empty() => None,
            Self::Session(_) => Some(format!("{{{uri}}}")),
            Self::Subscription { id, .. } => {
                let comma = if uri.is_empty() { "" } else { "," };
                Some(format!("{{{uri}{comma}{}}}", subscription_meta(id)))
            }
        };
        jsonrpc::notification(change.method(), params.as_deref())
    }
}

/// The `_meta` that ties a notification to its subscription.
fn subscription_meta(id: &Id) -> String {
    format!(
        r#""_meta":{{"io.modelcontextprotocol/subscriptionId":{}}}"#,
        jsonrpc::id_text(id)
    )
}

impl Audience {
    /// Adds a listener, until the returned seat is dropped.
    pub(super) fn join(self: &Arc<Self>, interest: Interest, outlet: Outlet) -> AudienceMember {
        let mut listeners = self.0.lock();
        listeners.last_number += 1;
        let number = listeners.last_number;
        listeners
            .by_number
            .insert(number, Listener { interest, outlet });
        AudienceMember {
            audience: Arc::clone(self),
            number,
        }
    }

    /// Notifies all subscribers. A listener that does not keep up is dropped.
    pub(super) fn tell(&self, change: &ServerChange) {
        self.0.lock().by_number.retain(|_, listener| {
            !listener.interest.wants(change)
                || listener.outlet.push(listener.interest.message(change))
        });
    }
}

/// A place in the audience.
#[derive(Debug)]
pub(super) struct AudienceMember {
    audience: Arc<Audience>,
    number: u64,
}

impl Drop for AudienceMember {
    fn drop(&mut self) {
        self.audience.0.lock().by_number.remove(&self.number);
    }
}
