//! How does the agent reach its servers, and how does it learn their addresses?

use super::server_proxy::ServerProxy;
use super::setup::OwnError;
use mcptest_mcp::client::{Endpoint, ServerSpec};
use mcptest_mcp::proxy::bridge::{self, BridgedServer, TOKEN_VARIABLE};
use mcptest_mcp::proxy::http::PrivateProxy;
use mcptest_mcp::proxy::interpose::Interposer;
use serde_json::{Map, Value, json};
use std::fmt::Display;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;

/// The time limit for servers to end after the agent.
const AFTER_AGENT: Duration = Duration::from_secs(8);

/// The proxies in front of all servers of one run. Dropping them ends every server.
pub(super) struct Proxies {
    work: JoinSet<()>,
    stop: watch::Sender<bool>,
    config: Map<String, Value>,
    env: Vec<(String, String)>,
}

impl Proxies {
    pub(super) fn new() -> Self {
        Self {
            work: JoinSet::new(),
            stop: watch::Sender::new(false),
            config: Map::new(),
            env: Vec::new(),
        }
    }

    /// Opens the proxies in front of one server.
    pub(super) async fn open(
        &mut self,
        server: ServerSpec,
        server_proxy: ServerProxy,
        program: &Path,
    ) -> Result<(), OwnError> {
        let interposer: Arc<dyn Interposer> = Arc::new(server_proxy);
        let url = self.open_http(&server, Arc::clone(&interposer)).await?;
        let entry = if let Endpoint::Url { .. } = server.endpoint {
            json!({ "type": "http", "url": url })
        } else {
            self.open_bridge(&server, interposer, program).await?
        };
        let variable = url_variable(&server.name);
        if !self.env.iter().any(|(known, _)| *known == variable) {
            self.env.push((variable, url));
        }
        self.config.insert(server.name, entry);
        Ok(())
    }

    /// Opens the HTTP address for a server, and returns it.
    async fn open_http(
        &mut self,
        server: &ServerSpec,
        interposer: Arc<dyn Interposer>,
    ) -> Result<String, OwnError> {
        let proxy = PrivateProxy {
            token: token(server)?,
            server: server.clone(),
            interposer: Arc::clone(&interposer),
        };
        let listener = listen(server).await?;
        let url = proxy
            .url(&listener)
            .map_err(|error| not_listening(server, &error))?;
        let stop = stopped(&self.stop);
        self.work.spawn(async move {
            if let Err(error) = proxy.serve(listener, stop).await {
                interposer.misbehaved(error.to_string());
            }
        });
        Ok(url)
    }

    /// Opens the stdio bridge for a server, and returns the command that starts it.
    async fn open_bridge(
        &mut self,
        server: &ServerSpec,
        interposer: Arc<dyn Interposer>,
        program: &Path,
    ) -> Result<Value, OwnError> {
        let listener = listen(server).await?;
        let address = listener
            .local_addr()
            .map_err(|error| not_listening(server, &error))?
            .to_string();
        let token = token(server)?;
        let bridged = BridgedServer {
            token: token.clone(),
            endpoint: server.endpoint.clone(),
            interposer,
        };
        self.work
            .spawn(bridge::serve(listener, bridged, stopped(&self.stop)));
        Ok(json!({
            "type": "stdio",
            "command": program.display().to_string(),
            "args": ["bridge", address],
            "env": { TOKEN_VARIABLE: token },
        }))
    }

    /// Writes the file with the servers, which only the agent can read, and returns the variables
    /// that name them.
    pub(super) fn announce(&self, folder: &Path) -> Result<Vec<(String, String)>, OwnError> {
        let path = folder.join("mcp.json");
        let text = json!({ "mcpServers": self.config }).to_string();
        write_privately(&path, &text).map_err(OwnError::Config)?;
        let mut env = self.env.clone();
        env.push(("MCPTEST_MCP_CONFIG".to_owned(), path.display().to_string()));
        Ok(env)
    }

    /// Closes the proxies, lets the servers end by themselves, and then ends the remaining ones.
    pub(super) async fn close(mut self) {
        self.stop.send_replace(true);
        let all = async { while self.work.join_next().await.is_some() {} };
        let _too_slow = timeout(AFTER_AGENT, all).await;
        self.work.shutdown().await;
    }
}

async fn listen(server: &ServerSpec) -> Result<TcpListener, OwnError> {
    mcptest_http::bind(("127.0.0.1", 0))
        .await
        .map_err(|error| not_listening(server, &error))
}

fn not_listening(server: &ServerSpec, reason: &dyn Display) -> OwnError {
    OwnError::Listen {
        server: server.name.clone(),
        reason: reason.to_string(),
    }
}

fn stopped(stop: &watch::Sender<bool>) -> impl Future<Output = ()> + Send + use<> {
    let mut stopped = stop.subscribe();
    async move {
        let _dropped = stopped.wait_for(|stopped| *stopped).await;
    }
}

/// `MCPTEST_SERVER_MY_DOCS_URL` for `my-docs`.
fn url_variable(server: &str) -> String {
    let plain = |letter: char| {
        if letter.is_ascii_alphanumeric() {
            letter.to_ascii_uppercase()
        } else {
            '_'
        }
    };
    format!(
        "MCPTEST_SERVER_{}_URL",
        server.chars().map(plain).collect::<String>()
    )
}

/// An unguessable word for the server's proxy.
fn token(server: &ServerSpec) -> Result<String, OwnError> {
    random_word().ok_or_else(|| not_listening(server, &"the system has no random numbers"))
}

fn random_word() -> Option<String> {
    let mut bytes = [0; 16];
    rustls::crypto::ring::default_provider()
        .secure_random
        .fill(&mut bytes)
        .ok()?;
    Some(format!("{:032x}", u128::from_ne_bytes(bytes)))
}

fn write_privately(path: &Path, text: &str) -> std::io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)?.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_servers_variable_has_only_letters_that_a_shell_takes() {
        assert_eq!(url_variable("my-docs.v2"), "MCPTEST_SERVER_MY_DOCS_V2_URL");
    }

    #[test]
    fn no_two_tokens_are_alike() {
        assert_ne!(random_word().unwrap(), random_word().unwrap());
    }
}
