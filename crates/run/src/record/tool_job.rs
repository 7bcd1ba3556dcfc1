//! One tool test being recorded: is it called, where does the result go, and what is it?

use super::late::on_late;
use super::one_run::RecordingContext;
use super::schedule::Shared;
use super::servers::is_shared;
use super::{NOTHING_RECORDED, eras};
use crate::tool_call::{call, call_on};
use crate::{Mode, Options};
use mcptest_core::report::Status;
use mcptest_core::row::{Reason, ReasonKind, Row, ToolRow};
use mcptest_replay::cassette::write_whole;
use mcptest_replay::{FreshRow, SuiteSecrets, judge, tool_test};
use std::sync::{Arc, OnceLock};

/// One tool test to call.
pub(super) struct ToolJob<'p> {
    /// Its number among the jobs.
    pub(super) number: usize,
    /// Its place in the plan.
    pub(super) index: usize,
    pub(super) planned: &'p Row<'p>,
    pub(super) of: ToolRow<'p>,
    pub(super) mode: Mode,
    pub(super) secrets: Arc<SuiteSecrets>,
    /// The result, once it was called.
    pub(super) row: OnceLock<FreshRow>,
}

impl ToolJob<'_> {
    /// Calls the tool, and writes the result.
    pub(super) async fn call(&self, context: &RecordingContext<'_>) -> FreshRow {
        let called = self.called(context).await;
        let is_live = self.mode == Mode::Live;
        let path = tool_test::path_of(self.of.suite, self.of.test);
        let notes =
            |now: &str| eras::changes(&eras::recorded(&path), &eras::of_call(now.as_bytes()));
        match called {
            Ok(recording) if is_live => FreshRow::InMemory {
                notes: notes(&recording),
                recording,
                side: None,
            },
            Ok(recording) => {
                let notes = notes(&recording);
                match write_whole(&path, &recording) {
                    Ok(()) => FreshRow::OnDisk { notes },
                    Err(error) => FreshRow::failed(error.to_string()),
                }
            }
            Err(mut reason) => {
                reason
                    .details
                    .extend((!is_live).then(|| NOTHING_RECORDED.to_owned()));
                FreshRow::Failed(reason)
            }
        }
    }

    /// The result, on a server of its own or one that it shares with others.
    async fn called(&self, context: &RecordingContext<'_>) -> Result<String, Reason> {
        let ToolRow { suite, test, .. } = self.of;
        let redactor = self.secrets.redactor()?;
        let on_late = on_late(context.watch, None);
        if !is_shared(suite, &test.server) {
            return call(suite, test, redactor, on_late).await;
        }
        let connected = context
            .servers
            .get(suite, &test.server, &on_late)
            .await
            .map_err(|error| {
                let why = redactor.text(&error.to_string()).into_owned();
                Reason::from_lines(ReasonKind::ServerUnusable, &why)
            })?;
        call_on(&connected.client, suite, test, redactor).await
    }

    /// The limits that it shares with other tests.
    pub(super) fn shared(&self) -> Shared {
        let ToolRow { suite, test, .. } = self.of;
        if is_shared(suite, &test.server) {
            Shared::Server(format!("{} {}", suite.path.display(), test.server))
        } else {
            Shared::Nothing
        }
    }

    /// Why it has no recording, in words to show.
    pub(super) fn unrecorded(&self, row: &FreshRow) -> Option<String> {
        let FreshRow::Failed(reason) = row else {
            return None;
        };
        Some(self.secrets.hidden_in(&reason.message))
    }

    pub(super) fn passes(&self, row: &FreshRow, options: Options) -> bool {
        judge::status(self.planned, options.judge_options(), Some(row)) == Status::Passed
    }
}
