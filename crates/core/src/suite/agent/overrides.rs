//! What do `--runs` and `--models` put in place of what a suite says?

use super::{Agent, CassettePath, Model};
use crate::suite::Suite;
use thiserror::Error;

/// Why a suite cannot be run with other models.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum OverrideError {
    /// One file for several models.
    #[error(
        "`{agent}` cannot be run with several models: they cannot share the cassette `{cassette}`; \
         put `{{model}}` into the path, or name one model"
    )]
    SharedCassette {
        /// The name of the agent that has both.
        agent: String,
        /// Its `cassette:`.
        cassette: String,
    },
    /// No agent asks a model.
    #[error("no agent of {suite} has a model to replace")]
    NoModel {
        /// The suite's path.
        suite: String,
    },
}

impl Suite {
    /// Every agent that can be recorded has this many runs, at least one.
    pub fn override_runs(&mut self, runs: usize) {
        for agent in self.agents.iter_mut().filter(|agent| !agent.is_read_only()) {
            agent.runs = runs.max(1);
            agent.says_runs = true;
        }
    }

    /// Every agent that asks a model, and can be recorded, asks these instead; on an error nothing is changed.
    pub fn override_models(&mut self, models: &[Model]) -> Result<(), OverrideError> {
        let has_model = |agent: &&Agent| !agent.models.is_empty() && !agent.is_read_only();
        let mut concerned = self.agents.iter().filter(has_model).peekable();
        if concerned.peek().is_none() {
            return Err(OverrideError::NoModel { suite: self.path.display().to_string() });
        }
        for agent in concerned.filter(|_| models.len() > 1) {
            if let Some(CassettePath::File(path)) =
                agent.cassette.as_ref().filter(|path| !path.is_per_model())
            {
                return Err(OverrideError::SharedCassette {
                    agent: agent.name.clone(),
                    cassette: path.clone(),
                });
            }
        }
        for agent in self.agents.iter_mut().filter(|agent| has_model(&&**agent)) {
            agent.models = models.to_vec();
        }
        Ok(())
    }

    /// The model that is written so on a command line: `provider/id` where the suite has that provider, else an id.
    pub fn model(&self, written: &str) -> Model {
        match written.split_once('/') {
            Some((provider, id)) if self.providers.contains_key(provider) => {
                Model { provider: Some(provider.to_owned()), id: id.to_owned() }
            }
            _ => Model { provider: None, id: written.to_owned() },
        }
    }
}
