//! Which tests of the loaded suites are judged?

use regex::Regex;

/// The user's selection.
#[derive(Debug, Default)]
pub struct Selection {
    /// Row names must match every one of these.
    pub filters: Vec<Filter>,
    /// Tests must have one of these tags, if any are given.
    pub tags: Vec<String>,
    /// Tests must have none of these tags.
    pub skip_tags: Vec<String>,
    /// True if a filter names single runs, such as `weather #3`.
    pub selects_runs: bool,
}

/// A part of a row's name, or a regular expression for it.
#[derive(Debug, Clone)]
pub enum Filter {
    /// The name contains this.
    Text(String),
    /// The name matches this.
    Pattern(Regex),
}

impl std::str::FromStr for Filter {
    type Err = String;

    fn from_str(written: &str) -> Result<Self, String> {
        match written.strip_prefix("re:") {
            None => Ok(Self::Text(written.to_owned())),
            Some(pattern) => Regex::new(pattern).map(Self::Pattern).map_err(|error| {
                let text = error.to_string();
                text.lines()
                    .last()
                    .unwrap_or_default()
                    .trim_start_matches("error: ")
                    .to_owned()
            }),
        }
    }
}

impl Filter {
    fn accepts(&self, name: &str) -> bool {
        match self {
            Self::Text(part) => name.contains(part.as_str()),
            Self::Pattern(pattern) => pattern.is_match(name),
        }
    }

    /// The runs of a row whose names, such as `weather #3`, this accepts.
    fn runs_of(&self, row_name: &str, most: usize) -> Vec<usize> {
        match self {
            Self::Text(part) => run_named(part)
                .filter(|(row, _)| row_name.ends_with(row))
                .map(|(_, run)| run)
                .into_iter()
                .collect(),
            Self::Pattern(pattern) if pattern.as_str().contains('#') => (1..=most)
                .filter(|run| pattern.is_match(&format!("{row_name} #{run}")))
                .collect(),
            Self::Pattern(_) => Vec::new(),
        }
    }
}

/// `weather #3` is run 3 of `weather`.
fn run_named(text: &str) -> Option<(&str, usize)> {
    let (row, number) = text.rsplit_once(" #")?;
    Some((row, number.parse().ok().filter(|number| *number > 0)?))
}

impl Selection {
    /// Returns true if a row with this name and these tags is judged.
    pub fn accepts(&self, row_name: &str, tags: &[String]) -> bool {
        self.filters.iter().all(|filter| filter.accepts(row_name)) && self.accepts_tags(tags)
    }

    /// The runs of a row that the filters name, up to this number. `None` if a filter names neither the row nor a
    /// run.
    pub fn runs_of(&self, row_name: &str, tags: &[String], most: usize) -> Vec<usize> {
        if !self.selects_runs || !self.accepts_tags(tags) {
            return Vec::new();
        }
        let narrower = self
            .filters
            .iter()
            .filter(|filter| !filter.accepts(row_name))
            .map(|filter| filter.runs_of(row_name, most));
        narrower
            .reduce(|runs, others| {
                runs.into_iter()
                    .filter(|run| others.contains(run))
                    .collect()
            })
            .unwrap_or_default()
    }

    /// Returns true if a filter has the form of a run's name.
    pub fn names_a_run(&self) -> bool {
        self.filters.iter().any(|filter| match filter {
            Filter::Text(part) => run_named(part).is_some(),
            Filter::Pattern(_) => false,
        })
    }

    fn accepts_tags(&self, tags: &[String]) -> bool {
        (self.tags.is_empty() || self.tags.iter().any(|tag| tags.contains(tag)))
            && !self.skip_tags.iter().any(|tag| tags.contains(tag))
    }
}

/// One of several parts of the tests; other machines judge the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// The part's number, from 1.
    number: u64,
    /// The number of parts.
    of: u64,
}

impl std::str::FromStr for Shard {
    type Err = String;

    fn from_str(written: &str) -> Result<Self, String> {
        let parts = written
            .split_once('/')
            .and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
        match parts {
            Some((number, of)) if (1..=of).contains(&number) => Ok(Self { number, of }),
            _ => Err(
                "write the part and the number of parts, such as `1/4`; parts count from 1"
                    .to_owned(),
            ),
        }
    }
}

impl std::fmt::Display for Shard {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}/{}", self.number, self.of)
    }
}

impl Shard {
    /// The number of parts.
    pub fn parts(self) -> u64 {
        self.of
    }

    /// Returns true if the test with this id is in this part, independently of other tests.
    pub fn has(self, id: &str) -> bool {
        u64::from_str_radix(id, 16).unwrap_or_default() % self.of == self.number - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_tags_and_skipped_tags_all_count() {
        let selection = Selection {
            filters: vec!["re:^we".parse().unwrap(), "the".parse().unwrap()],
            tags: vec!["smoke".to_owned()],
            skip_tags: vec!["slow".to_owned()],
            ..Selection::default()
        };
        let tags = |tags: &[&str]| tags.iter().map(|tag| (*tag).to_owned()).collect::<Vec<_>>();
        assert!(selection.accepts("weather", &tags(&["smoke"])));
        assert!(!selection.accepts("weather", &tags(&["smoke", "slow"])));
        assert!(!selection.accepts("weather", &tags(&[])));
        assert!(!selection.accepts("the weather", &tags(&["smoke"])));
        assert!("re:(".parse::<Filter>().is_err());
    }

    #[test]
    fn a_filter_may_name_single_runs() {
        let runs = |filters: &[&str], row: &str| {
            let filters = filters.iter().map(|text| text.parse().unwrap()).collect();
            let selection = Selection {
                filters,
                selects_runs: true,
                ..Selection::default()
            };
            selection.runs_of(row, &[], 40)
        };
        assert_eq!(runs(&["weather #3"], "weather"), [3]);
        assert_eq!(
            runs(&["her #3"], "weather"),
            [3],
            "a part of the name will do"
        );
        assert!(runs(&["weather #3"], "weather [gpt-5]").is_empty());
        assert!(runs(&["weather #0"], "weather").is_empty());
        assert_eq!(runs(&["re:^weather #(3|7)$"], "weather"), [3, 7]);
        assert_eq!(runs(&["re:#[12]$", "weather #2"], "weather"), [2]);
        assert_eq!(runs(&["wea", "weather #2"], "weather"), [2]);
        assert!(runs(&["elsewhere", "weather #2"], "weather").is_empty());
    }

    #[test]
    fn every_test_is_in_one_shard_whatever_other_tests_there_are() {
        for id in ["0000000000", "b3a1f00c2d", "ffffffffff"] {
            let shards = (1..=4).map(|number| format!("{number}/4").parse::<Shard>().unwrap());
            assert_eq!(shards.filter(|shard| shard.has(id)).count(), 1, "{id}");
        }
        let one: Shard = "1/1".parse().unwrap();
        assert!(
            one.has("b3a1f00c2d")
                && "0/2".parse::<Shard>().is_err()
                && "3/2".parse::<Shard>().is_err()
        );
    }
}
