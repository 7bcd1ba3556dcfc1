//! Reproducible chance, and the tables from it.

/// Puts a table between two marks of a page.
pub(crate) fn write_table(page: &str, [begin, end]: [&str; 2], table: &str) -> Result<(), String> {
    let text = std::fs::read_to_string(page).map_err(|error| format!("{page}: {error}"))?;
    let (head, rest) = text
        .split_once(begin)
        .ok_or_else(|| format!("{page} has no place for the table"))?;
    let (_, tail) = rest
        .split_once(end)
        .ok_or_else(|| format!("{page} has no end of the table"))?;
    let text = format!("{head}{begin}\n{table}\n{end}{tail}");
    std::fs::write(page, text).map_err(|error| format!("{page}: {error}"))
}

/// A reproducible sequence of numbers.
pub(crate) struct Chance(pub(crate) u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }
}
