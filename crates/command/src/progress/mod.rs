//! How is the progress of a recording shown? Live on a terminal, as plain lines elsewhere, always
//! on standard error.

mod line;
mod plain;
mod screen;
mod state;
#[cfg(test)]
mod tests;
mod view;
pub mod words;

use crate::output::{self, Paint};
use crate::waiting::OtherView;
use mcptest_replay::{Event, Watch};
use plain::Plain;
use screen::Screen;
use state::State;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use view::Size;

/// The interval between drawings of the view.
const BEAT: Duration = Duration::from_millis(100);

/// Shows the progress until it is ended; quiet progress shows nothing.
pub struct Progress {
    showing: Option<(Sender<ProgressMessage>, JoinHandle<()>)>,
    _view: OtherView,
}

/// The messages for the thread that shows progress.
enum ProgressMessage {
    Event { at: Instant, event: Event },
    End,
}

enum Style {
    /// A line now and then.
    Plain(Plain),
    /// A view that is drawn again and again, and what is to be said above it.
    View { paint: Paint, above: String },
}

impl Style {
    fn new(is_live: bool) -> Self {
        if output::can_redraw() {
            Self::View {
                paint: Paint::stderr(),
                above: String::new(),
            }
        } else {
            Self::Plain(Plain::new(is_live))
        }
    }

    fn tell(&mut self, event: &Event, state: &mut State, now: Duration) {
        match self {
            Self::Plain(plain) => say(plain.line(event, state, now)),
            Self::View { paint, above } => {
                above.extend(
                    plain::failure(event, state).map(|line| format!("{} {line}\n", paint.red("✗"))),
                );
            }
        }
        state.apply(event, now);
    }
}

impl Progress {
    /// Begins to show progress. `is_live` is for runs that are not written.
    pub fn begin(is_quiet: bool, is_live: bool) -> Self {
        let view = OtherView::begin();
        let showing = (!is_quiet).then(|| {
            let (sender, events) = channel();
            (
                sender,
                std::thread::spawn(move || show(&events, Style::new(is_live), is_live)),
            )
        });
        Self {
            showing,
            _view: view,
        }
    }

    /// The function that receives every event. It never blocks the runs, even if the terminal does.
    pub fn watch(&self) -> Watch {
        let Some((sender, _)) = &self.showing else {
            return mcptest_replay::unwatched();
        };
        let sender = sender.clone();
        Arc::new(move |event| {
            let at = Instant::now();
            drop(sender.send(ProgressMessage::Event { at, event }));
        })
    }

    /// Removes the view and prints what was spent.
    pub fn end(self) {
        if let Some((sender, showing)) = self.showing {
            drop(sender.send(ProgressMessage::End));
            let _panicked = showing.join();
        }
    }
}

/// Shows the events until the end, as a view or as lines that report the progress.
fn show(events: &Receiver<ProgressMessage>, mut style: Style, is_live: bool) {
    let began = Instant::now();
    let (mut state, mut screen, mut is_over) = (State::default(), Screen::new(), false);
    while !is_over {
        let beat = Instant::now() + BEAT;
        is_over = loop {
            match events.recv_timeout(beat.saturating_duration_since(Instant::now())) {
                Ok(ProgressMessage::Event { at, event }) => {
                    style.tell(&event, &mut state, at.saturating_duration_since(began));
                }
                Err(RecvTimeoutError::Timeout) => break false,
                Ok(ProgressMessage::End) | Err(RecvTimeoutError::Disconnected) => break true,
            }
        };
        let has_begun = !state.rows.is_empty() || state.tools.of > 0;
        match &mut style {
            Style::Plain(plain) if has_begun && !is_over => {
                say(plain.heartbeat(&state, began.elapsed()));
            }
            Style::View { paint, above } if has_begun => {
                let size = size();
                screen.draw(
                    &view::lines(&state, began.elapsed(), size, *paint),
                    size.columns,
                );
                screen.say_above(&std::mem::take(above));
            }
            _ => {}
        }
    }
    screen.clear();
    say(plain::spent(&state, is_live));
}

fn say(line: Option<String>) {
    output::stderr(&line.map(|line| line + "\n").unwrap_or_default());
}

/// The current size of the terminal.
fn size() -> Size {
    let (rows, columns) = console::Term::stderr().size_checked().unwrap_or((24, 80));
    Size {
        columns: usize::from(columns.max(1)),
        rows: usize::from(rows.max(1)),
    }
}
