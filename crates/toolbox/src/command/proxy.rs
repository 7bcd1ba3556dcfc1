//! `mcptest proxy`: between a client and a server, with a tape of all that crosses.

use clap::{ArgGroup, Args};
use mcptest_command::{BareServer, Failure, Group, Patience, Program, RunCommand, output, server};
use mcptest_core::escape::escape_path;
use mcptest_http::{Address, Guard};
use mcptest_mcp::fault::{FaultKind, Injector};
use mcptest_mcp::proxy::{self, http, stdio};
use mcptest_mcp::tape::{TapeServer, Writer};
use std::path::PathBuf;
use tokio::runtime::Builder;

/// Arguments of `proxy`.
#[derive(Debug, Args)]
#[command(
    group = ArgGroup::new("server").required(true).args(["target", "command", "words"]),
    override_usage = "mcptest proxy [OPTIONS] --out FILE -- COMMAND...\n       mcptest proxy [OPTIONS] --out FILE --command TEXT\n       mcptest proxy [OPTIONS] --out FILE --target URL [--listen ADDR[:PORT]]"
)]
pub(crate) struct Proxy {
    /// The tape to write; `{number}` in the name becomes the first free number.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// The URL of the server, on HTTP.
    #[arg(long, value_name = "URL")]
    pub(crate) target: Option<String>,
    /// Start the server with this command line, for clients that drop `--`: `--command "npx my-server --fast"`.
    #[arg(long, value_name = "TEXT")]
    pub(crate) command: Option<String>,
    /// The address to listen on for clients [default: 127.0.0.1 and a free port].
    #[arg(long, value_name = "ADDR[:PORT]", conflicts_with_all = ["command", "words"])]
    pub(crate) listen: Option<Address>,
    /// Also accept requests for this host name; repeatable.
    #[arg(long, value_name = "HOST", conflicts_with_all = ["command", "words"])]
    pub(crate) allow_host: Vec<String>,
    /// Inject this fault into every tool call, such as slow:500 or malformed; repeatable.
    #[arg(long, value_name = "KIND")]
    pub(crate) fault: Vec<FaultKind>,
    /// Redact what this pattern matches; repeatable.
    #[arg(long, value_name = "PATTERN")]
    pub(crate) redact: Vec<String>,
    /// The server's name in suites, written to the tape.
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Start the server with the command after `--`, on stdio.
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) words: Vec<String>,
}

impl RunCommand for Proxy {
    const NAME: &'static str = "proxy";
    const GROUP: Group = Group::Record;
    const SUMMARY: &'static str =
        "Record the traffic between an MCP client and its server on a tape";
    const EXAMPLE: &'static str =
        "mcptest proxy --out session.jsonl -- npx -y @modelcontextprotocol/server-everything";
    const SERVER: Option<BareServer> = Some(BareServer {
        address_option: "--target",
        ..BareServer::after_words(0)
    });
    const PATIENCE: Patience = Patience::UntilItIsStopped;

    fn run(self, _program: &Program) -> Result<u8, Failure> {
        let command = match &self.command {
            Some(text) => server::words(text)?,
            None => self.words,
        };
        if self.target.is_none() && command.is_empty() {
            return Err(server::no_command());
        }
        let target = self
            .target
            .as_deref()
            .map(http::Target::parse)
            .transpose()?;
        let words: Vec<&str> = command
            .iter()
            .map(String::as_str)
            .chain(target.as_ref().map(http::Target::url))
            .collect();
        let redactor = proxy::redactor(&self.redact, environment(), &words)?;
        let server = TapeServer {
            name: self.name,
            command: command.clone(),
            url: target
                .as_ref()
                .map(|target| redactor.text(target.url()).into_owned()),
        };
        let shown = server.url.clone().unwrap_or_default();
        let tape = Writer::create(&self.out, server, redactor)?;
        let path = tape.path().to_owned();
        let injector = Injector::new(self.fault);
        let (code, lost) = match target {
            Some(target) => {
                let listen = self.listen.unwrap_or_else(Address::loopback);
                let work = serve(&listen, (target, &shown), self.allow_host, injector, tape);
                (0, server::until_end(Builder::new_multi_thread(), work)?)
            }
            None => pass_on(command, injector, tape)?,
        };
        if let Some(reason) = lost {
            let path = escape_path(&path);
            output::stderr(&format!(
                "mcptest proxy: the recording {path} is incomplete: {reason}\n"
            ));
        }
        Ok(code)
    }
}

/// The variables that are text.
fn environment() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
}

/// On stdio, one thread passes everything on: each switch to another would cost a call some
/// microseconds.
fn pass_on(
    command: Vec<String>,
    injector: Injector,
    tape: Writer,
) -> Result<(u8, Option<String>), Failure> {
    let setup = stdio::Setup {
        command,
        injector,
        patience: stdio::Patience::default(),
    };
    let client = stdio::ClientEnd {
        input: tokio::io::stdin(),
        output: tokio::io::stdout(),
        errors: tokio::io::stderr(),
    };
    server::until_end(Builder::new_current_thread(), async {
        let outcome = stdio::run(setup, client, tape, stop_signal()).await?;
        Ok((outcome.code, outcome.lost))
    })
}

async fn serve(
    listen: &Address,
    (target, shown): (http::Target, &str),
    allowed: Vec<String>,
    injector: Injector,
    tape: Writer,
) -> Result<Option<String>, Failure> {
    let listener = listen.bind().await.map_err(|error| {
        let (address, reason) = (listen.to_string(), error.to_string());
        proxy::ProxyError::NotListening { address, reason }
    })?;
    let address = listener.local_addr()?;
    let guard =
        Guard::for_address(address.ip()).allow(allowed, "start the proxy with --allow-host");
    let (from, tape_path) = (target.seen_at(address), escape_path(tape.path()));
    output::stderr(&format!(
        "mcptest proxy: {from} forwards to {shown}, recorded in {tape_path}\n"
    ));
    let setup = http::Setup {
        target,
        guard,
        injector,
    };
    Ok(http::serve(listener, setup, tape, stop_signal()).await?)
}

/// Waits for the signal that ends the proxy, and names it.
async fn stop_signal() -> String {
    mcptest_process::stop_signal().await.name.to_owned()
}
