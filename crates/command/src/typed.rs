//! How was the command typed, without options that do not affect verdicts?

/// Options that affect recording or reports, and whether a value follows them. Without them, the
/// same recordings give the same report.
const BESIDE_JUDGING: [(&str, bool); 13] = [
    ("--color", true),
    ("--embed", true),
    ("--jobs", true),
    ("--max-cost", true),
    ("--quiet", false),
    ("--record", false),
    ("--reporter", true),
    ("--sort", true),
    ("--verbose", false),
    ("-q", false),
    ("-v", false),
    ("-vv", false),
    ("--watch", false),
];

/// The typed command, without options that do not affect judging.
pub fn typed() -> String {
    let words = std::env::args_os()
        .skip(1)
        .map(|word| word.to_string_lossy().into_owned());
    judging(words)
        .iter()
        .fold("mcptest".to_owned(), |command, word| {
            format!("{command} {}", mcptest_core::row::quoted(word))
        })
}

fn judging(words: impl Iterator<Item = String>) -> Vec<String> {
    let mut kept = Vec::new();
    let mut words = words;
    while let Some(word) = words.next() {
        let name = word.split('=').next().unwrap_or_default();
        match BESIDE_JUDGING.iter().find(|(option, _)| *option == name) {
            Some((_, true)) if name == word => drop(words.next()),
            Some(_) => {}
            None => kept.push(word),
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::judging;

    #[test]
    fn a_command_is_told_without_how_runs_are_made_and_where_reports_go() {
        let kept = |line: &str| judging(line.split(' ').map(str::to_owned)).join(" ");
        let typed = "run a.yml --record=stale --reporter json=/x/y.json -v --reporter=html=r.html --tag slow --jobs 2";
        assert_eq!(kept(typed), "run a.yml --tag slow");
        assert_eq!(
            kept("run a.yml --live --filter x"),
            "run a.yml --live --filter x"
        );
    }
}
