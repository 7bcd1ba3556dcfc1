//! Can a program be started from what `command`, `env` and `cwd` say?

use crate::problem::Problem;
use crate::suite::read::Field;

/// Reads the words of a command: a list, or one program with its arguments under `args`.
pub(in crate::suite) fn read_command(field: &mut Field<'_>, has_args: bool) -> Option<Vec<String>> {
    field.shapes("a list of words or one program", |shapes| {
        shapes.list(read_words);
        shapes.text(|f| read_program(f, has_args).map(|program| vec![program]));
    })
}

fn read_words(field: &mut Field<'_>) -> Option<Vec<String>> {
    let example = format!("write it as `{}: [npx, my-server]`", key_of(field));
    let mut is_first = true;
    field.list(|f| {
        let is_program = std::mem::take(&mut is_first);
        let word = read_word(f)?;
        if is_program && is_blank(f, &word) {
            f.report(Problem::error("the program is empty").help(example.clone()));
        }
        Some(word)
    })
}

fn read_program(field: &mut Field<'_>, has_args: bool) -> Option<String> {
    let program = read_word(field)?;
    let template = field.reading.scope().template(&program);
    let key = key_of(field);
    if is_blank(field, &program) {
        let problem = Problem::error(format!("`{key}` is empty"));
        field.report(problem.help(format!("write it as `{key}: [npx, my-server]`")));
    } else if !has_args && words_of(&template).count() > 1 {
        let words: Vec<String> = words_of(&template).map(in_a_list).collect();
        let problem = Problem::error(format!("a `{key}` with arguments is a list of words"));
        field.report(problem.help(format!(
            "write `{key}: [{}]`; a program whose path has spaces is a list of one word",
            words.join(", ")
        )));
    }
    Some(program)
}

fn key_of(field: &Field<'_>) -> String {
    field.key().unwrap_or("command").to_owned()
}

/// A word in a one-line YAML list.
fn in_a_list(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_./@+=~-".contains(c);
    let is_plain = word.chars().all(is_plain) && word.starts_with(|c: char| !"@=~-".contains(c));
    if is_plain || word.starts_with("--") {
        word.to_owned()
    } else {
        format!("{word:?}")
    }
}

/// One word of a command.
pub(in crate::suite) fn read_word(field: &mut Field<'_>) -> Option<String> {
    let word = field.template()?;
    if word.contains('\0') {
        field.report(Problem::error(
            "no argument of a program can contain a NUL character",
        ));
    }
    Some(word)
}

/// The variables of the program's environment.
pub(in crate::suite) fn read_env(field: &mut Field<'_>) -> Option<Vec<(String, String)>> {
    field.entries(|name, span, f| {
        if let (false, Err(why)) = (f.is_describing(), check_variable_name(name)) {
            f.report(Problem::error(why).at(span));
        }
        read_word(f)
    })
}

/// Why no process can have an environment variable of this name.
pub fn check_variable_name(name: &str) -> Result<(), String> {
    if name.is_empty() {
        return Err("an environment variable needs a name".to_owned());
    }
    if name.contains(['=', '\0']) {
        return Err(format!(
            "{name:?} is not a variable's name: it has a `=` or a NUL character"
        ));
    }
    Ok(())
}

/// The folder to start in.
pub(in crate::suite) fn read_cwd(field: &mut Field<'_>) -> Option<String> {
    let cwd = read_word(field)?;
    if is_blank(field, &cwd) {
        let help = "omit it for the folder of the suite";
        field.report(Problem::error("`cwd` is empty").help(help));
    }
    Some(cwd)
}

fn is_blank(field: &Field<'_>, text: &str) -> bool {
    field
        .literal(text)
        .is_some_and(|text| text.trim().is_empty())
}

/// The words of a string. Spaces inside `${…}` do not split it.
fn words_of(text: &str) -> impl Iterator<Item = &str> {
    let mut is_variable = false;
    let parts = text.split(move |c: char| {
        is_variable = match c {
            '{' => true,
            '}' => false,
            _ => is_variable,
        };
        c.is_whitespace() && !is_variable
    });
    parts.filter(|word| !word.is_empty())
}
