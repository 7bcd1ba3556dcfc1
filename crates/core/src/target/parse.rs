//! The spelling of a path.

use super::PathStep;
use crate::problem::Problem;

pub(super) fn steps(written: &str) -> Result<Vec<PathStep>, Box<Problem>> {
    let mut steps = Vec::new();
    let mut rest = written;
    let mut expect_key = true;
    while !rest.is_empty() {
        if let Some(inner) = rest.strip_prefix('[') {
            let (step, after) = bracket(inner, written)?;
            steps.push(step);
            rest = after;
        } else {
            let after_dot = rest.strip_prefix('.');
            if after_dot.is_none() && !expect_key {
                return Err(problem(
                    written,
                    &format!("expected `.` or `[` before `{rest}`"),
                ));
            }
            let (step, after) = key(after_dot.unwrap_or(rest), written)?;
            steps.push(step);
            rest = after;
        }
        expect_key = false;
    }
    if steps.is_empty() {
        return Err(Problem::error("the target is empty").into());
    }
    Ok(steps)
}

/// A key as a path writes it: `.city`, or `["odd.key"]`.
pub(crate) fn written_step(key: &str) -> String {
    let is_odd = |c: char| c.is_whitespace() || matches!(c, '.' | '[' | ']' | '"' | '\'' | '\\');
    if key.is_empty() || key.contains(is_odd) {
        let escaped = key.replace('\\', "\\\\").replace('"', "\\\"");
        format!("[\"{escaped}\"]")
    } else {
        format!(".{key}")
    }
}

fn key<'t>(text: &'t str, written: &str) -> Result<(PathStep, &'t str), Box<Problem>> {
    if text.starts_with(['"', '\'']) {
        let (name, rest) = quoted(text, written)?;
        return Ok((PathStep::Key { name, quoted: true }, rest));
    }
    let end = text.find(['.', '[']).unwrap_or(text.len());
    let name = &text[..end];
    if name.is_empty() || name.contains(|c: char| c.is_whitespace() || c == ']') {
        return Err(problem(
            written,
            "a key is missing or has a space in it; quote keys with odd characters",
        ));
    }
    Ok((
        PathStep::Key {
            name: name.to_owned(),
            quoted: false,
        },
        &text[end..],
    ))
}

fn bracket<'t>(inner: &'t str, written: &str) -> Result<(PathStep, &'t str), Box<Problem>> {
    if inner.starts_with(['"', '\'']) {
        let (name, rest) = quoted(inner, written)?;
        let rest = rest
            .strip_prefix(']')
            .ok_or_else(|| problem(written, "`[` is never closed with `]`"))?;
        return Ok((PathStep::Key { name, quoted: true }, rest));
    }
    let (index, rest) = inner
        .split_once(']')
        .ok_or_else(|| problem(written, "`[` is never closed with `]`"))?;
    if index == "*" {
        return Ok((PathStep::Each, rest));
    }
    if let Some((key, value)) = index.split_once('=') {
        let text = |text: &str| text.trim().trim_matches(['"', '\'']).to_owned();
        let (key, value) = (text(key), text(value));
        return Ok((PathStep::EachWith { key, value }, rest));
    }
    let index = index.parse().map_err(|_| {
        problem(
            written,
            &format!("`[{index}]` is not a number, `*` or a quoted key"),
        )
    })?;
    Ok((PathStep::Index(index), rest))
}

fn quoted<'t>(text: &'t str, written: &str) -> Result<(String, &'t str), Box<Problem>> {
    let mark = text.chars().next().unwrap_or('"');
    let mut name = String::new();
    let mut characters = text.char_indices().skip(1);
    while let Some((at, c)) = characters.next() {
        match c {
            '\\' => name.extend(characters.next().map(|(_, escaped)| escaped)),
            c if c == mark => return Ok((name, &text[at + 1..])),
            c => name.push(c),
        }
    }
    Err(problem(written, "a quoted key is never closed"))
}

fn problem(written: &str, message: &str) -> Box<Problem> {
    let problem = Problem::error(format!("`{written}` is not a path: {message}"));
    problem
        .help("paths look like `tool_calls[0].args.city` or `tool_calls[*].name`")
        .into()
}
