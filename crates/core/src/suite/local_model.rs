//! Does a model run on the user's own machine, so that its tokens cost nothing?

use super::variables::Environment;
use super::{Agent, Provider, Suite};
use crate::price::{Price, shipped_price};
use std::net::IpAddr;

/// Providers that are known to run models on the user's machines, in lowercase and without punctuation.
const PROGRAMS: &[&str] = &["ollama", "llamacpp", "lmstudio", "vllm", "localai"];

impl Suite {
    /// The price of a model's tokens: that of the agent, otherwise nothing for a model on the user's own machine.
    pub fn price(&self, agent: &Agent, model: &str, environment: Environment<'_>) -> Option<Price> {
        let free = || self.is_local(model, environment).then_some(Price::FREE);
        agent.price(model).or_else(free)
    }

    /// Returns true for `provider/id` if the provider is this machine, or a program that runs models. A gateway on
    /// this machine passes questions on to models that cost something, and those have a price in mcptest's table.
    fn is_local(&self, model: &str, environment: Environment<'_>) -> bool {
        let Some((name, id)) = model.split_once('/') else {
            return false;
        };
        let Some(provider) = self.providers.get(name) else {
            return false;
        };
        let bare = id.rsplit('/').next().unwrap_or(id);
        shipped_price(bare).is_none()
            && (is_program(name) || is_on_this_machine(provider, environment))
    }
}

fn is_program(provider: &str) -> bool {
    let word: String = provider
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|c| c.to_ascii_lowercase())
        .collect();
    PROGRAMS.contains(&word.as_str())
}

fn is_on_this_machine(provider: &Provider, environment: Environment<'_>) -> bool {
    let Some(template) = &provider.base_url else {
        return false;
    };
    let Ok(address) = provider.scope.fill(template, environment) else {
        return false;
    };
    host_of(&address).is_some_and(is_loopback)
}

/// The host in an address such as `http://localhost:11434/v1`.
fn host_of(address: &str) -> Option<&str> {
    let (_, rest) = address.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let place = authority.rsplit('@').next()?;
    match place.strip_prefix('[') {
        Some(bracketed) => bracketed.split(']').next(),
        None => place.split(':').next(),
    }
}

fn is_loopback(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost")
        || host.to_ascii_lowercase().ends_with(".localhost")
        || host
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_of_this_machine_is_known() {
        for address in [
            "http://localhost:11434/v1",
            "http://LOCALHOST",
            "http://127.0.0.1:8080",
            "http://[::1]:8080/v1",
            "http://me:secret@127.1.2.3/v1",
            "http://llama.localhost/v1",
        ] {
            assert!(host_of(address).is_some_and(is_loopback), "{address}");
        }
        for address in [
            "https://api.openai.com/v1",
            "http://localhost.example.com",
            "http://10.0.0.7:11434",
            "http://localhost@example.com/v1",
            "localhost:11434",
        ] {
            assert!(!host_of(address).is_some_and(is_loopback), "{address}");
        }
    }

    #[test]
    fn a_program_that_runs_models_is_known_by_the_name_of_its_provider() {
        assert!(is_program("ollama") && is_program("llama.cpp") && is_program("LM-Studio"));
        assert!(!is_program("mine") && !is_program("openai"));
    }
}
