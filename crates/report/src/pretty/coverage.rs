//! Which parts of the servers were exercised, and which were not?

use super::page::{Line, Page, style};
use crate::Options;
use crate::words::{count, escape};
use mcptest_core::coverage::{Coverage, ToolCoverage};
use mcptest_core::report::Status;
use unicode_width::UnicodeWidthStr;

/// The number of incomplete tools to show.
const MOST_TOOLS: usize = 20;
const WIDEST_NAME: usize = 40;

/// The totals, then the tools without a call, then the gaps of other tools.
pub(super) fn show(page: &mut Page, coverage: &Coverage, options: &Options) {
    page.line(&Line::at(0).styled(style::BOLD, "Coverage"));
    page.line(&Line::at(2).plain(totals(coverage, page.dot())));
    for server in &coverage.unmeasured {
        page.line(&Line::at(2).styled(
            style::YELLOW,
            format!("{server}: no recording lists its tools"),
        ));
    }
    if coverage.unlisted_calls > 0 {
        let calls = count(coverage.unlisted_calls, "call");
        page.line(&Line::at(2).plain(format!("{calls} of tools that no recording lists")));
    }
    tools(page, coverage, options.verbose > 0);
    if coverage.threshold.is_some() {
        let why = coverage.miss();
        let status = if why.is_some() {
            Status::Failed
        } else {
            Status::Passed
        };
        let line = page.marked(2, status);
        page.line(&line.plain(why.unwrap_or_else(|| "as many as required".to_owned())));
    }
    page.blank();
}

/// `3 of 7 tools called (42%) · 10 of 21 parameters given · …`
fn totals(coverage: &Coverage, dot: &str) -> String {
    let Coverage {
        tools,
        parameters,
        values,
        successes,
        errors,
        ..
    } = coverage;
    let Some(percent) = coverage.percent else {
        return "nothing was measured: no recording lists the tools of a server".to_owned();
    };
    let given = [(parameters, "parameters given"), (values, "values given")]
        .into_iter()
        .filter(|(share, _)| share.total > 0);
    let called = [(successes, "tools succeeded"), (errors, "tools failed")];
    let mut parts = vec![format!("{tools} tools called ({percent}%)")];
    parts.extend(
        given
            .chain(called)
            .map(|(share, what)| format!("{share} {what}")),
    );
    parts.join(&format!(" {dot} "))
}

fn tools(page: &mut Page, coverage: &Coverage, is_verbose: bool) {
    let all = coverage
        .servers
        .iter()
        .flat_map(|server| server.tools.iter().map(move |tool| (server, tool)));
    let mut shown: Vec<(String, &ToolCoverage, Vec<String>)> = all
        .map(|(server, tool)| (server.full_name(tool), tool, tool.gaps()))
        .collect();
    shown.retain(|(_, _, gaps)| is_verbose || !gaps.is_empty());
    shown.sort_by_key(|(_, tool, gaps)| (tool.calls > 0, gaps.is_empty()));
    let most = if is_verbose { shown.len() } else { MOST_TOOLS };
    let widest = shown
        .iter()
        .take(most)
        .map(|(name, ..)| escape(name).width())
        .max()
        .unwrap_or_default();
    for (name, tool, gaps) in shown.iter().take(most) {
        let line = Line::at(2)
            .glued(style::PLAIN, page.fixed(name, widest.min(WIDEST_NAME)))
            .plain("  ");
        page.line(&match (tool.calls, &gaps[..]) {
            (0, _) => line.styled(style::RED, "never called"),
            (calls, []) => line.plain(count(calls, "call")),
            (calls, gaps) => line.plain(format!(
                "{}, without {}",
                count(calls, "call"),
                first_few(gaps)
            )),
        });
    }
    if shown.len() > most {
        let rest = format!("{} more; `--verbose` shows all", shown.len() - most);
        page.line(&Line::at(2).styled(style::DIM, rest));
    }
}

fn first_few(gaps: &[String]) -> String {
    const SHOWN: usize = 8;
    let more = gaps.len().saturating_sub(SHOWN);
    let shown = gaps[..gaps.len() - more].join(", ");
    if more > 0 {
        format!("{shown} and {more} more")
    } else {
        shown
    }
}
