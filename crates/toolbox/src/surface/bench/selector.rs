//! Which tool would be chosen for a request by its words alone?

use super::super::SurfaceTool;
use super::super::words::stems;
use serde_json::Value;
use std::collections::BTreeMap;

/// The saturation of repeated words and the discount for long texts: the usual values of BM25.
const SATURATION: f64 = 1.2;
const LENGTH: f64 = 0.75;
/// The weight of a word in the name, compared with one in the description.
const OF_NAME: f64 = 3.0;
/// The minimum share of a request's words that a chosen tool must match.
const LEAST: f64 = 0.25;

/// The words of a tool that a selector reads.
#[derive(Debug, Clone)]
pub(super) struct Text {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) parameters: String,
}

impl Text {
    pub(super) fn from_tool(tool: &SurfaceTool) -> Self {
        let mut parameters = String::new();
        if let Some(map) = tool
            .tool
            .input_schema
            .as_deref()
            .and_then(|schema| schema["properties"].as_object())
        {
            let sorted: BTreeMap<&String, &Value> = map.iter().collect();
            for (name, schema) in sorted {
                let about = schema["description"].as_str().unwrap_or_default();
                parameters.push_str(&format!("{name} {about}\n"));
            }
        }
        let description = tool.tool.description.clone().unwrap_or_default();
        Self {
            name: tool.tool.name.clone(),
            description,
            parameters,
        }
    }
}

/// The tools as bags of words, by BM25. The weight of a word is the root of the tools per tool that
/// has it, which no platform computes with logarithms.
pub(super) struct Selector {
    tools: Vec<BTreeMap<String, f64>>,
    lengths: Vec<f64>,
    mean_length: f64,
    uses: BTreeMap<String, f64>,
}

impl Selector {
    pub(super) fn new(texts: &[Text]) -> Self {
        let bag = |text: &Text| {
            let mut bag: BTreeMap<String, f64> = BTreeMap::new();
            for (words, weight) in [
                (&text.name, OF_NAME),
                (&text.description, 1.0),
                (&text.parameters, 1.0),
            ] {
                for word in stems(words) {
                    *bag.entry(word).or_default() += weight;
                }
            }
            bag
        };
        let tools: Vec<BTreeMap<String, f64>> = texts.iter().map(bag).collect();
        let lengths: Vec<f64> = tools.iter().map(|bag| bag.values().sum()).collect();
        let mean_length = lengths.iter().sum::<f64>() / (tools.len().max(1) as f64);
        let mut uses: BTreeMap<String, f64> = BTreeMap::new();
        for word in tools.iter().flat_map(BTreeMap::keys) {
            *uses.entry(word.clone()).or_default() += 1.0;
        }
        Self {
            tools,
            lengths,
            mean_length,
            uses,
        }
    }

    /// The weight of a word in a request; highest if no tool has the word.
    fn weight(&self, word: &str) -> f64 {
        (self.tools.len() as f64 / self.uses.get(word).copied().unwrap_or(0.5)).sqrt()
    }

    fn score(&self, at: usize, words: &[String]) -> f64 {
        let longer = if self.mean_length > 0.0 {
            self.lengths[at] / self.mean_length
        } else {
            1.0
        };
        let of_word = |word: &String| {
            let count = self.tools[at].get(word).copied().unwrap_or(0.0);
            let saturated = count * (SATURATION + 1.0)
                / (count + SATURATION * (1.0 - LENGTH + LENGTH * longer));
            self.weight(word) * saturated
        };
        words.iter().map(of_word).sum()
    }

    /// The best tool, the first of equals; `None` if no tool matches enough of the request.
    pub(super) fn choose(&self, ask: &str) -> Option<usize> {
        let mut words = stems(ask);
        words.sort();
        words.dedup();
        let scores: Vec<f64> = (0..self.tools.len())
            .map(|at| self.score(at, &words))
            .collect();
        let better = |best: usize, at: usize| if scores[at] > scores[best] { at } else { best };
        let best = (0..scores.len()).reduce(better)?;
        let all: f64 = words.iter().map(|word| self.weight(word)).sum();
        let known = words
            .iter()
            .filter(|word| self.tools[best].contains_key(*word));
        let known: f64 = known.map(|word| self.weight(word)).sum();
        (known > 0.0 && known >= LEAST * all).then_some(best)
    }
}
