//! Which run does a request belong to, and which step is its turn?

use crate::script::{Call, Script, Step, Then};
use crate::wire::Seen;
use serde_json::Value;
use std::collections::hash_map::DefaultHasher;
use std::collections::{HashMap, VecDeque};
use std::hash::{Hash, Hasher};

/// The runs that are under way.
#[derive(Debug, Default)]
pub(crate) struct ActiveRuns {
    begun: HashMap<(String, String), usize>,
    /// The runs that wait for a request with this beginning. A client cannot distinguish equal
    /// conversations either.
    waiting: HashMap<u64, VecDeque<Run>>,
}

/// A run, and its progress.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Run {
    pub(crate) number: usize,
    pub(crate) step: usize,
    struck: usize,
}

impl ActiveRuns {
    /// The run that a request continues, or begins.
    pub(crate) fn take(&mut self, seen: &Seen) -> Run {
        let waiting = self.waiting.get_mut(&seen.key());
        if let Some(run) = waiting.and_then(VecDeque::pop_front) {
            return run;
        }
        if !seen.is_opening() {
            return Run {
                step: seen.answers(),
                ..Run::default()
            };
        }
        let begun = self
            .begun
            .entry((seen.model.clone(), seen.prompt.clone()))
            .or_default();
        *begun += 1;
        Run {
            number: *begun - 1,
            ..Run::default()
        }
    }

    /// Records that the client got no message and may retry.
    pub(crate) fn failed(&mut self, seen: &Seen, mut run: Run, step: &Step) {
        run.struck += 1;
        if run.struck >= step.times.unwrap_or(1) {
            run = Run {
                step: run.step + 1,
                struck: 0,
                ..run
            };
        }
        self.waiting.entry(seen.key()).or_default().push_back(run);
    }

    /// Records that the client has this message and continues with it.
    pub(crate) fn answered(&mut self, seen: &Seen, run: Run, message: &[Value]) {
        let run = Run {
            step: run.step + 1,
            struck: 0,
            ..run
        };
        self.waiting
            .entry(seen.key_after(message))
            .or_default()
            .push_back(run);
    }
}

/// The step for the run's next request.
pub(crate) fn step(script: &Script, seen: &Seen, run: &Run) -> Step {
    let fits = script
        .rules
        .iter()
        .find(|rule| rule.when.fits(&seen.model, &seen.prompt, run.number));
    let (steps, then) = fits.map_or((&script.steps, script.then), |rule| {
        (&rule.steps, rule.then)
    });
    let at = if then == Then::Repeat && !steps.is_empty() {
        run.step % steps.len()
    } else {
        run.step
    };
    let mut step = steps.get(at).cloned().unwrap_or_else(|| Step::text("ok"));
    let run = run.number.to_string();
    let fill = |text: &str| {
        let text = text.replace("{{last_result}}", &seen.last_result);
        text.replace("{{prompt}}", &seen.last_user)
            .replace("{{run}}", &run)
    };
    step.text = step.text.map(|text| fill(&text));
    // Who must call a tool says in its arguments what it would say.
    if let Some(forced) = seen.forced.clone().filter(|_| step.calls.is_empty()) {
        step.calls.push(Call {
            name: forced,
            args_text: step.text.take(),
            ..Call::default()
        });
    }
    for call in &mut step.calls {
        call.name = seen.offered(&call.name);
        call.args_text = call.args_text.as_deref().map(fill);
        if let Some(args) = &mut call.args {
            fill_values(args, &fill);
        }
    }
    step
}

fn fill_values(value: &mut Value, fill: &dyn Fn(&str) -> String) {
    match value {
        Value::String(text) => *text = fill(text),
        Value::Array(items) => items.iter_mut().for_each(|item| fill_values(item, fill)),
        Value::Object(entries) => entries
            .values_mut()
            .for_each(|entry| fill_values(entry, fill)),
        _ => {}
    }
}

/// A number for a conversation of one model, up to its last message.
pub(crate) fn key(model: &str, prompt: &str, conversation: &[Value]) -> u64 {
    let mut hasher = DefaultHasher::new();
    (model, prompt).hash(&mut hasher);
    for message in conversation {
        message.to_string().hash(&mut hasher);
    }
    hasher.finish()
}
