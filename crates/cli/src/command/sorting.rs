//! `--sort`: in which order are models or sides shown?

use clap::Args as Group;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use mcptest_report::leaderboard::{COLUMNS, Column};

/// In which order models or sides are shown.
#[derive(Debug, Clone, Copy, Group)]
pub(crate) struct Sorting {
    /// Sort the leaderboard of `pretty` and `md` by this column, the best first [default: the order of the tests].
    #[arg(long, value_name = "COLUMN", value_parser = column())]
    pub(crate) sort: Option<&'static Column>,
}

fn column() -> impl TypedValueParser<Value = &'static Column> {
    let known = PossibleValuesParser::new(COLUMNS.iter().map(|column| column.key));
    known.try_map(|key| COLUMNS.iter().find(|column| column.key == key).ok_or("there is no such column"))
}
