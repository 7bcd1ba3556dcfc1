//! How many tokens does a string have, in the vocabulary `cl100k_base`?

/// The tokens of a string; `None` in a build without the feature `tokenizer`.
#[cfg(feature = "tokenizer")]
pub fn count_tokens(text: &str) -> Option<usize> {
    static VOCABULARY: std::sync::LazyLock<Option<vocabulary::Vocabulary>> =
        std::sync::LazyLock::new(vocabulary::Vocabulary::unpack);
    VOCABULARY.as_ref().map(|vocabulary| vocabulary.count(text))
}

/// The tokens of a string; `None` in a build without the feature `tokenizer`.
#[cfg(not(feature = "tokenizer"))]
pub fn count_tokens(_text: &str) -> Option<usize> {
    None
}

#[cfg(feature = "tokenizer")]
mod vocabulary {
    use crate::hashed::HashMap;
    use flate2::read::GzDecoder;
    use regex::Regex;
    use std::cmp::Reverse;
    use std::collections::BinaryHeap;
    use std::io::Read;

    /// The lengths of all tokens by their ranks, a byte each, then the bytes of all tokens; see `NOTICE.md`.
    const TABLE: &[u8] = include_bytes!("cl100k_base.gz");
    const TOKENS: usize = 100_256;

    /// A separately encoded piece at the beginning of a string. Spaces before a word are in no branch.
    const PIECE: &str = r"^(?:(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+$)";

    /// Byte pair encoding: the tokens by their bytes, with their ranks.
    pub(super) struct Vocabulary {
        ranks: HashMap<Box<[u8]>, u32>,
        piece: Regex,
    }

    impl Vocabulary {
        pub(super) fn unpack() -> Option<Self> {
            let mut table = Vec::new();
            GzDecoder::new(TABLE).read_to_end(&mut table).ok()?;
            let (lengths, mut bytes) = table.split_at_checked(TOKENS)?;
            let ranks = lengths.iter().zip(0..).map(|(length, rank)| {
                let (token, rest) = bytes.split_at_checked(usize::from(*length))?;
                bytes = rest;
                Some((token.into(), rank))
            });
            Some(Self {
                ranks: ranks.collect::<Option<_>>()?,
                piece: Regex::new(PIECE).ok()?,
            })
        }

        pub(super) fn count(&self, mut text: &str) -> usize {
            let mut tokens = 0;
            while !text.is_empty() {
                let (piece, rest) = text.split_at(self.first_piece(text));
                tokens += self.count_in_piece(piece.as_bytes());
                text = rest;
            }
            tokens
        }

        /// The end of the first piece. Of several blanks before a word, the last belongs to the
        /// word.
        fn first_piece(&self, text: &str) -> usize {
            if let Some(found) = self.piece.find(text) {
                return found.end();
            }
            let blanks = text
                .find(|c: char| !c.is_whitespace())
                .unwrap_or(text.len());
            let last = text[..blanks]
                .char_indices()
                .next_back()
                .map_or(0, |(at, _)| at);
            if last > 0 { last } else { blanks }
        }

        /// Joins the neighbours whose union has the lowest rank, the first of equals, until no
        /// union has a rank.
        fn count_in_piece(&self, piece: &[u8]) -> usize {
            if self.ranks.contains_key(piece) {
                return 1;
            }
            let mut parts = piece.len();
            // The parts by where they begin and by where they end; a part that was joined to the one before it ends at 0.
            let mut end: Vec<usize> = (1..=parts).collect();
            let mut start: Vec<usize> = (0..=parts).map(|end| end.saturating_sub(1)).collect();
            let mut unions = BinaryHeap::new();
            let propose = |unions: &mut BinaryHeap<_>, from: usize, middle: usize, to: usize| {
                let rank = self.ranks.get(&piece[from..to]);
                unions.extend(rank.map(|&rank| Reverse((rank, from, middle, to))));
            };
            for from in 0..parts - 1 {
                propose(&mut unions, from, from + 1, from + 2);
            }
            while let Some(Reverse((_, from, middle, to))) = unions.pop() {
                if end[from] != middle || end[middle] != to {
                    continue;
                }
                (end[from], end[middle], start[to]) = (to, 0, from);
                parts -= 1;
                if from > 0 {
                    propose(&mut unions, start[from], from, to);
                }
                if to < piece.len() {
                    propose(&mut unions, from, to, end[to]);
                }
            }
            parts
        }
    }
}

#[cfg(all(test, feature = "tokenizer"))]
mod tests {
    use super::*;

    /// Compares with `bpe-openai` 0.3, which is tested against `tiktoken`.
    #[test]
    fn tokens_are_those_of_cl100k_base() {
        let counted = [
            ("", 0),
            ("hello world", 2),
            ("tiktoken is great!", 6),
            ("antidisestablishmentarianism", 6),
            (
                "fn main() {\n    println!(\"{}\", 1 + 2);\n\t\tlet x = [1, 22, 333, 4444, 55555];\r\n}\n",
                35,
            ),
            ("東京の天気は晴れです。明日は雨が降るでしょう。", 27),
            ("天气预报说明天会下雨，请带伞。", 17),
            (
                "👩\u{200d}👩\u{200d}👧\u{200d}👦 🎉🎉🎉 naïve café ＡＢＣ ½ ٣٤",
                43,
            ),
            ("a                                                  b", 3),
            ("   \n\n   \t  x  ", 5),
            (" \u{a0}\u{3000} x", 3),
            ("I'm, YOU'RE, we'Ll; 'tis ſ'ſ don't", 20),
            (
                r#"{"type":"object","properties":{"q":{"type":"string","description":"What to look for"},"limit":{"type":"integer","minimum":1}},"required":["q"]}"#,
                35,
            ),
            (
                "SGVsbG8gd29ybGQhIFRoaXMgaXMgYmFzZTY0IHRleHQgd2l0aG91dCBibGFua3M=",
                44,
            ),
            ("3.14159265358979323846264338327950288419716939937510", 19),
            (
                "Привет, мир! Γειά σου Κόσμε مرحبا بالعالم שלום עולם नमस\u{94d}त\u{947} द\u{941}निया สว\u{e31}สด\u{e35}ชาวโลก",
                67,
            ),
            (
                "snake_case_name camelCaseName SCREAMING_CASE kebab-case-name https://example.com/a?b=c&d=%20#e",
                28,
            ),
            ("!!!???...---===///\\\\\\\\***\n\n\n\n", 9),
            ("\0\u{1}\u{7f}\u{feff}", 4),
        ];
        for (text, tokens) in counted {
            assert_eq!(count_tokens(text), Some(tokens), "{text:?}");
        }
    }

    #[test]
    fn a_long_run_of_anything_is_one_piece_and_is_still_counted_soon() {
        let repeated = [
            (" ", 1000, 9),
            ("a", 5000, 625),
            ("ab", 3000, 3000),
            ("日", 2000, 2000),
            ("=", 4000, 63),
            ("\n", 777, 25),
            ("🎉", 500, 1500),
            (" \n", 400, 200),
            ("Zq9", 2000, 6000),
        ];
        for (unit, times, tokens) in repeated {
            assert_eq!(count_tokens(&unit.repeat(times)), Some(tokens), "{unit:?}");
        }
    }
}
