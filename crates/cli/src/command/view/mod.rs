//! `mcptest view`: the page of a report, served to a browser on this machine and kept current.

mod browser;
mod live;
mod source;

use crate::GATES;
use clap::Args;
use http::{Method, Request, Response, StatusCode, header};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use mcptest_command::server::listen;
use mcptest_command::{Failure, Group, Patience, Program, RunCommand, output};
use mcptest_http::{Address, Guard, Limits};
use mcptest_report::html;
use parking_lot::Mutex;
use source::Source;
use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::Arc;

/// Arguments of `view`.
#[derive(Debug, Args)]
pub(crate) struct View {
    /// A saved JSON report, suites, or recordings and transcripts [default: mcptest.yaml or mcptest.yml].
    #[arg(value_name = "REPORT|SUITE|RECORDING")]
    paths: Vec<PathBuf>,
    /// Listen on this port or address; port 0 picks a free one.
    #[arg(long, value_name = "ADDR[:PORT]", default_value = "127.0.0.1:0")]
    http: Address,
    /// Also accept requests for this host name; repeatable.
    #[arg(long, value_name = "HOST")]
    allow_host: Vec<String>,
    /// Do not open the browser.
    #[arg(long)]
    no_open: bool,
}

impl RunCommand for View {
    const NAME: &'static str = "view";
    const GROUP: Group = Group::Test;
    const SUMMARY: &'static str =
        "Show a report, suites or recordings in a browser, and follow a recording";
    const EXAMPLE: &'static str = "mcptest view examples/";
    const PATIENCE: Patience = Patience::UntilItIsStopped;

    fn run(self, _program: &Program) -> Result<u8, Failure> {
        let shown = ShownReport::new(Source::from_paths(&self.paths)?)?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()?;
        runtime.block_on(serve(&self, shown))?;
        Ok(0)
    }
}

async fn serve(args: &View, shown: ShownReport) -> Result<(), Failure> {
    let (listener, bound) = listen(
        &args.http,
        &args.allow_host,
        ("the page", "reports.internal"),
    )
    .await?;
    let address = format!("http://{bound}/");
    let ending = if !args.no_open && browser::open(&address) {
        "Opened in your browser; Ctrl-C ends it."
    } else {
        "Open it in your browser; Ctrl-C ends it."
    };
    output::stderr(&format!("{address}\n{ending}\n"));
    let guard =
        Guard::for_address(bound.ip()).allow(args.allow_host.clone(), "start it with --allow-host");
    let door = Arc::new((guard, Mutex::new(shown)));
    let exchange = move |request: Request<Incoming>| {
        let door = Arc::clone(&door);
        async move {
            let answer =
                tokio::task::spawn_blocking(move || answer(&door.0, &door.1, &request)).await;
            Ok::<_, Infallible>(
                answer.unwrap_or_else(|_| plain(StatusCode::INTERNAL_SERVER_ERROR, "")),
            )
        }
    };
    mcptest_http::serve(
        listener,
        Limits::default(),
        exchange,
        mcptest_process::interrupted(),
    )
    .await;
    Ok(())
}

/// The shown report, with the state of its files.
struct ShownReport {
    source: Source,
    /// The number of changes; a page requests newer ones.
    version: u64,
    judged: source::JudgedSource,
}

impl ShownReport {
    fn new(source: Source) -> Result<Self, Failure> {
        let judged = source.judge()?;
        Ok(Self {
            source,
            version: 1,
            judged,
        })
    }

    /// Judges again after a file has changed. If the file cannot be read now, the shown report stays.
    fn refresh(&mut self) {
        if self.judged.is_current() {
            return;
        }
        match self.source.judge() {
            Ok(judged) => {
                self.judged = judged;
                self.version += 1;
            }
            Err(failure) => output::stderr(&format!("warning: {}\n", failure.why)),
        }
    }
}

fn answer(
    guard: &Guard,
    shown: &Mutex<ShownReport>,
    request: &Request<Incoming>,
) -> Response<Full<Bytes>> {
    if let Some((status, why)) = guard.refusal(request.uri(), request.headers()) {
        return plain(status, &why);
    }
    if request.method() != Method::GET {
        return plain(StatusCode::METHOD_NOT_ALLOWED, "only GET is supported");
    }
    let mut shown = shown.lock();
    let path = request.uri().path();
    if let Some(at) = path.strip_prefix("/traces/") {
        return shown.traces(at);
    }
    match path {
        "/" => shown.page(),
        "/report" => shown.report(request.uri().query()),
        _ => plain(StatusCode::NOT_FOUND, "no such page"),
    }
}

impl ShownReport {
    /// The traces of the test at this place.
    fn traces(&self, at: &str) -> Response<Full<Bytes>> {
        let test = at
            .parse()
            .ok()
            .and_then(|at: usize| self.judged.report.tests.get(at));
        match test {
            Some(test) => of_kind(
                "application/json",
                html::served_traces(test, mcptest_replay::clean),
            ),
            None => plain(StatusCode::NOT_FOUND, "no such test"),
        }
    }

    fn page(&mut self) -> Response<Full<Bytes>> {
        self.refresh();
        let page = html::served_page(
            &self.judged.report,
            GATES,
            self.version,
            mcptest_replay::clean,
        );
        of_kind("text/html; charset=utf-8", page)
    }

    /// The report, unless the page already shows this version.
    fn report(&mut self, version: Option<&str>) -> Response<Full<Bytes>> {
        self.refresh();
        if version == Some(self.version.to_string().as_str()) {
            return plain(StatusCode::NO_CONTENT, "");
        }
        let live = serde_json::to_value(&self.judged.live).unwrap_or_default();
        of_kind(
            "application/json",
            html::served_report(
                &self.judged.report,
                self.version,
                &live,
                mcptest_replay::clean,
            ),
        )
    }
}

fn plain(status: StatusCode, text: &str) -> Response<Full<Bytes>> {
    let mut answer = of_kind("text/plain; charset=utf-8", text.as_bytes().to_vec());
    *answer.status_mut() = status;
    answer
}

fn of_kind(kind: &'static str, body: Vec<u8>) -> Response<Full<Bytes>> {
    let mut answer = Response::new(Full::from(body));
    let headers = answer.headers_mut();
    headers.insert(header::CONTENT_TYPE, header::HeaderValue::from_static(kind));
    headers.insert(
        header::CACHE_CONTROL,
        header::HeaderValue::from_static("no-store"),
    );
    headers.insert(
        header::X_CONTENT_TYPE_OPTIONS,
        header::HeaderValue::from_static("nosniff"),
    );
    answer
}
