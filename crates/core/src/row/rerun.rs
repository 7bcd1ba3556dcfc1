//! How is one row judged alone, or recorded?

use std::fmt;

/// Above this number of rows, searching for a unique filter would take too long.
const MANY_ROWS: usize = 200;

/// The command that judges one row alone. Its text is built only for display.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rerun {
    /// The suite's file, in the user's spelling.
    pub suite: String,
    /// The filter that selects only the row. `None` for a refused suite.
    pub filter: Option<String>,
    /// The folder of transcripts to judge instead of the agent's recordings.
    pub traces: Option<String>,
    /// The key of the transcripts that makes the row.
    pub group_by: Option<String>,
    /// Options that override the suite, such as `--runs 3`. Without them, the row may not exist.
    pub overrides: Vec<(&'static str, String)>,
    /// Options that change the verdict, as `--live`.
    pub flags: Vec<&'static str>,
}

impl Rerun {
    /// The command for the row with this name. The filter is the plain name if that selects only
    /// this row.
    pub fn new(suite: &str, row_name: &str, names: &[String]) -> Self {
        let is_plain = names.len() <= MANY_ROWS
            && !row_name.starts_with("re:")
            && !row_name.starts_with('-')
            && names
                .iter()
                .filter(|other| other.contains(row_name))
                .count()
                <= 1;
        let filter = if is_plain {
            row_name.to_owned()
        } else {
            format!("re:^{}$", regex::escape(row_name))
        };
        Self {
            suite: suite.to_owned(),
            filter: Some(filter),
            ..Self::default()
        }
    }

    /// Selects these runs of the row.
    pub(super) fn select_runs(&mut self, runs: &[usize]) {
        let Some(filter) = &self.filter else { return };
        let pattern = filter
            .strip_prefix("re:^")
            .and_then(|pattern| pattern.strip_suffix('$'));
        let numbers: Vec<String> = runs.iter().map(ToString::to_string).collect();
        self.filter = Some(match (&numbers[..], pattern) {
            ([number], None) => format!("{filter} #{number}"),
            ([number], Some(pattern)) => format!("re:^{pattern} #{number}$"),
            (_, None) => format!("re:^{} #({})$", regex::escape(filter), numbers.join("|")),
            (_, Some(pattern)) => format!("re:^{pattern} #({})$", numbers.join("|")),
        });
    }

    /// The command that records the row, with `--record` or `--record=missing`.
    pub fn recording(&self, mode: &str) -> String {
        let filter = quoted(self.filter.as_deref().unwrap_or_default());
        format!(
            "mcptest run {} {mode} --filter {filter}{}",
            path(&self.suite),
            self.overridden()
        )
    }

    /// The command that grades the row.
    pub fn grading(&self) -> String {
        let traces = self
            .traces
            .as_ref()
            .map(|folder| format!("--traces {} ", path(folder)));
        let filter = quoted(self.filter.as_deref().unwrap_or_default());
        format!(
            "mcptest eval {}{} --filter {filter}",
            traces.unwrap_or_default(),
            path(&self.suite)
        )
    }

    fn grouped(&self) -> String {
        let key = self.group_by.as_ref();
        key.map_or_else(String::new, |key| format!("--group-by {} ", quoted(key)))
    }

    fn overridden(&self) -> String {
        let words = self
            .overrides
            .iter()
            .flat_map(|(option, value)| [(*option).to_owned(), quoted(value)]);
        words.fold(String::new(), |said, word| said + " " + &word)
    }
}

impl fmt::Display for Rerun {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let suite = path(&self.suite);
        let traces = self.traces.as_ref();
        let traces = traces.map(|folder| format!("--traces {} {}", path(folder), self.grouped()));
        let Some(filter) = &self.filter else {
            let traces = traces.unwrap_or_default();
            return write!(out, "mcptest validate {traces}{suite}");
        };
        write!(out, "mcptest run {}", traces.unwrap_or_default())?;
        write!(
            out,
            "{suite} --filter {}{}",
            quoted(filter),
            self.overridden()
        )?;
        self.flags
            .iter()
            .try_for_each(|flag| write!(out, " {flag}"))
    }
}

/// A path as a word that cannot be read as an option.
fn path(path: &str) -> String {
    if path.starts_with('-') {
        quoted(&format!("./{path}"))
    } else {
        quoted(path)
    }
}

/// Quotes a word for a POSIX shell.
pub fn quoted(word: &str) -> String {
    let is_plain = !word.is_empty()
        && word
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c));
    if is_plain {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_selects_one_row() {
        let rows = ["weather".to_owned(), "weather [gpt-5]".to_owned()];
        let command = |suite: &str, row: &str| Rerun::new(suite, row, &rows).to_string();
        assert_eq!(
            command("a.yml", "weather [gpt-5]"),
            "mcptest run a.yml --filter 'weather [gpt-5]'"
        );
        assert_eq!(
            command("a b.yml", "weather"),
            "mcptest run 'a b.yml' --filter 're:^weather$'"
        );
        assert_eq!(
            command("a.yml", "it's"),
            r"mcptest run a.yml --filter 'it'\''s'"
        );
    }

    #[test]
    fn a_name_that_looks_like_an_option_is_still_a_name() {
        let mut rerun = Rerun::new("a --filter b.yml", "x", &["x".to_owned()]);
        assert_eq!(
            rerun.recording("--record"),
            "mcptest run 'a --filter b.yml' --record --filter x"
        );
        rerun
            .overrides
            .push(("--models", "gpt-5,my model".to_owned()));
        rerun.traces = Some("runs".to_owned());
        rerun.flags.push("--deny-vacuous");
        let said = "mcptest run --traces runs 'a --filter b.yml' --filter x --models 'gpt-5,my model' --deny-vacuous";
        assert_eq!(rerun.to_string(), said);
        assert_eq!(
            Rerun {
                filter: None,
                ..rerun
            }
            .to_string(),
            "mcptest validate --traces runs 'a --filter b.yml'"
        );
        assert_eq!(
            Rerun::new("-x.yml", "x", &[]).to_string(),
            "mcptest run ./-x.yml --filter x"
        );
    }
}
