//! How is a recording watched: live on a terminal, in plain lines elsewhere, always on standard error?

mod plain;
mod screen;
mod state;
#[cfg(test)]
mod tests;
mod view;
pub(crate) mod words;

use crate::args::Colour;
use crate::output::{self, Paint};
use mcptest_run::{Event, Watch};
use plain::Plain;
use screen::Screen;
use state::State;
use std::io::IsTerminal;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use view::Size;

/// How often the view is drawn.
const BEAT: Duration = Duration::from_millis(100);

/// Shows what happens until it is ended.
pub(crate) struct Progress {
    shared: Arc<Shared>,
    beating: Option<JoinHandle<()>>,
    is_live: bool,
}

struct Shared {
    began: Instant,
    shown: Mutex<Shown>,
    ended: Condvar,
}

struct Shown {
    state: State,
    style: Style,
    is_over: bool,
}

enum Style {
    /// Nothing is said.
    Silent,
    /// A line now and then.
    Plain(Plain),
    /// A view that is drawn again and again.
    View { screen: Screen, paint: Paint, above: Vec<String> },
}

impl Style {
    fn new(is_quiet: bool, is_live: bool, colour: Colour) -> Self {
        let stderr = std::io::stderr();
        let is_set = |name: &str| {
            std::env::var_os(name).is_some_and(|value| !value.is_empty() && value != "0" && value != "false")
        };
        let is_dumb = std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
        if is_quiet {
            Self::Silent
        } else if stderr.is_terminal() && (!is_dumb || cfg!(windows)) && !is_set("CI") {
            let paint = Paint::new(output::is_coloured(colour, &stderr));
            Self::View { screen: Screen::default(), paint, above: Vec::new() }
        } else {
            Self::Plain(Plain::new(is_live))
        }
    }
}

impl Progress {
    /// Begins to watch. `is_live` is for runs that are written nowhere.
    pub(crate) fn begin(is_quiet: bool, is_live: bool, colour: Colour) -> Self {
        let style = Style::new(is_quiet, is_live, colour);
        let is_silent = matches!(style, Style::Silent);
        let shown = Mutex::new(Shown { state: State::default(), style, is_over: false });
        let shared = Arc::new(Shared { began: Instant::now(), shown, ended: Condvar::new() });
        let beating = (!is_silent).then(|| {
            let shared = Arc::clone(&shared);
            std::thread::spawn(move || shared.beat())
        });
        Self { shared, beating, is_live }
    }

    /// What is to be told of everything that happens.
    pub(crate) fn watch(&self) -> Watch {
        let shared = Arc::clone(&self.shared);
        Arc::new(move |event| shared.tell(&event))
    }

    /// Takes the view away, and says what was spent.
    pub(crate) fn end(mut self) {
        self.shared.lock().is_over = true;
        self.shared.ended.notify_all();
        if let Some(beating) = self.beating.take() {
            let _panicked = beating.join();
        }
        let mut shown = self.shared.lock();
        let Shown { state, style, .. } = &mut *shown;
        let spent = plain::spent(state, self.is_live).map(|line| line + "\n").unwrap_or_default();
        match style {
            Style::Silent => {}
            Style::Plain(_) => output::stderr(&spent),
            Style::View { screen, above, .. } => {
                let above = std::mem::take(above);
                let cleared = if above.is_empty() {
                    screen.clear(size().columns)
                } else {
                    screen.draw(&above, &[], size().columns)
                };
                output::stderr(&(cleared + &spent));
            }
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Shown> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, event: &Event) {
        let now = self.began.elapsed();
        let mut shown = self.lock();
        let Shown { state, style, .. } = &mut *shown;
        match style {
            Style::Silent => return,
            Style::Plain(plain) => {
                if let Some(line) = plain.line(event, state, now) {
                    output::stderr(&(line + "\n"));
                }
            }
            Style::View { paint, above, .. } => {
                let failed = plain::failure(event, state).map(|line| format!("{} {line}", paint.red("✗")));
                above.extend(failed);
            }
        }
        state.apply(event, now);
    }

    /// Draws the view, or says that it still goes on, until the end.
    fn beat(&self) {
        let mut shown = self.lock();
        while !shown.is_over {
            (shown, _) = self.ended.wait_timeout(shown, BEAT).unwrap_or_else(PoisonError::into_inner);
            if shown.is_over {
                return;
            }
            let bytes = shown.beat(self.began.elapsed());
            // A terminal that takes nothing for a while must not hold up the runs.
            drop(shown);
            output::stderr(&bytes);
            shown = self.lock();
        }
    }
}

impl Shown {
    fn beat(&mut self, now: Duration) -> String {
        let Self { state, style, .. } = self;
        if state.rows.is_empty() && state.tools.1 == 0 {
            return String::new();
        }
        match style {
            Style::Silent => String::new(),
            Style::Plain(plain) => plain.heartbeat(state, now).map(|line| line + "\n").unwrap_or_default(),
            Style::View { screen, paint, above } => {
                let size = size();
                let above = std::mem::take(above);
                screen.draw(&above, &view::lines(state, now, size, *paint), size.columns)
            }
        }
    }
}

/// How large the terminal is now.
fn size() -> Size {
    let measured = terminal_size::terminal_size_of(std::io::stderr());
    let (columns, rows) = measured.map_or((80, 24), |(columns, rows)| (columns.0, rows.0));
    Size { columns: usize::from(columns.max(1)), rows: usize::from(rows.max(1)) }
}
