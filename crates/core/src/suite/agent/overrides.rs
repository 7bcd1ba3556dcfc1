//! How do `--runs` and `--models` override a suite?

use super::{Agent, CassettePath, Model};
use crate::provider::WITH_CODE;
use crate::suite::{Suite, evals};
use thiserror::Error;

/// Why the models of a suite cannot be replaced.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum OverrideError {
    /// Several models would share one file.
    #[error(
        "`{agent}` cannot run with several models: they cannot share the cassette `{cassette}`; \
        put `{{model}}` into the path, or name one model"
    )]
    SharedCassette {
        /// The name of the agent that has both.
        agent: String,
        /// Its `cassette:`.
        cassette: String,
    },
    /// The model's provider runs no code.
    #[error(
        "`{agent}` has `code_execution: true`, but the provider of `{model}` runs no code for it; \
        use one of these: {WITH_CODE}"
    )]
    NoCode {
        /// The name of the agent.
        agent: String,
        /// The model.
        model: String,
    },
    /// No agent uses a model.
    #[error("no agent of {suite} has a model to replace")]
    NoModel {
        /// The suite's path.
        suite: String,
    },
}

impl Suite {
    /// Sets the number of runs of every agent, even if its traces are only read.
    pub fn override_runs(&mut self, runs: usize) {
        for agent in self.agents.iter_mut().filter(|agent| !agent.is_eval()) {
            agent.runs = runs.max(1);
            agent.says_runs = true;
        }
        evals::follow(&mut self.agents);
    }

    /// Replaces the models of every agent that uses one and can be recorded. On an error, nothing
    /// changes.
    pub fn override_models(&mut self, models: &[Model]) -> Result<(), OverrideError> {
        let has_model = |agent: &&Agent| !agent.models.is_empty() && !agent.is_read_only();
        let mut concerned = self.agents.iter().filter(has_model).peekable();
        if concerned.peek().is_none() {
            return Err(OverrideError::NoModel {
                suite: self.path.display().to_string(),
            });
        }
        let kind_of = |name: &str| self.providers.get(name).map(|provider| provider.kind);
        for agent in concerned {
            if let Some(model) = models
                .iter()
                .find(|model| agent.runs_code() && model.lacks_code(kind_of))
            {
                return Err(OverrideError::NoCode {
                    agent: agent.name.clone(),
                    model: model.label(),
                });
            }
            if models.len() < 2 {
                continue;
            }
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
        evals::follow(&mut self.agents);
        Ok(())
    }

    /// The model in the command-line syntax: `provider/id` if the suite has that provider,
    /// otherwise an id.
    pub fn model(&self, written: &str) -> Model {
        match written.split_once('/') {
            Some((provider, id)) if self.providers.contains_key(provider) => Model {
                provider: Some(provider.to_owned()),
                id: id.to_owned(),
                ..Model::default()
            },
            _ => Model {
                id: written.to_owned(),
                ..Model::default()
            },
        }
    }
}
