//! A state that servers share while an agent acts on it.

use mcptest_core::trace::Tool;
use mcptest_core::world::{World, WorldStep};
use serde_json::Value;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A current state, and the rules for its changes, if any. Threads share it.
#[derive(Debug, Default)]
pub struct RunningWorld {
    rules: Option<Arc<World>>,
    state: Mutex<Value>,
    turn: Mutex<()>,
}

impl RunningWorld {
    /// A world before the first call.
    pub fn new(world: &Arc<World>) -> Self {
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

    /// Does work on the state with exclusive access.
    pub fn with<T>(&self, work: impl FnOnce(&mut Value) -> T) -> T {
        work(&mut lock(&self.state))
    }

    /// The current state.
    pub fn state(&self) -> Value {
        lock(&self.state).clone()
    }

    /// Makes a call of a server's tool: the transition first, then the answer. A call that fails
    /// changes nothing. `Err` is the reason that the call is not possible in this state.
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

#[cfg(test)]
mod tests {
    use super::*;
    use mcptest_core::suite::{Host, load};
    use serde_json::json;
    use std::path::Path;

    const SUITE: &str = "
servers: { bank: { command: none } }
agents: [{ name: clerk, model: claude-sonnet-4-5, servers: [bank], prompt: Go. }]
scenarios:
  - name: pays
    agent: clerk
    seed: { n: 1 }
    transitions: [{ tool: go, when: { n: { max: 2 } }, effect: { inc: { n: 1 } } }]
    golden: { calls: [{ tool: go, args: {} }] }
";

    fn running() -> RunningWorld {
        let read = |_: &Path| Ok(SUITE.into());
        let loaded = load(Path::new("suite.yml"), &Host::new(&read, &|_| None));
        let suite = loaded
            .suite
            .unwrap_or_else(|| panic!("{:?}", loaded.problems));
        RunningWorld::new(suite.world_of(&suite.agents[0]).unwrap())
    }

    #[test]
    fn a_running_world_takes_a_failed_call_back() {
        let running = running();
        let call = |fails: bool| {
            running.call(
                ("bank", "go"),
                &json!({}),
                || running.state()["n"].clone(),
                |_| fails,
            )
        };
        assert_eq!(
            call(true),
            Ok(json!(2)),
            "the answer sees what the call has changed"
        );
        assert_eq!(running.state(), json!({"n": 1}));
        assert_eq!((call(false), call(false)), (Ok(json!(2)), Ok(json!(3))));
        assert_eq!(
            call(false),
            Err("`n` is 3, and must be at most 2".to_owned())
        );
    }
}
