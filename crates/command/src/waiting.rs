//! What does the program wait for, when a command takes longer than a moment?
//!
//! Every command passes through here: `Waiting::begin` is called where commands are run. On a terminal, a live line
//! on standard error names what the command waits for; elsewhere, such as in the log of a CI job, a line now and then.

use crate::output;
use crate::progress::words;
use parking_lot::Mutex;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The time after which a person wonders what a command does.
const MOMENT: Duration = Duration::from_secs(2);
/// The interval between the lines of a log.
const INTERVAL: Duration = Duration::from_secs(30);
/// The interval between looks at the time.
const BEAT: Duration = Duration::from_millis(200);

/// A command's way with the user's patience.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    /// The user waits for its end. After a moment, it says what it waits for.
    UntilItEnds,
    /// It serves until it is stopped, or talks to another program, and reports its state itself.
    UntilItIsStopped,
}

static SHOWN: Mutex<ShownState> = Mutex::new(ShownState {
    what: None,
    drawn: None,
    is_mid_line: false,
    other_views: 0,
});

struct ShownState {
    /// The thing that the command waits for; `None` before and after a command.
    what: Option<String>,
    /// The live line on the terminal, if it is there.
    drawn: Option<String>,
    /// The last text did not end its line, as a question to the user.
    is_mid_line: bool,
    /// The number of live `OtherView`s. While it is above 0, the waiting line is not drawn.
    other_views: usize,
}

impl ShownState {
    fn clear(&mut self) {
        if self.drawn.take().is_some() {
            let _gone = console::Term::stderr().clear_line();
        }
    }

    fn say(&mut self, said: &WaitMessage) {
        let text = output::shown(said.text(), &std::io::stderr()).into_owned();
        let term = console::Term::stderr();
        let _gone = match said {
            WaitMessage::Live(_) => {
                let room = usize::from(term.size().1).saturating_sub(1);
                let line = console::truncate_str(&text, room, "…").into_owned();
                if self.drawn.as_ref() == Some(&line) {
                    return;
                }
                self.clear();
                let drawn = term.write_str(&line);
                self.drawn = Some(line);
                drawn
            }
            WaitMessage::Line(_) => term.write_line(&text),
        };
    }
}

/// Names what the command waits for from now on: `the answer of search_docs`.
pub fn tell(what: &str) {
    let mut shown = SHOWN.lock();
    if shown.what.is_some() {
        shown.what = Some(what.to_owned());
    }
}

/// Another view, such as the progress of a recording, says what happens while this exists.
#[derive(Debug)]
pub struct OtherView(());

impl OtherView {
    /// Takes the line away.
    pub fn begin() -> Self {
        let mut shown = SHOWN.lock();
        shown.clear();
        shown.other_views += 1;
        Self(())
    }
}

impl Drop for OtherView {
    fn drop(&mut self) {
        SHOWN.lock().other_views -= 1;
    }
}

/// Writes text to a standard stream, without the live line in between.
pub(crate) fn beside<T>(text: &str, write: impl FnOnce() -> T) -> T {
    let mut shown = SHOWN.lock();
    shown.clear();
    shown.is_mid_line = !text.is_empty() && !text.ends_with('\n');
    write()
}

/// A command that says what it waits for, until this is dropped.
pub(crate) struct Waiting(Option<(Sender<()>, JoinHandle<()>)>);

impl Waiting {
    pub(crate) fn begin(patience: Patience, command: &str) -> Self {
        if patience == Patience::UntilItIsStopped {
            return Self(None);
        }
        SHOWN.lock().what = Some(format!("the end of `mcptest {command}`"));
        let mut telling = Telling::new(output::can_redraw());
        let (sender, stopped) = channel();
        let speaking = std::thread::spawn(move || {
            let began = Instant::now();
            while stopped.recv_timeout(BEAT) == Err(RecvTimeoutError::Timeout) {
                let mut shown = SHOWN.lock();
                if shown.other_views > 0 || shown.is_mid_line {
                    continue;
                }
                if let Some(what) = &shown.what
                    && let Some(said) = telling.at(began.elapsed(), what)
                {
                    shown.say(&said);
                }
            }
        });
        Self(Some((sender, speaking)))
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let Some((sender, speaking)) = self.0.take() else {
            return;
        };
        drop(sender);
        let _panicked = speaking.join();
        let mut shown = SHOWN.lock();
        shown.clear();
        shown.what = None;
    }
}

/// A message for the user.
#[derive(Debug, PartialEq, Eq)]
enum WaitMessage {
    /// It replaces the live message before it.
    Live(String),
    /// It stays, on its own line.
    Line(String),
}

impl WaitMessage {
    fn text(&self) -> &str {
        match self {
            Self::Live(text) | Self::Line(text) => text,
        }
    }
}

/// Decides when to say something.
struct Telling {
    can_redraw: bool,
    next_line: Duration,
}

impl Telling {
    fn new(can_redraw: bool) -> Self {
        Self {
            can_redraw,
            next_line: INTERVAL,
        }
    }

    /// The text for this moment, counted from the start of the command, if any.
    fn at(&mut self, elapsed: Duration, what: &str) -> Option<WaitMessage> {
        let text = || format!("{}, waiting for {what}", words::about(elapsed));
        if self.can_redraw {
            return (elapsed >= MOMENT).then(|| WaitMessage::Live(text()));
        }
        if elapsed < self.next_line {
            return None;
        }
        while self.next_line <= elapsed {
            self.next_line += INTERVAL;
        }
        Some(WaitMessage::Line(text()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said at these seconds.
    fn said(can_redraw: bool, seconds: &[u64]) -> Vec<Option<String>> {
        let mut telling = Telling::new(can_redraw);
        seconds
            .iter()
            .map(|&at| telling.at(Duration::from_secs(at), "the answer of `find`"))
            .map(|said| said.map(|said| said.text().to_owned()))
            .collect()
    }

    #[test]
    fn a_terminal_shows_it_after_a_moment_and_from_then_on() {
        let line = |time: &str| Some(format!("{time}, waiting for the answer of `find`"));
        assert_eq!(
            said(true, &[0, 1, 2, 3]),
            [None, None, line("2 s"), line("3 s")]
        );
    }

    #[test]
    fn a_log_has_a_line_every_half_minute() {
        let line = |time: &str| Some(format!("{time}, waiting for the answer of `find`"));
        assert_eq!(
            said(false, &[2, 29, 30, 31, 61, 62, 200, 201]),
            [
                None,
                None,
                line("30 s"),
                None,
                line("1 min"),
                None,
                line("3 min 20 s"),
                None
            ]
        );
    }
}
