//! Which lines of a Rust file are product code, and what are its documentation and its texts?

use proc_macro2::{Delimiter, Literal, Span, TokenStream, TokenTree};
use std::collections::BTreeSet;

/// One file of product code, without the tests in it.
#[derive(Debug, Default)]
pub(crate) struct File {
    /// The numbers of its lines of product code.
    code: BTreeSet<usize>,
    documentation: Vec<Passage>,
    texts: Vec<Passage>,
}

/// Words in a file, and their first line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Passage {
    pub(crate) line: usize,
    pub(crate) text: String,
}

impl File {
    /// Reads a file by its tokens, so braces in texts and the place of the tests do not matter.
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

    /// The paragraphs of its documentation comments.
    pub(crate) fn documentation(&self) -> &[Passage] {
        &self.documentation
    }

    /// The strings in its code and in the attributes of its code.
    pub(crate) fn texts(&self) -> &[Passage] {
        &self.texts
    }

    fn add(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            if let Some((attribute, length)) = attribute(&tokens[at..]) {
                if let Some(literal) = documented(&attribute) {
                    self.document(literal);
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
                TokenTree::Literal(literal) => {
                    self.mark(literal.span());
                    self.texts.extend(Passage::of_text(literal));
                }
                other => self.mark(other.span()),
            }
            at += 1;
        }
    }

    /// Adds a line of documentation to the paragraph that ends on the line before it, or begins a paragraph.
    fn document(&mut self, literal: &Literal) {
        let Some(mut added) = Passage::of_text(literal) else {
            return;
        };
        added.text = String::from(added.text.trim());
        let is_list_item = added.text.starts_with(['-', '*', '|']);
        let paragraph = self.documentation.last_mut();
        let continues = |paragraph: &&mut Passage| {
            let lines = paragraph.text.lines().count();
            paragraph.line + lines == added.line && !added.text.is_empty() && !is_list_item
        };
        match paragraph.filter(continues) {
            Some(paragraph) => {
                paragraph.text.push('\n');
                paragraph.text.push_str(&added.text);
            }
            None => self.documentation.push(added),
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

/// The literal of an attribute that documents.
fn documented(attribute: &[TokenTree]) -> Option<&Literal> {
    match attribute {
        [
            TokenTree::Ident(name),
            TokenTree::Punct(_),
            TokenTree::Literal(text),
        ] if name == "doc" => Some(text),
        _ => None,
    }
}

impl Passage {
    /// The contents of a string literal. Numbers, bytes and characters have none.
    fn of_text(literal: &Literal) -> Option<Self> {
        let written = literal.to_string();
        let opening = written.find('"')?;
        let contents = written.get(opening + 1..written.rfind('"')?)?;
        let text = match &written[..opening] {
            "" => unescaped(contents),
            prefix if prefix.starts_with('r') => contents.to_owned(),
            _ => return None,
        };
        let line = literal.span().start().line;
        Some(Self { line, text })
    }
}

/// The text that an ordinary literal means, with the escapes that prose uses.
fn unescaped(contents: &str) -> String {
    let mut text = String::with_capacity(contents.len());
    let mut signs = contents.chars().peekable();
    while let Some(sign) = signs.next() {
        if sign != '\\' {
            text.push(sign);
            continue;
        }
        match signs.next() {
            Some('n') => text.push('\n'),
            Some('\n') => while signs.next_if(|next| next.is_whitespace()).is_some() {},
            Some(escaped) => text.push(escaped),
            None => {}
        }
    }
    text
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
    use super::{File, Passage};

    fn lines(text: &str) -> usize {
        let file = File::read(text).expect("it is Rust");
        let lines = 1..=text.lines().count();
        lines.filter(|line| file.is_code(*line)).count()
    }

    #[test]
    fn documentation_and_texts_are_found_and_tests_are_left_aside() {
        let text = "//! Which one?\n\n/// One idea\n/// of a sentence.\n///\n/// - An item.\nfn f() {\n    \
                    say(\"a \\\n      \\\"text\\\"\", r#\"raw\"#, b\"bytes\");\n}\n\
                    #[cfg(test)]\nmod tests {\n    /// Hidden.\n    const A: &str = \"hidden\";\n}\n";
        let file = File::read(text).expect("it is Rust");
        let passage = |line, text: &str| Passage {
            line,
            text: text.to_owned(),
        };
        let documentation = file.documentation().iter().filter(|it| !it.text.is_empty());
        assert_eq!(
            documentation.cloned().collect::<Vec<_>>(),
            [
                passage(1, "Which one?"),
                passage(3, "One idea\nof a sentence."),
                passage(6, "- An item.")
            ]
        );
        assert_eq!(file.texts(), [passage(8, "a \"text\""), passage(9, "raw")]);
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
