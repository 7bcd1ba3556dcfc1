//! How is a recording watched: live on a terminal, in plain lines elsewhere, always on standard error?

mod plain;
mod screen;
mod state;
#[cfg(test)]
mod tests;
mod view;
pub(crate) mod words;

use crate::output::{self, Paint};
use mcptest_run::{Event, Watch};
use parking_lot::{Condvar, Mutex};
use plain::Plain;
use screen::Screen;
use state::State;
use std::io::IsTerminal;
use std::sync::Arc;
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
    View { paint: Paint, above: String },
}

impl Style {
    fn new(is_quiet: bool, is_live: bool) -> Self {
        let stderr = std::io::stderr();
        let is_set = |name: &str| {
            std::env::var_os(name).is_some_and(|value| !value.is_empty() && value != "0" && value != "false")
        };
        let is_dumb = std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
        if is_quiet {
            Self::Silent
        } else if stderr.is_terminal() && (!is_dumb || cfg!(windows)) && !is_set("CI") {
            let paint = Paint::stderr();
            Self::View { paint, above: String::new() }
        } else {
            Self::Plain(Plain::new(is_live))
        }
    }
}

impl Progress {
    /// Begins to watch. `is_live` is for runs that are written nowhere.
    pub(crate) fn begin(is_quiet: bool, is_live: bool) -> Self {
        let style = Style::new(is_quiet, is_live);
        let is_silent = matches!(style, Style::Silent);
        let shown = Mutex::new(Shown { state: State::default(), style, is_over: false });
        let shared = Arc::new(Shared { began: Instant::now(), shown, ended: Condvar::new() });
        let beating = (!is_silent).then(|| {
            let shared = Arc::clone(&shared);
            std::thread::spawn(move || shared.beat())
        });
        Self { shared, beating, is_live }
    }

    /// The function that receives every event.
    pub(crate) fn watch(&self) -> Watch {
        let shared = Arc::clone(&self.shared);
        Arc::new(move |event| shared.tell(&event))
    }

    /// Takes the view away, and says what was spent.
    pub(crate) fn end(mut self) {
        self.shared.shown.lock().is_over = true;
        self.shared.ended.notify_all();
        if let Some(beating) = self.beating.take() {
            let _panicked = beating.join();
        }
        let shown = self.shared.shown.lock();
        if !matches!(shown.style, Style::Silent) {
            output::stderr(
                &plain::spent(&shown.state, self.is_live).map(|line| line + "\n").unwrap_or_default(),
            );
        }
    }
}

impl Shared {
    fn tell(&self, event: &Event) {
        let now = self.began.elapsed();
        let mut shown = self.shown.lock();
        let Shown { state, style, .. } = &mut *shown;
        match style {
            Style::Silent => return,
            Style::Plain(plain) => {
                if let Some(line) = plain.line(event, state, now) {
                    output::stderr(&(line + "\n"));
                }
            }
            Style::View { paint, above, .. } => {
                let failed = plain::failure(event, state).map(|line| format!("{} {line}\n", paint.red("✗")));
                above.extend(failed);
            }
        }
        state.apply(event, now);
    }

    /// Draws the view, or says that it still goes on, until the end.
    fn beat(&self) {
        let mut screen = Screen::new();
        let mut is_over = false;
        while !is_over {
            let mut shown = self.shown.lock();
            self.ended.wait_for(&mut shown, BEAT);
            is_over = shown.is_over;
            let size = size();
            let (above, lines) = shown.beat(self.began.elapsed(), size);
            // A terminal that takes nothing for a while must not hold up the runs.
            drop(shown);
            screen.draw(&lines, size.columns);
            screen.say_above(&above);
        }
        screen.clear();
    }
}

impl Shown {
    /// The text to say above the view, and the view.
    fn beat(&mut self, now: Duration, size: Size) -> (String, Vec<String>) {
        let Self { state, style, is_over } = self;
        let has_begun = !state.rows.is_empty() || state.tools.1 > 0;
        match style {
            Style::Plain(plain) if has_begun && !*is_over => {
                (plain.heartbeat(state, now).map(|line| line + "\n").unwrap_or_default(), Vec::new())
            }
            Style::View { paint, above } if has_begun => {
                (std::mem::take(above), view::lines(state, now, size, *paint))
            }
            _ => Default::default(),
        }
    }
}

/// How large the terminal is now.
fn size() -> Size {
    let (rows, columns) = console::Term::stderr().size_checked().unwrap_or((24, 80));
    Size { columns: usize::from(columns.max(1)), rows: usize::from(rows.max(1)) }
}
