//! Which server do `tools` and `call` mean, and how is it spoken to?

use crate::args::{Direct, Server};
use crate::bare_server::is_url;
use crate::output::{self, Failure};
use mcptest_core::era::Era;
use mcptest_core::escape::{escape, escape_path};
use mcptest_core::problem::{self, nearest};
use mcptest_core::suite::{Suite, check_header_name, check_header_value, check_variable_name};
use mcptest_mcp::client::{Endpoint, OnLate, ServerSpec};
use mcptest_run::draft::Source;
use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

/// The server that the arguments mean.
pub(super) fn spec(name: Option<&str>, args: &Server) -> Result<ServerSpec, Failure> {
    let mut spec = match direct(&args.direct)? {
        Some(spec) => spec,
        None => of_suite(name, args)?,
    };
    apply(&args.direct, &mut spec)?;
    Ok(spec)
}

/// Says on a terminal what the program waits for.
fn tell_if_late(spec: &mut ServerSpec) {
    if std::io::stderr().is_terminal() {
        spec.on_late = OnLate(Some(Arc::new(|spec: &ServerSpec| {
            let limit = spec.connect_timeout.as_secs_f64();
            let name = escape(&spec.name);
            output::stderr(&format!(
                "waiting for the first answer of {name}, at most {limit} s (--connect-timeout)\n"
            ));
        })));
    }
}

/// The server that is named on the command line, with nothing applied; `None` when none is.
fn direct(args: &Direct) -> Result<Option<ServerSpec>, Failure> {
    Ok(match (&args.url, command(args)?) {
        (Some(url), _) => Some(ServerSpec::url(url, url)),
        (None, Some(words)) if matches!(&words[..], [word] if is_url(word)) => {
            Some(ServerSpec::url(&words[0], &words[0]))
        }
        (None, Some(words)) => Some(of_words(&words)?),
        (None, None) => None,
    })
}

/// The words of the command that is named, when one is.
fn command(args: &Direct) -> Result<Option<Vec<String>>, Failure> {
    match &args.command {
        Some(text) => words(text).map(Some),
        None => Ok(Some(args.words.clone()).filter(|words| !words.is_empty())),
    }
}

/// The server that is named on the command line, and how a suite would describe it.
pub(super) fn spec_and_source(args: &Direct) -> Result<(ServerSpec, Source), Failure> {
    let Some(mut spec) = direct(args)? else { return Err(Failure("no server is named".to_owned())) };
    apply(args, &mut spec)?;
    let era = args.era.and_then(|era| era.0).map(Era::as_str);
    let mut source = Source { era, timeout: args.timeout, ..Source::default() };
    match &spec.endpoint {
        Endpoint::Command { words, env, .. } => {
            source.words.clone_from(words);
            source.env.clone_from(env);
        }
        Endpoint::Url { url, headers } => {
            source.url = Some(url.clone());
            source.headers.clone_from(headers);
        }
        Endpoint::Pipe(_) => {}
    }
    Ok((spec, source))
}

/// The server that these words start.
pub(super) fn of_words(words: &[String]) -> Result<ServerSpec, Failure> {
    let Some(program) = words.first() else {
        return Err(Failure("`--command` is empty\n  help: write `--command \"npx my-server\"`".to_owned()));
    };
    let name =
        Path::new(program).file_name().map_or(program.clone(), |name| name.to_string_lossy().into_owned());
    Ok(ServerSpec::command(name, words))
}

fn of_suite(name: Option<&str>, args: &Server) -> Result<ServerSpec, Failure> {
    let named: Vec<_> = args.config.iter().cloned().collect();
    let found = mcptest_run::find(&named, Path::new("")).map_err(|error| match (error, name) {
        (mcptest_run::FindError::NoDefault, Some(name)) => Failure(format!(
            "there is no mcptest.yaml or mcptest.yml here that could declare a server `{name}`\n  help: the command of a \
             server follows `--`: `-- {name}`; or name a suite with `--config suite.yml`"
        )),
        (mcptest_run::FindError::NoDefault, None) => Failure(
            "no server is named, and there is no mcptest.yaml or mcptest.yml here to look in\n  help: name a server with \
             `-- npx my-server`, `--url http://localhost:3000/mcp` or `--config suite.yml`"
                .to_owned(),
        ),
        (error, _) => error.into(),
    })?;
    let Some(path) = found.suites.first() else { return Err(Failure("there is no suite".to_owned())) };
    let suite = &suite_at(path)?;
    let name = name_in(suite, &escape_path(path), name)?;
    mcptest_run::server::spec_in(suite, name, None).map_err(Failure)
}

/// The suite in this file, or all that is wrong with it.
pub(super) fn suite_at(path: &Path) -> Result<Suite, Failure> {
    let loaded = mcptest_run::load_suites(&[path.to_owned()]).pop().map(|(_, loaded)| loaded);
    let Some(loaded) = loaded else { return Err(Failure("there is no suite".to_owned())) };
    loaded.suite.ok_or_else(|| {
        let problems = problem::render(&loaded.problems, &loaded.sources, false);
        Failure(format!("{} is refused\n{}", escape_path(path), problems.trim_end()))
    })
}

/// The named server, or the only one.
fn name_in<'s>(suite: &'s Suite, path: &str, name: Option<&str>) -> Result<&'s str, Failure> {
    let mut known = suite.servers.keys().map(String::as_str);
    let all = || suite.servers.keys().cloned().collect::<Vec<_>>().join(", ");
    let Some(name) = name else {
        return match (known.next(), known.next()) {
            (Some(only), None) => Ok(only),
            (None, _) => Err(Failure(format!(
                "{path} has no `servers:`\n  help: name a server with `-- npx my-server` or `--url URL`"
            ))),
            _ => Err(Failure(format!("{path} has several servers: name one of {}", all()))),
        };
    };
    known.clone().find(|one| *one == name).ok_or_else(|| {
        let help = match nearest(name, known) {
            Some(near) => format!("did you mean `{near}`?"),
            None if suite.servers.is_empty() => "it has none".to_owned(),
            None => format!("declared there: {}", all()),
        };
        Failure(format!("nothing under `servers:` of {path} is called `{name}`\n  help: {help}"))
    })
}

fn apply(args: &Direct, spec: &mut ServerSpec) -> Result<(), Failure> {
    for written in &args.header {
        let (name, value) = written.split_once(':').ok_or_else(|| {
            Failure(format!("`{written}` is not a header\n  help: write `--header 'X-Key: secret'`"))
        })?;
        let (name, value) = (name.trim(), value.trim());
        if !is_common_header(name) {
            mcptest_run::remember(name, value);
        }
        check_header_name(name)
            .and_then(|()| check_header_value(value))
            .map_err(|why| refused("header", &why))?;
        match &mut spec.endpoint {
            Endpoint::Url { headers, .. }
                if headers.iter().any(|(other, _)| other.eq_ignore_ascii_case(name)) =>
            {
                return Err(refused("header", &format!("the header `{name}` is given twice")));
            }
            Endpoint::Url { headers, .. } => headers.push((name.to_owned(), value.to_owned())),
            _ => return Err(Failure("`--header` needs a server with a URL".to_owned())),
        }
    }
    for written in &args.env {
        let (name, value) = written.split_once('=').ok_or_else(|| {
            Failure(format!("`{written}` is not a variable\n  help: write `--env LEVEL=debug`"))
        })?;
        mcptest_run::remember(name, value);
        check_variable_name(name).map_err(|why| refused("env", &why))?;
        match &mut spec.endpoint {
            Endpoint::Command { env, .. } => env.push((name.to_owned(), value.to_owned())),
            _ => return Err(Failure("`--env` needs a server that is started by a command".to_owned())),
        }
    }
    if let Some(era) = args.era {
        spec.era = era.0;
    }
    tell_if_late(spec);
    if let Some(timeout) = args.timeout {
        spec.timeout = timeout;
    }
    if let Some(timeout) = args.connect_timeout {
        spec.connect_timeout = timeout;
    }
    Ok(())
}

/// Whether a header says nothing that only the user knows.
fn is_common_header(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let begins = ["accept", "content-", "mcp-"].iter().any(|start| name.starts_with(start));
    begins || ["user-agent", "origin", "referer", "host", "connection"].contains(&&*name)
}

fn refused(option: &str, why: &str) -> Failure {
    Failure(format!("`--{option}`: {why}"))
}

/// The words of a command line, as a shell splits them; on Windows a backslash is a part of a path.
pub(super) fn words(text: &str) -> Result<Vec<String>, Failure> {
    let escaped = if cfg!(windows) { text.replace('\\', r"\\") } else { text.to_owned() };
    shell_words::split(&escaped).map_err(|_unclosed| Failure(format!("a quote in `{text}` is never closed")))
}

/// Does this with the server; a user who has enough ends it, and the server with it.
pub(super) fn speak(work: impl Future<Output = Result<ExitCode, Failure>>) -> Result<ExitCode, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
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
        output::stderr("interrupted\n");
        Ok(ExitCode::from(code))
    })
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn quotes_and_backslashes_group() {
        let split = |text: &str| words(text).unwrap();
        assert_eq!(split("npx  my-server --fast"), ["npx", "my-server", "--fast"]);
        assert_eq!(split(r#"a "b c" 'd "e"' "" f"g h""#), ["a", "b c", "d \"e\"", "", "fg h"]);
        assert!(words("a 'b").is_err());
    }
}
