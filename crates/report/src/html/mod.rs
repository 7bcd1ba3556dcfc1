//! `html`: the whole report as one page for a browser, without further files.

mod served;

pub use served::{served_page, served_report, served_traces};

use crate::bound::{bounded, embedding};
use crate::failures::verdict;
use crate::words::{FILE, causes};
use crate::{Options, Reporter};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::{Compression, GzBuilder};
use mcptest_core::json::{Layout, write};
use mcptest_core::report::{Embed, Report, TestReport};
use serde::Serialize;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::io::Write;

const DOC: &str = "one page with every picture, for a browser; it loads nothing from the network";

pub(crate) const REPORTER: Reporter = Reporter {
    embeds: Some(Embed::Failed),
    ..Reporter::new("html", DOC, "html", render)
};

/// The page's permissions: only this program and this style. `viewer/` generates all three files.
const POLICY: &str = include_str!("policy.txt");
const STYLE: &str = include_str!("viewer.css");
const PROGRAM: &str = include_str!("viewer.js");

fn render(report: &Report, options: &Options) -> Vec<u8> {
    let report = &*embedding(report, options.embed);
    let shown = bounded(report);
    let traces: Vec<Option<String>> = shown.tests.iter().map(traces_of).collect();
    let shown = explained(&embedding(&shown, Embed::None)).to_json(Layout::Compact);
    let mut page = begun(
        &verdict(report),
        POLICY,
        "",
        &block("report", &shown, options),
    );
    // After the program, so that it need not wait for them.
    page.push_str(&docs(|gate| report.gates.contains_key(gate), options));
    for (at, traces) in traces.iter().enumerate() {
        page.extend(
            traces
                .iter()
                .map(|traces| block(&format!("traces-{at}"), traces, options)),
        );
    }
    page.push_str(CLOSING);
    page.into_bytes()
}

/// The report in which each test says in sentences why it did not pass.
fn explained(report: &Report) -> Cow<'_, Report> {
    let mut copy = Cow::Borrowed(report);
    for (at, test) in report.tests.iter().enumerate() {
        let causes = causes(test, FILE);
        if causes != test.causes {
            copy.to_mut().tests[at].causes = causes;
        }
    }
    copy
}

/// Reports side by side as a page of the same kind.
pub fn sides<C: Serialize>(comparison: &C, options: &Options) -> Vec<u8> {
    let data = block("compare", &write(comparison, Layout::Compact), options);
    let page = begun("reports side by side", POLICY, "", &data);
    (page + CLOSING).into_bytes()
}

const CLOSING: &str = "</body>\n</html>\n";

/// A page up to its program, with the data that the program begins with.
fn begun(title: &str, policy: &str, attributes: &str, data: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\"{attributes}>\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>mcptest: {title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
         <div id=\"app\"><noscript>This report needs a browser that runs scripts.</noscript></div>\n\
         {data}<script>{PROGRAM}</script>\n"
    )
}

/// The pages on these gates, by key, which define each number.
fn docs(is_wanted: impl Fn(&str) -> bool, options: &Options) -> String {
    let wanted = options.gates.iter().filter(|kind| is_wanted(kind.key));
    let pages: Map<String, Value> = wanted
        .map(|kind| (kind.key.to_owned(), kind.doc.into()))
        .collect();
    if pages.is_empty() {
        String::new()
    } else {
        block("docs", &Value::Object(pages).to_string(), options)
    }
}

/// The traces of a test by run number, as JSON; `None` without traces.
fn traces_of(test: &TestReport) -> Option<String> {
    let held = test.runs.iter().filter_map(|run| {
        run.trace
            .as_ref()
            .map(|trace| format!("\"{}\":{}", run.index, trace.text()))
    });
    let held: Vec<String> = held.collect();
    (!held.is_empty()).then(|| format!("{{{}}}", held.join(",")))
}

/// Packed data of the page: no text of a report can end the element or be read as HTML.
fn block(id: &str, json: &str, options: &Options) -> String {
    let text = options
        .clean
        .map_or(Cow::Borrowed(json), |clean| clean(json));
    let packed = STANDARD.encode(packed(text.as_bytes()));
    format!("<script type=\"text/plain\" id=\"{id}\">{packed}</script>\n")
}

#[expect(clippy::expect_used, reason = "writing to memory cannot fail")]
fn packed(bytes: &[u8]) -> Vec<u8> {
    // Without a time or a system in its header: the same bytes again.
    let mut gzip = GzBuilder::new()
        .operating_system(255)
        .write(Vec::new(), Compression::best());
    gzip.write_all(bytes)
        .and_then(|()| gzip.finish())
        .expect("writing to memory")
}

#[cfg(test)]
mod tests;
