//! Which lines of a Rust file are product code: no comments, no blank lines, no tests?

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use std::collections::BTreeSet;

/// The contents of one file.
#[derive(Debug, Default)]
pub(crate) struct File {
    /// The numbers of its lines of product code.
    code: BTreeSet<usize>,
}

impl File {
    /// Reads a file by its tokens, so that neither a brace in a text nor the place of the tests matters.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let tokens: TokenStream = text.parse().map_err(|error| format!("{error}"))?;
        let mut file = Self::default();
        file.add(tokens);
        let lines: Vec<&str> = text.lines().collect();
        file.code.retain(|number| {
            lines
                .get(number - 1)
                .is_some_and(|line| !line.trim().is_empty())
        });
        Ok(file)
    }

    /// Returns true if the line with this number, from 1, is product code.
    pub(crate) fn is_code(&self, line: usize) -> bool {
        self.code.contains(&line)
    }

    fn add(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            if let Some((attribute, length)) = attribute(&tokens[at..]) {
                if is_doc(&attribute) {
                    at += length;
                    continue;
                }
                if is_test(&attribute) {
                    at += length + item(&tokens[at + length..]);
                    continue;
                }
            }
            match token {
                TokenTree::Group(group) => {
                    self.mark(group.span_open());
                    self.add(group.stream());
                    self.mark(group.span_close());
                }
                other => self.mark(other.span()),
            }
            at += 1;
        }
    }

    fn mark(&mut self, span: Span) {
        self.code.extend(span.start().line..=span.end().line);
    }
}

/// The contents of the attribute at the beginning of the tokens, and its number of tokens. Documentation comments are
/// attributes.
fn attribute(tokens: &[TokenTree]) -> Option<(Vec<TokenTree>, usize)> {
    let is = |at: usize, sign: char| matches!(tokens.get(at), Some(TokenTree::Punct(it)) if it.as_char() == sign);
    let at = if is(0, '#') {
        1 + usize::from(is(1, '!'))
    } else {
        return None;
    };
    match tokens.get(at)? {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket => {
            Some((group.stream().into_iter().collect(), at + 1))
        }
        _ => None,
    }
}

fn is_doc(attribute: &[TokenTree]) -> bool {
    matches!(attribute, [TokenTree::Ident(name), TokenTree::Punct(_), TokenTree::Literal(_)] if name == "doc")
}

/// `cfg(test)` and `cfg(all(test, …))`.
fn is_test(attribute: &[TokenTree]) -> bool {
    let text: String = attribute.iter().map(ToString::to_string).collect();
    let text: String = text.split_whitespace().collect();
    text == "cfg(test)" || text.starts_with("cfg(all(test,")
}

/// The number of tokens of the item at the beginning, with its other attributes.
fn item(tokens: &[TokenTree]) -> usize {
    let mut at = 0;
    while let Some((_, length)) = attribute(&tokens[at..]) {
        at += length;
    }
    let mut ends_at_brace = true;
    for (offset, token) in tokens[at..].iter().enumerate() {
        match token {
            TokenTree::Ident(word)
                if ["use", "const", "static", "type", "let"]
                    .iter()
                    .any(|it| word == it) =>
            {
                ends_at_brace = false;
            }
            // `const fn`
            TokenTree::Ident(word) if word == "fn" => ends_at_brace = true,
            TokenTree::Punct(sign) if sign.as_char() == ';' => return at + offset + 1,
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace && ends_at_brace => {
                return at + offset + 1;
            }
            _ => {}
        }
    }
    tokens.len()
}

#[cfg(test)]
mod tests {
    use super::File;

    fn lines(text: &str) -> usize {
        let file = File::read(text).expect("it is Rust");
        let lines = 1..=text.lines().count();
        lines.filter(|line| file.is_code(*line)).count()
    }

    #[test]
    fn comments_blank_lines_and_documentation_are_no_code() {
        assert_eq!(
            lines("//! What?\n\n/// It is.\nfn f() {\n    // Why.\n    g(); /* so */\n}\n"),
            3
        );
        assert_eq!(
            lines("/*\nfn f() {}\n*/\nconst A: &str = \"// this is\n\n  code\";\n"),
            2
        );
    }

    #[test]
    fn tests_near_the_top_hide_nothing_that_follows() {
        let text = "#[cfg(test)]\nmod tests;\nmod other;\n#[cfg(test)]\nuse std::{\n    fs,\n    io,\n};\nfn f() {}\n";
        assert_eq!(lines(text), 2);
    }

    #[test]
    fn a_module_of_tests_ends_at_its_own_brace() {
        let text = "fn a() {}\n#[cfg(test)]\n#[allow(x)]\nmod tests {\n    const B: &str = \"}\";\n    fn b() {}\n}\nfn c() {}\n";
        assert_eq!(lines(text), 2);
        assert_eq!(
            lines(
                "impl A {\n    #[cfg(test)]\n    fn b(&self) -> u8 {\n        1\n    }\n    fn c() {}\n}\n"
            ),
            3
        );
    }
}
