//! How are expected calls shown beside recorded calls?

use super::page::{Line, Page, style};
use crate::words::{SCREEN, arguments, arguments_apart, clipped, count};
use anstyle::Style;
use mcptest_core::report::{CallRow, CallShown, CallTable, Pairing};
use std::collections::BTreeMap;
use unicode_width::UnicodeWidthStr;

/// The number of rows to show for one table.
const MOST_ROWS: usize = 24;

/// The table under its heading, as wide as the page: columns shrink before the text around them.
pub(super) fn show(page: &mut Page, indent: usize, table: &CallTable) {
    let shown = &table.rows[..table.rows.len().min(MOST_ROWS)];
    let mut cells: Vec<[String; 2]> = shown
        .iter()
        .map(|row| cells(row).map(|cell| page.letters(&cell)))
        .collect();
    let mark = shown
        .iter()
        .map(|row| page.pairing(row.how).0.width())
        .max()
        .unwrap_or(1);
    let room = page.width.saturating_sub(indent + mark + 4);
    let apart = too_wide(page, shown, &mut cells, room);
    let [left, right] = columns(&cells, room);
    let gap = " ".repeat(mark + 4);
    let head = format!("{}{gap}recorded", page.fixed("expected", left));
    page.line(&Line::at(indent).glued(style::DIM, head).unwrapped());
    let widths = Widths { left, mark, right };
    for (at, (row, cells)) in shown.iter().zip(&cells).enumerate() {
        show_row(page, indent, row, cells, &widths);
        if let Some([expected, recorded]) = apart.get(&at) {
            show_side(page, indent + 2, "expected", expected);
            show_side(page, indent + 2, "recorded", recorded);
        }
    }
    for note in &table.notes {
        page.line(&Line::at(indent).plain(clipped(note, SCREEN.text)));
    }
    let left_out = table.left_out + table.rows.len() - shown.len();
    if left_out > 0 {
        page.line(&Line::at(indent).plain(super::detail::left_out(left_out)));
    }
}

/// The widths of the columns.
struct Widths {
    left: usize,
    mark: usize,
    right: usize,
}

fn show_row(
    page: &mut Page,
    indent: usize,
    row: &CallRow,
    [expected, recorded]: &[String; 2],
    widths: &Widths,
) {
    if let Some(matched) = row.count {
        let text = format!("{} {} as expected", page.ellipsis(), count(matched, "call"));
        page.line(&Line::at(indent).styled(style::DIM, text));
        return;
    }
    let (sign, sign_style) = page.pairing(row.how);
    let expected_style = if row.how == Pairing::Matched {
        style::DIM
    } else {
        Style::new()
    };
    let recorded_style = if row.recorded.is_none() {
        sign_style
    } else {
        expected_style
    };
    let recorded = page.fixed(recorded, widths.right);
    let line = Line::at(indent)
        .glued(expected_style, page.fixed(expected, widths.left))
        .plain("  ")
        .glued(sign_style, page.fixed(sign, widths.mark))
        .plain("  ")
        .glued(recorded_style, recorded.trim_end())
        .unwrapped();
    page.line(&line);
}

/// A call that is shown below its row, because it does not fit into it.
fn show_side(page: &mut Page, indent: usize, side: &str, call: &str) {
    if !call.is_empty() {
        let line = Line::at(indent).styled(style::DIM, format!("{side} "));
        page.line(&line.plain(call));
    }
}

/// Changed calls that do not fit side by side appear by name, with details below, so that the
/// difference is not cut off.
fn too_wide(
    page: &Page,
    rows: &[CallRow],
    cells: &mut [[String; 2]],
    room: usize,
) -> BTreeMap<usize, [String; 2]> {
    let [left, right] = columns(cells, room);
    let mut apart = BTreeMap::new();
    for (at, (row, cell)) in rows
        .iter()
        .zip(cells)
        .enumerate()
        .filter(|(_, (row, _))| row.how == Pairing::Changed)
    {
        if cell[0].width() > left || cell[1].width() > right {
            let name = |shown: &Option<CallShown>| {
                shown.as_ref().map_or_else(String::new, |call| {
                    page.letters(&format!("{} {}", call.number, call.tool))
                })
            };
            let names = [name(&row.expected), name(&row.recorded)];
            let said = [0, 1].map(|side| {
                cell[side]
                    .strip_prefix(&names[side])
                    .unwrap_or(&cell[side])
                    .trim()
                    .to_owned()
            });
            apart.insert(at, said);
            *cell = names;
        }
    }
    apart
}

/// The widths of both columns: the needed widths, or at least half of the room for each.
fn columns(cells: &[[String; 2]], room: usize) -> [usize; 2] {
    let widest = |side: usize, least: usize| {
        cells
            .iter()
            .map(|cell| cell[side].width())
            .max()
            .unwrap_or(0)
            .max(least)
    };
    let (left, right) = (widest(0, "expected".len()), widest(1, "recorded".len()));
    let half = room / 2;
    if left + right <= room {
        [left, right]
    } else if left <= half {
        [left, room - left]
    } else if right <= room - half {
        [room - right, right]
    } else {
        [half, room - half]
    }
}

fn cells(row: &CallRow) -> [String; 2] {
    let call = |shown: &Option<CallShown>, args: Option<String>, none: &str| match shown {
        Some(shown) => {
            let args = args.or_else(|| shown.args.as_ref().map(arguments));
            let args = args.map(|args| format!(" {args}")).unwrap_or_default();
            format!("{} {}{args}", shown.number, shown.tool)
        }
        None => none.to_owned(),
    };
    let [want, got] = [&row.expected, &row.recorded]
        .map(|side| side.as_ref().and_then(|call| call.args.as_ref()));
    let is_changed = row.how == Pairing::Changed;
    let [want, got] = match (want, got) {
        (Some(want), Some(got)) if is_changed => arguments_apart(want, got).map(Some),
        (Some(_), None) if is_changed => [None, Some("without arguments".to_owned())],
        (None, Some(_)) if is_changed => [Some("without arguments".to_owned()), None],
        _ => [None, None],
    };
    [
        call(&row.expected, want, "extra"),
        call(&row.recorded, got, "missing"),
    ]
}
