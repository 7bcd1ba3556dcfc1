//! How is one tool test recorded: is it called, where does the result go, and what is it?

use super::late::on_late;
use super::one_run::RecordingContext;
use super::schedule::Shared;
use super::servers::is_shared;
use super::{NOTHING_RECORDED, eras};
use crate::tool_call::{call, call_on};
use crate::{Mode, Options};
use mcptest_core::report::Status;
use mcptest_core::row::{Reason, ReasonKind, Row, ToolRow};
use mcptest_replay::cassette::{Recording, write_whole};
use mcptest_replay::{FreshRow, SuiteSecrets, judge, tool_test};
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// A slow or broken server says nothing about the answer that was recorded before.
const ANSWER_STAYS: &str =
    "the call had no answer, so the previous recording, which has one, is unchanged";

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
            Ok(recording)
                if !tool_test::is_answered(&recording) && self.has_recorded_answer(&path) =>
            {
                FreshRow::InMemory {
                    notes: vec![ANSWER_STAYS.to_owned()],
                    recording,
                    side: None,
                }
            }
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

    /// Returns true if the recording at this place has the answer to the same call.
    fn has_recorded_answer(&self, path: &Path) -> bool {
        let Ok(recording) = Recording::open(path) else {
            return false;
        };
        let ToolRow { suite, test, .. } = self.of;
        tool_test::parse_recording(recording.bytes()).is_ok_and(|(header, outcome)| {
            outcome.failure.is_none() && tool_test::staleness(&header, suite, test).is_none()
        })
    }

    /// The result, from its own or a shared server.
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

    /// Why it has no recording, for display.
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
