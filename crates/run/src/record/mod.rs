//! Recording: which runs and tool tests are made now, how many at once, and what happens on an
//! interrupt?

mod agent_job;
mod eras;
mod estimate;
mod late;
mod one_run;
mod open_cassette;
mod plan;
mod price;
mod schedule;
mod servers;
mod setup_command;
mod state;
mod tool_job;
mod workers;

pub use estimate::{
    Estimate, ExceededBudget, ExpectedTokens, RowEstimate, SideRunsEstimate, estimate,
};

use crate::Options;
use agent_job::AgentJob;
use mcptest_grade::GradingContext;
use mcptest_process::end_all;
use mcptest_replay::{Event, FreshRow, FreshRows, Interrupted, Plan};
use plan::Planned;
use schedule::{Schedule, Shared, Unit};
use servers::SharedServers;
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tool_job::ToolJob;
use workers::Workers;

/// The reason in the row of a failed recording.
const NOTHING_RECORDED: &str = "nothing was recorded; the previous recording, if any, is unchanged";

/// One row to record.
enum Job<'p> {
    Agent(Box<AgentJob<'p>>),
    Tool(ToolJob<'p>),
}

impl Job<'_> {
    fn is_of_agent(&self) -> bool {
        matches!(self, Self::Agent(_))
    }

    fn units(&self) -> Vec<Unit> {
        match self {
            Self::Agent(job) => job.units(),
            Self::Tool(job) => vec![Unit {
                job: job.number,
                run: 1,
                is_side: false,
            }],
        }
    }

    /// Its place in the plan.
    fn index(&self) -> usize {
        match self {
            Self::Agent(job) => job.index,
            Self::Tool(job) => job.index,
        }
    }

    fn shared(&self, jobs: usize) -> Shared {
        match self {
            Self::Agent(job) => job.shared(jobs),
            Self::Tool(job) => job.shared(),
        }
    }

    fn failed(&self, why: &str) -> (usize, FreshRow) {
        match self {
            Self::Agent(job) => (job.index, job.failed(why)),
            Self::Tool(job) => (job.index, FreshRow::failed(why)),
        }
    }

    /// Its place in the plan, and its result. A row that `--fail-fast` prevented is not judged by
    /// its old recording.
    fn into_row(self, is_cut: bool) -> Option<(usize, FreshRow)> {
        let (index, row) = match self {
            Self::Agent(job) => (job.index, job.row()),
            Self::Tool(job) => (job.index, job.row.into_inner()),
        };
        Some((index, row.or(is_cut.then_some(FreshRow::NotRun))?))
    }
}

/// Records, or runs live, the rows of the mode: all tool tests, then the runs of agents.
pub(crate) fn record(
    plan: &Plan<'_>,
    options: Options,
    context: GradingContext<'_>,
) -> Result<FreshRows, Interrupted> {
    let Planned { mut rows, jobs } =
        plan::plan(plan, options.mode, context.secrets, context.spending);
    if jobs.is_empty() {
        return Ok(FreshRows {
            rows,
            ..FreshRows::default()
        });
    }
    let runtime = match runtime() {
        Ok(runtime) => runtime,
        Err(error) => {
            rows.extend(jobs.iter().map(|job| job.failed(&error.to_string())));
            return Ok(FreshRows {
                rows,
                ..FreshRows::default()
            });
        }
    };
    let made = make(jobs, &runtime, options, context);
    runtime.shutdown_timeout(Duration::from_secs(2));
    if let Some(interrupted) = made.interrupted {
        end_all();
        return Err(interrupted);
    }
    rows.extend(made.rows);
    Ok(FreshRows {
        rows,
        took: made.took,
    })
}

/// The outcomes of the jobs.
struct Made {
    rows: Vec<(usize, FreshRow)>,
    took: BTreeMap<usize, Duration>,
    interrupted: Option<Interrupted>,
}

/// Does the jobs, several at once.
fn make(
    jobs: Vec<Job<'_>>,
    runtime: &Runtime,
    options: Options,
    context: GradingContext<'_>,
) -> Made {
    let (agents, tests) = jobs.split_at(jobs.partition_point(Job::is_of_agent));
    let units: Vec<Unit> = tests.iter().chain(agents).flat_map(Job::units).collect();
    let most = most_at_once(options);
    let schedule = Schedule::new(
        jobs.iter().map(|job| job.shared(most)).collect(),
        units.iter().cloned(),
    );
    let servers = SharedServers::default();
    let workers = Workers::new(
        &jobs,
        &schedule,
        one_run::RecordingContext {
            servers: &servers,
            spending: context.spending,
            watch: context.watch,
            interrupt: context.interrupt,
        },
        options,
    );
    if !tests.is_empty() {
        (context.watch)(Event::ToolsBegan { tests: tests.len() });
    }
    std::thread::scope(|scope| {
        for _ in 0..threads(options, agents.len(), tests.len()) {
            scope.spawn(|| workers.work(runtime.handle()));
        }
    });
    let took = jobs.iter().map(Job::index).zip(workers.took()).collect();
    let interrupted = workers.interrupted(units.len() - tests.len(), tests.len());
    (context.watch)(Event::Ended);
    runtime.block_on(async {
        tokio::time::timeout(Duration::from_secs(10), servers.close())
            .await
            .ok()
    });
    let is_cut = schedule.is_cut();
    Made {
        rows: jobs
            .into_iter()
            .filter_map(|job| job.into_row(is_cut))
            .collect(),
        took,
        interrupted,
    }
}

fn runtime() -> std::io::Result<Runtime> {
    Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
}

/// The maximum number of runs at once.
fn most_at_once(options: Options) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    options.jobs.unwrap_or(cores.max(4)).max(1)
}

/// The number of workers. With `--fail-fast`, nothing begins before the previous row has passed.
fn threads(options: Options, agents: usize, tests: usize) -> usize {
    let most = most_at_once(options);
    if options.fail_fast {
        1
    } else if agents == 0 {
        most.min(tests)
    } else {
        most
    }
}
