//! `picture`: the terminal's output for the demo that fails on purpose, as an SVG for
//! docs/running.md.

use crate::say;
use std::fmt::Write;
use std::process::{Command, ExitCode};

const PATH: &str = "docs/pictures/run.svg";
const SHOWN: &str = "mcptest run demo/red/";
const COLUMNS: usize = 100;
/// The width of a column and the height of a row in pixels, and the space around and above the text.
const COLUMN: f64 = 8.4;
const ROW: f64 = 19.0;
const MARGIN: f64 = 20.0;
const TOP: f64 = 44.0;

pub(crate) fn run() -> Result<ExitCode, String> {
    output(Command::new("cargo").args(["build", "--quiet", "--package", "mcptest"]))?;
    let screen = screen()?;
    std::fs::create_dir_all("docs/pictures")
        .and_then(|()| std::fs::write(PATH, svg(screen.trim_end())))
        .map_err(|error| format!("{PATH}: {error}"))?;
    say(&format!("wrote {PATH}"));
    Ok(ExitCode::SUCCESS)
}

/// Runs the command in a separate terminal, and returns the text on its screen.
fn screen() -> Result<String, String> {
    let socket = format!("mcptest-picture-{}", std::process::id());
    let tmux = |arguments: &[&str]| {
        output(
            Command::new("tmux")
                .args(["-L", &socket, "-f", "/dev/null"])
                .args(arguments),
        )
    };
    let script = format!(
        "PATH=target/debug:$PATH; printf '\\033[2m$\\033[0m {SHOWN}\\n'; {SHOWN}; \
         tmux -L {socket} wait-for -S judged; sleep 60"
    );
    tmux(&[
        "new-session",
        "-d",
        "-x",
        &COLUMNS.to_string(),
        "-y",
        "200",
        &script,
    ])?;
    let screen = tmux(&["wait-for", "judged"]).and_then(|_| tmux(&["capture-pane", "-e", "-p"]));
    tmux(&["kill-server"])?;
    screen
}

fn output(command: &mut Command) -> Result<String, String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command
        .output()
        .map_err(|error| format!("{program}: {error}"))?;
    if !output.status.success() {
        return Err(format!(
            "{program}: {}",
            String::from_utf8_lossy(&output.stderr)
        ));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The style of a piece of text.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Look {
    bold: bool,
    dim: bool,
    colour: Option<&'static str>,
}

impl Look {
    /// The style after the numbers of one escape sequence.
    fn after(self, numbers: &str) -> Self {
        numbers.split(';').fold(self, |look, number| match number {
            "" | "0" => Self::default(),
            "1" => Self { bold: true, ..look },
            "2" => Self { dim: true, ..look },
            "22" => Self {
                bold: false,
                dim: false,
                ..look
            },
            "31" => Self {
                colour: Some("#ff7b72"),
                ..look
            },
            "32" => Self {
                colour: Some("#56d364"),
                ..look
            },
            "33" => Self {
                colour: Some("#e3b341"),
                ..look
            },
            "35" => Self {
                colour: Some("#d2a8ff"),
                ..look
            },
            "39" => Self {
                colour: None,
                ..look
            },
            _ => look,
        })
    }

    fn attributes(self) -> String {
        let fill = self.colour.or(self.dim.then_some("#8b949e"));
        let fill = fill
            .map(|fill| format!(" fill=\"{fill}\""))
            .unwrap_or_default();
        format!(
            "{fill}{}",
            if self.bold {
                " font-weight=\"bold\""
            } else {
                ""
            }
        )
    }
}

/// The screen as a picture of a terminal. Each piece of text has a fixed place and length, so the
/// font does not matter.
fn svg(screen: &str) -> String {
    let (width, rows) = (
        COLUMNS as f64 * COLUMN + 2.0 * MARGIN,
        screen.lines().count() as f64,
    );
    let height = TOP + rows * ROW + MARGIN;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\">\n\
         <title>{SHOWN}</title>\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#0d1117\"/>\n\
         <g fill=\"#30363d\"><circle cx=\"22\" cy=\"20\" r=\"6\"/><circle cx=\"42\" cy=\"20\" r=\"6\"/>\
         <circle cx=\"62\" cy=\"20\" r=\"6\"/></g>\n\
         <g font-family=\"ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace\" \
         font-size=\"14\" fill=\"#e6edf3\" xml:space=\"preserve\">\n"
    );
    let mut look = Look::default();
    for (row, line) in screen.lines().enumerate() {
        let y = TOP + (row as f64 + 0.75) * ROW;
        let mut column = 0;
        for (number, stretch) in line.split("\u{1b}[").enumerate() {
            let text = match stretch.split_once('m') {
                Some((numbers, text)) if number > 0 => {
                    look = look.after(numbers);
                    text
                }
                _ => stretch,
            };
            put(&mut svg, (column, y), text, look);
            column += text.chars().count();
        }
    }
    svg.push_str("</g>\n</svg>\n");
    svg
}

fn put(svg: &mut String, (column, y): (usize, f64), text: &str, look: Look) {
    let shown = text.trim();
    if shown.is_empty() {
        return;
    }
    let before = text
        .chars()
        .take_while(|character| *character == ' ')
        .count();
    let (x, length) = (
        MARGIN + (column + before) as f64 * COLUMN,
        shown.chars().count() as f64 * COLUMN,
    );
    let shown = shown
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    let attributes = look.attributes();
    let _ = writeln!(
        svg,
        "<text x=\"{x:.1}\" y=\"{y:.2}\" textLength=\"{length:.1}\"{attributes}>{shown}</text>"
    );
}

#[cfg(test)]
mod tests {
    use super::svg;

    #[test]
    fn a_look_lasts_until_the_next_one_and_text_is_escaped() {
        let picture = svg("\u{1b}[1m\u{1b}[31m✗ \u{1b}[39mbad\u{1b}[0m a < b\n  c");
        assert!(
            picture.contains("fill=\"#ff7b72\" font-weight=\"bold\">✗</text>"),
            "{picture}"
        );
        assert!(
            picture.contains("textLength=\"25.2\" font-weight=\"bold\">bad</text>"),
            "{picture}"
        );
        assert!(
            picture.contains("textLength=\"42.0\">a &lt; b</text>"),
            "{picture}"
        );
        assert!(
            picture.contains("<text x=\"36.8\" y=\"77.25\" textLength=\"8.4\">c</text>"),
            "{picture}"
        );
    }
}
