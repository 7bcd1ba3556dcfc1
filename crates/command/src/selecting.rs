//! How are tests selected on the command line?

use clap::Args;
use mcptest_replay::{Filter, Selection};

/// Which tests.
#[derive(Debug, Args)]
pub struct Selecting {
    /// Select tests whose name contains TEXT or matches PATTERN; repeat to require all.
    #[arg(help_heading = "Select tests", long, value_name = "TEXT|re:PATTERN")]
    filter: Vec<Filter>,
    /// Select tests with this tag; repeat to allow any of several.
    #[arg(help_heading = "Select tests", long, value_name = "TAG")]
    tag: Vec<String>,
    /// Skip tests with this tag; repeatable.
    #[arg(help_heading = "Select tests", long, value_name = "TAG")]
    skip_tag: Vec<String>,
}

impl Selecting {
    /// The selection of the options.
    pub fn selection(&self) -> Selection {
        Selection {
            filters: self.filter.clone(),
            tags: self.tag.clone(),
            skip_tags: self.skip_tag.clone(),
            ..Selection::default()
        }
    }
}
