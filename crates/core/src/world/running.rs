//! A state that servers share while an agent acts on it.

use super::{World, WorldStep};
use crate::trace::Tool;
use serde_json::Value;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A state as it is now, and the rules by which calls change it, where there are any. Threads share it as it is.
#[derive(Debug, Default)]
pub struct Running {
    rules: Option<Arc<World>>,
    state: Mutex<Value>,
    turn: Mutex<()>,
}

impl Running {
    /// A world before the first call.
    pub fn of(world: &Arc<World>) -> Self {
        Self {
            rules: Some(Arc::clone(world)),
            ..Self::without_rules(world.seed.clone())
        }
    }

    /// A state that no transition changes.
    pub fn without_rules(state: Value) -> Self {
        Self {
            rules: None,
            state: Mutex::new(state),
            turn: Mutex::default(),
        }
    }

    /// Does something with the state while nobody else does.
    pub fn with<T>(&self, work: impl FnOnce(&mut Value) -> T) -> T {
        work(&mut lock(&self.state))
    }

    /// The state as it is now.
    pub fn state(&self) -> Value {
        lock(&self.state).clone()
    }

    /// Makes a call of a server's tool: the transition first, then what answers it. A call that fails changes nothing;
    /// `Err` says why one cannot be made in this state.
    pub fn call<T>(
        &self,
        (server, tool): (&str, &str),
        args: &Value,
        answer: impl FnOnce() -> T,
        has_failed: impl FnOnce(&T) -> bool,
    ) -> Result<T, String> {
        let Some(rules) = &self.rules else {
            return Ok(answer());
        };
        let _alone = lock(&self.turn);
        let before = self.state();
        if let WorldStep::Invalid(why) =
            self.with(|state| rules.step(state, Tool::new(tool, Some(server)), args))
        {
            return Err(why);
        }
        let answered = answer();
        if has_failed(&answered) {
            self.with(|state| *state = before);
        }
        Ok(answered)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
