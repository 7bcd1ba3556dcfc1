//! A program is not there: what was probably meant?

use std::path::{Path, PathBuf};

/// The advice, as the end of a sentence.
pub(crate) fn hint(program: &str, words: &[String], cwd: Option<&Path>) -> String {
    if program.contains(char::is_whitespace) && words.len() == 1 {
        let words: Vec<String> = program
            .split_whitespace()
            .map(|word| format!("{word:?}"))
            .collect();
        return format!(
            "; a command with arguments is a list of words: [{}]",
            words.join(", ")
        );
    }
    if program.contains(std::path::MAIN_SEPARATOR) {
        let path = cwd.unwrap_or(Path::new("")).join(program);
        if path.exists() {
            return ", though the file exists: is the interpreter in its first line installed?"
                .to_owned();
        }
        return match near_miss(program, path.parent().into_iter().map(Path::to_owned)) {
            Some(near) => format!("; did you mean `{near}`?"),
            None => String::new(),
        };
    }
    match near_miss(program, search_path()) {
        Some(near) => format!(" on PATH; did you mean `{near}`?"),
        None => " on PATH: is it installed?".to_owned(),
    }
}

fn search_path() -> Vec<PathBuf> {
    std::env::var_os("PATH")
        .map(|path| std::env::split_paths(&path).collect())
        .unwrap_or_default()
}

/// The most similar file name in these folders, if it is similar enough for a misspelling.
fn near_miss(program: &str, folders: impl IntoIterator<Item = PathBuf>) -> Option<String> {
    let wanted = Path::new(program).file_name()?.to_str()?;
    let limit = wanted.chars().count().div_ceil(4).min(2);
    let mut names: Vec<(usize, String)> = folders
        .into_iter()
        .filter_map(|folder| std::fs::read_dir(folder).ok())
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .map(|name| (strsim::osa_distance(wanted, &name), name))
        .filter(|(distance, _)| *distance <= limit)
        .collect();
    names.sort();
    names.into_iter().next().map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_near_the_name_that_was_meant() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("my-server"), "").unwrap();
        assert_eq!(
            near_miss("my-sevrer", [folder.path().to_owned()]),
            Some("my-server".to_owned())
        );
    }
}
