//! Which server do `tools` and `call` mean, and how is it reached?

use crate::bare_server::is_url;
use crate::failure::Failure;
use crate::value::{Word, one_of, parse_duration};
use crate::waiting;
use clap::Args;
use mcptest_core::era::Era;
use mcptest_core::escape::{escape, escape_path};
use mcptest_core::eval::Gates;
use mcptest_core::problem::{self, nearest};
use mcptest_core::suite::{Suite, check_header_name, check_header_value, check_variable_name};
use mcptest_http::Address;
use mcptest_mcp::client::{Endpoint, ServerSpec, TimeoutScope};
use mcptest_replay::FindError;
use std::net::SocketAddr;
use std::path::Path;
use std::path::PathBuf;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::runtime::Builder;

/// Which server, and how to connect.
#[derive(Debug, Args)]
pub struct Server {
    /// The suite that declares the server [default: mcptest.yaml or mcptest.yml].
    #[arg(help_heading = "Server", long, value_name = "FILE", conflicts_with_all = ["command", "url", "words"])]
    pub config: Option<PathBuf>,
    /// A server that no suite declares.
    #[command(flatten)]
    pub direct: Direct,
}

/// A server that is named on the command line.
#[derive(Debug, Args)]
pub struct Direct {
    /// Start the server with this command line: `--command "npx my-server --fast"`.
    #[arg(help_heading = "Server", long, value_name = "TEXT", conflicts_with_all = ["url", "words"])]
    pub command: Option<String>,
    /// Connect to a server on streamable HTTP.
    #[arg(
        help_heading = "Server",
        long,
        value_name = "URL",
        conflicts_with = "words"
    )]
    pub url: Option<String>,
    /// Send this header with every HTTP request; repeatable.
    #[arg(help_heading = "Server", long, value_name = "NAME: VALUE")]
    pub header: Vec<String>,
    /// Set an environment variable of the server; repeatable.
    #[arg(help_heading = "Server", long, value_name = "NAME=VALUE")]
    pub env: Vec<String>,
    /// The MCP protocol [default: auto].
    #[arg(help_heading = "Server", long, value_name = "ERA", value_parser = one_of(&ERAS))]
    pub era: Option<EraOption>,
    /// Time limit, such as 500ms, 30s or 2m: for `tools`, `call` and `check` as a whole, else for each request and the
    /// first answer.
    #[arg(help_heading = "Server", long, value_name = "TIME", value_parser = parse_duration)]
    pub timeout: Option<Duration>,
    /// Time limit for the server's first answer; `--timeout` is then for each request [default: --timeout, or 60s].
    #[arg(help_heading = "Server", long, value_name = "TIME", value_parser = parse_duration)]
    pub connect_timeout: Option<Duration>,
    /// Start the server with the command after `--`.
    #[arg(help_heading = "Server", last = true, value_name = "COMMAND")]
    pub words: Vec<String>,
}

/// A protocol as `--era` takes it. `None` detects it.
type EraOption = Option<Era>;

const ERAS: [Word<EraOption>; 3] = [
    ("auto", None, "Detect the protocol"),
    (
        Era::Legacy.as_str(),
        Some(Era::Legacy),
        "Handshake with `initialize`, and sessions",
    ),
    (
        Era::Modern.as_str(),
        Some(Era::Modern),
        "Stateless requests",
    ),
];

/// The server that the arguments mean.
pub fn spec(name: Option<&str>, args: &Server, gates: Gates) -> Result<ServerSpec, Failure> {
    let mut spec = match direct(&args.direct)? {
        Some(spec) => spec,
        None => from_suite(name, args, gates)?,
    };
    apply(&args.direct, &mut spec)?;
    Ok(spec)
}

/// The server of the arguments, for a command with one exchange: `--timeout` alone limits all of
/// it.
pub fn spec_of_one_exchange(
    name: Option<&str>,
    args: &Server,
    gates: Gates,
) -> Result<ServerSpec, Failure> {
    let mut spec = spec(name, args, gates)?;
    if limit_of_everything(&args.direct).is_some() {
        spec.timeout_scope = TimeoutScope::WholeConnection;
    }
    Ok(spec)
}

/// The limit that `--timeout` alone sets for a whole command. With `--connect-timeout`, it limits
/// each request.
pub fn limit_of_everything(args: &Direct) -> Option<Duration> {
    args.timeout.filter(|_| args.connect_timeout.is_none())
}

/// Says that the program waits for the server's first answer, for when a command is about to connect.
fn tell(spec: &ServerSpec) {
    waiting::tell(&format!(
        "the first answer of {}, at most {} s (--connect-timeout)",
        escape(&spec.name),
        spec.connect_timeout.as_secs_f64()
    ));
}

/// The server on the command line, without `--header` and `--env`; `None` without one.
fn direct(args: &Direct) -> Result<Option<ServerSpec>, Failure> {
    Ok(match (&args.url, command(args)?) {
        (Some(url), _) => Some(ServerSpec::url(url, url)),
        (None, Some(words)) if matches!(&words[..], [word] if is_url(word)) => {
            Some(ServerSpec::url(&words[0], &words[0]))
        }
        (None, Some(words)) => Some(from_words(&words)?),
        (None, None) => None,
    })
}

/// The words of the server's command, if given.
fn command(args: &Direct) -> Result<Option<Vec<String>>, Failure> {
    match &args.command {
        Some(text) => words(text).map(Some),
        None => Ok(Some(args.words.clone()).filter(|words| !words.is_empty())),
    }
}

/// The server that is named on the command line.
pub fn named(args: &Direct) -> Result<ServerSpec, Failure> {
    let Some(mut spec) = direct(args)? else {
        return Err(Failure::new("no server is named"));
    };
    apply(args, &mut spec)?;
    Ok(spec)
}

/// The server that these words start.
pub fn from_words(words: &[String]) -> Result<ServerSpec, Failure> {
    let Some(program) = words.first() else {
        return Err(no_command());
    };
    let name = Path::new(program)
        .file_name()
        .map_or(program.clone(), |name| name.to_string_lossy().into_owned());
    Ok(ServerSpec::command(name, words))
}

/// The failure for a missing command.
pub fn no_command() -> Failure {
    Failure::with_help(
        "`--command` is empty",
        "write `--command \"npx my-server\"`",
    )
}

fn from_suite(name: Option<&str>, args: &Server, gates: Gates) -> Result<ServerSpec, Failure> {
    let named: Vec<_> = args.config.iter().cloned().collect();
    let found = mcptest_replay::find(&named, Path::new("")).map_err(|error| match (error, name) {
        (FindError::NoDefault, Some(name)) => Failure::with_help(
            format!("no mcptest.yaml or mcptest.yml in this folder declares a server `{name}`"),
            format!("the command of a server follows `--`: `-- {name}`; or name a suite with `--config suite.yml`"),
        ),
        (FindError::NoDefault, None) => Failure::with_help(
            "no server is given, and this folder has no mcptest.yaml or mcptest.yml",
            "name a server with `-- npx my-server`, `--url http://localhost:3000/mcp` or `--config suite.yml`",
        ),
        (error, _) => error.into(),
    })?;
    let Some(path) = found.suites.first() else {
        return Err(Failure::new("no suite found"));
    };
    let suite = &suite_at(path, gates)?;
    let name = name_in(suite, &escape_path(path), name)?;
    mcptest_mock::spec_in(suite, name, None, &mcptest_replay::host())
        .map_err(|error| Failure::new(error.to_string()))
}

/// The suite in this file, or all that is wrong with it.
pub fn suite_at(path: &Path, gates: Gates) -> Result<Suite, Failure> {
    let loaded = mcptest_replay::load_suites(&[path.to_owned()], gates)
        .pop()
        .map(|(_, loaded)| loaded);
    let Some(loaded) = loaded else {
        return Err(Failure::new("no suite found"));
    };
    loaded.suite.ok_or_else(|| {
        let problems = problem::render(&loaded.problems, &loaded.sources, false);
        Failure::new(format!(
            "{} is refused\n{}",
            escape_path(path),
            problems.trim_end()
        ))
    })
}

/// The named server, or the only one.
fn name_in<'s>(suite: &'s Suite, path: &str, name: Option<&str>) -> Result<&'s str, Failure> {
    let mut known = suite.servers.keys().map(String::as_str);
    let all = || suite.servers.keys().cloned().collect::<Vec<_>>().join(", ");
    let Some(name) = name else {
        return match (known.next(), known.next()) {
            (Some(only), None) => Ok(only),
            (None, _) => Err(Failure::with_help(
                format!("{path} has no `servers:`"),
                "name a server with `-- npx my-server` or `--url URL`",
            )),
            _ => Err(Failure::new(format!(
                "{path} has several servers: name one of {}",
                all()
            ))),
        };
    };
    known.clone().find(|one| *one == name).ok_or_else(|| {
        let help = match nearest(name, known) {
            Some(near) => format!("did you mean `{near}`?"),
            None if suite.servers.is_empty() => "it has no servers".to_owned(),
            None => format!("declared there: {}", all()),
        };
        Failure::with_help(format!("`servers:` of {path} has no server `{name}`"), help)
    })
}

/// Applies the options of the command line to the server.
fn apply(args: &Direct, spec: &mut ServerSpec) -> Result<(), Failure> {
    for written in &args.header {
        add_header(written, &mut spec.endpoint)?;
    }
    for written in &args.env {
        add_variable(written, &mut spec.endpoint)?;
    }
    if let Some(era) = args.era {
        spec.era = era;
    }
    if let Some(timeout) = args.timeout {
        spec.timeout = timeout;
        // Whoever sets one limit expects it to hold from the start.
        spec.connect_timeout = timeout;
    }
    if let Some(timeout) = args.connect_timeout {
        spec.connect_timeout = timeout;
    }
    tell(spec);
    Ok(())
}

/// Applies one `--header`.
fn add_header(written: &str, endpoint: &mut Endpoint) -> Result<(), Failure> {
    let (name, value) = written.split_once(':').ok_or_else(|| {
        Failure::with_help(
            format!("`{written}` is not a header"),
            "write `--header 'X-Key: secret'`",
        )
    })?;
    let (name, value) = (name.trim(), value.trim());
    if !is_common_header(name) {
        mcptest_replay::remember(name, value);
    }
    check_header_name(name)
        .and_then(|()| check_header_value(value))
        .map_err(|why| refused("header", &why))?;
    let Endpoint::Url { headers, .. } = endpoint else {
        return Err(Failure::new("`--header` needs a server with a URL"));
    };
    let is_given = headers
        .iter()
        .any(|(other, _)| other.eq_ignore_ascii_case(name));
    if is_given {
        let why = format!("the header `{name}` is given twice");
        return Err(refused("header", &why));
    }
    headers.push((name.to_owned(), value.to_owned()));
    Ok(())
}

/// Applies one `--env`.
fn add_variable(written: &str, endpoint: &mut Endpoint) -> Result<(), Failure> {
    let (name, value) = written.split_once('=').ok_or_else(|| {
        Failure::with_help(
            format!("`{written}` is not a variable"),
            "write `--env LEVEL=debug`",
        )
    })?;
    mcptest_replay::remember(name, value);
    check_variable_name(name).map_err(|why| refused("env", &why))?;
    let Endpoint::Command { env, .. } = endpoint else {
        return Err(Failure::new(
            "`--env` needs a server that is started by a command",
        ));
    };
    env.push((name.to_owned(), value.to_owned()));
    Ok(())
}

/// Returns true if a header carries no information that only the user has.
fn is_common_header(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let begins = ["accept", "content-", "mcp-"]
        .iter()
        .any(|start| name.starts_with(start));
    begins || ["user-agent", "origin", "referer", "host", "connection"].contains(&&*name)
}

fn refused(option: &str, why: &str) -> Failure {
    Failure::new(format!("`--{option}`: {why}"))
}

/// The words of a command line, as a shell splits them; on Windows a backslash is a part of a path.
pub fn words(text: &str) -> Result<Vec<String>, Failure> {
    let escaped = if cfg!(windows) {
        text.replace('\\', r"\\")
    } else {
        text.to_owned()
    };
    shell_words::split(&escaped)
        .map_err(|_unclosed| Failure::new(format!("a quote in `{text}` is never closed")))
}

/// Runs this work with a server. Ctrl-C ends it, and the server.
pub fn speak<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()?;
    let ended = runtime.block_on(async {
        tokio::select! {
            biased;
            code = mcptest_process::interrupted() => Err(code),
            done = work => Ok(done),
        }
    });
    runtime.shutdown_timeout(std::time::Duration::from_secs(2));
    ended.unwrap_or_else(|code| {
        mcptest_process::end_all();
        Err(Failure::ended(code, "interrupted"))
    })
}

/// Runs this on a new runtime. A pending read of standard input cannot be cancelled, so the runtime
/// is not joined.
pub fn until_end<T>(
    mut runtime: Builder,
    work: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    let runtime = runtime.enable_all().build()?;
    let ended = runtime.block_on(work);
    runtime.shutdown_background();
    ended
}

/// Listens for `what`. An address that other machines can reach requires an allowed host, such as
/// `example`.
pub async fn listen(
    address: &Address,
    allowed: &[String],
    (what, example): (&str, &str),
) -> Result<(TcpListener, SocketAddr), Failure> {
    let cannot = |error| Failure::cannot(format!("listen on {address}"), &error);
    let listener = address.bind().await.map_err(cannot)?;
    let bound = listener.local_addr().map_err(cannot)?;
    if bound.ip().is_loopback() || !allowed.is_empty() {
        return Ok((listener, bound));
    }
    let why = format!("other machines can reach {address}, but no host name is allowed");
    let name = format!("name the host for which {what} is asked, as in `--allow-host {example}`");
    Err(Failure::with_help(
        why,
        format!("{name}, or listen on 127.0.0.1"),
    ))
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn quotes_and_backslashes_group() {
        let split = |text: &str| words(text).unwrap();
        assert_eq!(
            split("npx  my-server --fast"),
            ["npx", "my-server", "--fast"]
        );
        assert_eq!(
            split(r#"a "b c" 'd "e"' "" f"g h""#),
            ["a", "b c", "d \"e\"", "", "fg h"]
        );
        assert!(words("a 'b").is_err());
    }
}
