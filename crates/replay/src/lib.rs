//! Which suites and rows exist, what is recorded for them, and which verdicts follow?
//!
//! No code here starts a process or opens a socket.

pub mod advice;
pub mod cassette;
mod conditions;
mod event;
mod find;
mod fresh;
pub mod grades;
mod header;
mod interrupt;
pub mod judge;
mod judge_plan;
pub mod judged_runs;
mod keyed;
mod last;
mod left_out;
mod load;
mod open;
mod parse;
mod paths;
mod plan;
mod redaction;
mod remarks;
mod revision;
mod root;
mod scan;
mod secrets;
mod select;
pub mod session;
mod staleness;
pub mod tool_test;
mod traces;
mod walk;
mod watch;

pub use event::{Event, RowToRecord, Watch, unwatched};
pub use find::{FindError, Found, find, find_in, plain};
pub use fresh::{FreshRow, FreshRows};
pub use header::expected_header;
pub use interrupt::{Interrupt, Interrupted, interrupted, uninterrupted};
pub use judge_plan::{CoverageFloor, JudgeOptions, judge_plan, replay};
pub use keyed::groups_by;
pub use last::LastRun;
pub use left_out::LeftOut;
pub use load::{
    bare_suite, check_again, host, load_suites, load_suites_for_traces, load_suites_in,
    load_suites_to_capture, load_suites_to_capture_traces,
};
pub use mcptest_core::row::Transcripts;
pub use mcptest_files::reason;
pub use open::{OpenedRow, OpenedRuns, other_files};
pub use parse::{ParsedRow, ParsedRuns};
pub use paths::{cassette_paths, side_path};
pub use plan::Plan;
pub use redaction::{
    clean, environment, may_be_unclean, remember, remember_words, variables, write, write_back,
    write_over,
};
pub use revision::{Revision, RevisionError, is_revision};
pub use root::{id_of, named_from_root};
pub use scan::{ScanError, Sighted, Tally, recordings, scan};
pub use secrets::{BARE, Secrets, SuiteSecrets, redactor_of, refused};
pub use select::{Filter, Selection, Shard};
pub use staleness::{Misfit, misfit};
pub use traces::{TraceFilter, TracesError, groups, transcripts_in};
pub use walk::{Unlisted, Walk, Walked, not_entered};
pub use watch::{Judged, Stamps};
