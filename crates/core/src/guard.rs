//! How does a panic become an error of one row, while all other rows are judged?

use crate::row::{Reason, ReasonKind};
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::fmt::{self, Display};
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};

thread_local! {
    /// The number of guards around the work of this thread.
    static GUARDS: Cell<usize> = const { Cell::new(0) };
    /// The source of the last panic behind a guard.
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// A panic that was caught.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Panic {
    /// The message.
    message: String,
    /// The file, line and column in the source, if a hook [noted](note) them.
    place: Option<String>,
}

impl Display for Panic {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "mcptest itself failed: {}", self.message)?;
        match &self.place {
            Some(place) => write!(out, " (at {place})"),
            None => Ok(()),
        }
    }
}

impl From<Panic> for Reason {
    fn from(panic: Panic) -> Self {
        Self::from_lines(ReasonKind::Panicked, &panic.to_string())
            .help("this is a bug in mcptest: please report it with this message")
    }
}

/// Runs the work behind a guard. Work that panics must not leave half-done changes that others can
/// see: it returns values, or changes only what it owns.
pub fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, Panic> {
    GUARDS.set(GUARDS.get() + 1);
    let done = catch_unwind(AssertUnwindSafe(work));
    GUARDS.set(GUARDS.get() - 1);
    done.map_err(|payload| Panic {
        message: words(payload),
        place: PLACE.take(),
    })
}

fn words(payload: Box<dyn Any + Send>) -> String {
    match payload.downcast::<String>() {
        Ok(words) => *words,
        Err(payload) => payload.downcast::<&str>().map_or_else(
            |_| "it gave no reason".to_owned(),
            |words| (*words).to_owned(),
        ),
    }
}

/// For a program's panic hook: notes the place of a panic that a guard will catch. Returns false if
/// no guard will.
pub fn note(panic: &PanicHookInfo<'_>) -> bool {
    let is_guarded = GUARDS.get() > 0;
    if is_guarded {
        PLACE.set(panic.location().map(ToString::to_string));
    }
    is_guarded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_a_reason_that_says_what_panicked() {
        let text = String::from("–");
        let caught = guarded(|| text[1..].len()).unwrap_err();
        let reason = Reason::from(caught);
        assert_eq!(reason.kind, ReasonKind::Panicked);
        assert!(
            reason.message.starts_with("mcptest itself failed: ")
                && reason.message.contains("char boundary"),
            "{}",
            reason.message
        );
    }

    #[test]
    fn work_that_does_not_panic_gives_its_value() {
        assert_eq!(guarded(|| 7), Ok(7));
        assert_eq!(guarded(|| guarded(|| 7)), Ok(Ok(7)));
    }

    #[test]
    fn a_guard_ends_with_its_work() {
        let caught = guarded(|| guarded(|| panic!("{}", "inner")).map_err(|panic| panic.message));
        assert_eq!(caught, Ok(Err::<(), _>("inner".to_owned())));
        assert_eq!(GUARDS.get(), 0);
    }
}
