//! Which read returned what a claim reports: "Invoice 42 has been paid."?

use super::carried::Carried;
use super::claim::Claim;
use super::lexicon::{LEXICON, noun_key};
use super::mention::each_word;
use super::score::RunCall;
use super::token::name_parts;
use crate::hashed::{HashMap, HashSet};
use std::cell::OnceCell;

/// The objects and identifiers of the claims that may be reports.
#[derive(Debug, Default)]
pub(super) struct Reported {
    objects: Vec<String>,
    identifiers: Vec<Claim>,
    found: OnceCell<Found>,
}

/// The first reads that returned them.
#[derive(Debug, Default)]
struct Found {
    /// In arguments or results, or in the name of a tool with a recorded result.
    by_object: HashMap<String, usize>,
    /// In the name of a tool, with any recorded data.
    by_name: HashMap<String, usize>,
    carried: Carried,
}

impl Reported {
    pub(super) fn asked_by(claims: &[Claim]) -> Self {
        let reports = || claims.iter().filter(|claim| claim.is_report);
        Self {
            objects: reports()
                .flat_map(|claim| claim.object.iter().cloned())
                .collect(),
            identifiers: reports().cloned().collect(),
            found: OnceCell::new(),
        }
    }

    /// The first successful read with the object of a claim or one of its identifiers.
    pub(super) fn first_read<'r>(
        &self,
        claim: &Claim,
        reads: impl Iterator<Item = (usize, &'r RunCall<'r>)>,
    ) -> Option<usize> {
        let found = self.found.get_or_init(|| self.look_up(reads));
        let of_field = |noun: &String| found.by_name.get(noun).filter(|_| claim.is_field).copied();
        let by_object = claim.object.iter().filter_map(|noun| {
            found
                .by_object
                .get(noun)
                .copied()
                .or_else(|| of_field(noun))
        });
        let by_identifier = claim
            .ids
            .iter()
            .filter_map(|id| found.carried.calls(id).first().copied());
        by_object.chain(by_identifier).min()
    }

    fn look_up<'r>(&self, reads: impl Iterator<Item = (usize, &'r RunCall<'r>)>) -> Found {
        let mut found = Found {
            carried: Carried::asked_by(&self.identifiers),
            ..Found::default()
        };
        let asked: HashSet<&str> = self.objects.iter().map(String::as_str).collect();
        for (call, step) in reads {
            let is_told = step.input.len() > "{}".len() || !step.output.is_empty();
            let mut note = |word: &str, is_in_values: bool| {
                if !asked.contains(word) {
                    return;
                }
                if is_in_values {
                    found.by_object.entry(word.to_owned()).or_insert(call);
                } else {
                    found.by_name.entry(word.to_owned()).or_insert(call);
                }
            };
            for part in name_parts(step.name) {
                let noun = noun_key(&part);
                let aliases = LEXICON.aliases(&noun).iter().map(String::as_str);
                for word in aliases.chain([&*noun]) {
                    note(word, is_told);
                    note(word, false);
                }
            }
            for json in [&step.input, &step.output] {
                each_word(json, |word| note(word, true));
                found.carried.read(call, json, None);
            }
        }
        found
    }
}
