//! Which pages of the book does `mcptest explain` print, besides the gates' pages? `build.rs` packs them.

use flate2::read::GzDecoder;
use std::io::Read;
use std::sync::LazyLock;

static BOOK: LazyLock<String> = LazyLock::new(|| {
    let packed: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/pages.gz"));
    let mut text = String::new();
    // It was packed by the build: nothing can be wrong with it.
    let _whole = GzDecoder::new(packed).read_to_string(&mut text);
    text
});

/// A page of the book.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Page {
    /// Its path in the book, without the extension.
    pub(crate) name: &'static str,
    pub(crate) text: &'static str,
}

impl Page {
    /// Its heading.
    pub(crate) fn title(self) -> &'static str {
        self.text
            .lines()
            .next()
            .unwrap_or_default()
            .trim_start_matches("# ")
    }
}

/// Every page, in the order of the book.
pub(crate) fn pages() -> impl Iterator<Item = Page> + Clone {
    BOOK.split_terminator('\0')
        .filter_map(|page| page.split_once('\n'))
        .map(|(name, text)| Page { name, text })
}

/// The page of that path, or with that file name.
pub(crate) fn find(name: &str) -> Option<Page> {
    let by_path = pages().find(|page| page.name == name);
    by_path.or_else(|| pages().find(|page| page.name.rsplit('/').next() == Some(name)))
}
