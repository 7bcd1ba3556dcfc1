//! Which tests of the loaded suites are judged?

use regex::Regex;

/// What the user asked for.
#[derive(Debug, Default)]
pub struct Selection {
    /// Row names must match every one of these.
    pub filters: Vec<Filter>,
    /// Tests must have one of these tags, when there are any.
    pub tags: Vec<String>,
    /// Tests must have none of these tags.
    pub skip_tags: Vec<String>,
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
}

impl Selection {
    /// Whether a row with this name and these tags is judged.
    pub fn accepts(&self, row_name: &str, tags: &[String]) -> bool {
        self.filters.iter().all(|filter| filter.accepts(row_name))
            && (self.tags.is_empty() || self.tags.iter().any(|tag| tags.contains(tag)))
            && !self.skip_tags.iter().any(|tag| tags.contains(tag))
    }
}

/// One of several parts of the tests, each of which is judged elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// Which part, from 1.
    number: u64,
    /// How many there are.
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
    /// How many parts there are.
    pub fn parts(self) -> u64 {
        self.of
    }

    /// Whether the test of this id is in this part. Other tests have no say in it.
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
        };
        let tags = |tags: &[&str]| tags.iter().map(|tag| (*tag).to_owned()).collect::<Vec<_>>();
        assert!(selection.accepts("weather", &tags(&["smoke"])));
        assert!(!selection.accepts("weather", &tags(&["smoke", "slow"])));
        assert!(!selection.accepts("weather", &tags(&[])));
        assert!(!selection.accepts("the weather", &tags(&["smoke"])));
        assert!("re:(".parse::<Filter>().is_err());
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
