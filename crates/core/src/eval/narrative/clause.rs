//! Where does one statement of a text end and the next begin, and which of its words are nouns?

use super::token::Token;
use super::words::Traits;
use std::ops::Range;

/// The clauses of a text as ranges of its tokens. Words that are nouns in their clause are marked as such.
pub(super) fn clauses(tokens: &mut [Token<'_>]) -> Vec<Range<usize>> {
    let mut clauses = Vec::new();
    let mut start = 0;
    for at in 0..tokens.len() {
        let next = tokens.get(at + 1).filter(|next| !next.begins_clause);
        let turns = turns_away(&tokens[at], next);
        if at > start && (begins(&tokens[at]) || turns) {
            clauses.push(start..at);
            start = at;
        }
        if turns && !is_contrast(&tokens[at], next) {
            start = at + 1;
        }
    }
    if start < tokens.len() {
        clauses.push(start..tokens.len());
    }
    for clause in &clauses {
        mark_nouns(&mut tokens[clause.clone()]);
    }
    clauses
}

fn begins(token: &Token<'_>) -> bool {
    token.begins_clause
        || (token.after_comma && matches!(&*token.word, "i" | "then") && token.whole.is_none())
}

fn turns_away(token: &Token<'_>, next: Option<&Token<'_>>) -> bool {
    token.whole.is_none() && matches!(&*token.word, "but" | "however" | "instead") || is_contrast(token, next)
}

/// "instead of" and "rather than": what follows was not done.
pub(super) fn is_contrast(token: &Token<'_>, next: Option<&Token<'_>>) -> bool {
    let Some(next) = next else { return false };
    matches!((&*token.word, &*next.word), ("instead", "of") | ("rather", "than"))
}

/// An uninflected or plural form is a noun when an article stands at most two words before it, or another determiner
/// or a number right before it; so is a form in ing.
fn mark_nouns(clause: &mut [Token<'_>]) {
    for at in 1..clause.len() {
        let Some(form) = clause[at].form else { continue };
        if !(form.is_base || form.is_plural || form.is_gerund) {
            continue;
        }
        let before = &clause[at - 1];
        let is_subject_or_to = before.traits.has(Traits::SPEAKER) || before.word == "to";
        let after_article =
            clause[at.saturating_sub(2)..at].iter().any(|token| token.traits.has(Traits::ARTICLE));
        let after_determiner = before.traits.has(Traits::DETERMINER) || before.is_number();
        clause[at].is_noun = !is_subject_or_to && (after_article || after_determiner);
    }
}

#[cfg(test)]
mod tests {
    use super::super::token::tokens;
    use super::super::verbs::Vocabulary;
    use super::*;

    fn split(text: &str) -> Vec<String> {
        let mut tokens = tokens(text, &Vocabulary::with(&[]));
        let clauses = clauses(&mut tokens);
        let words =
            |clause: Range<usize>| tokens[clause].iter().map(|token| &*token.word).collect::<Vec<_>>();
        clauses.into_iter().map(|clause| words(clause).join(" ")).collect()
    }

    #[test]
    fn clauses_end_at_marks_turns_and_new_subjects() {
        assert_eq!(
            split("One. Two! Three? Four; five: six\nseven"),
            ["one", "two", "three", "four", "five", "six", "seven"]
        );
        assert_eq!(split("a b but c however d instead e"), ["a b", "c", "d", "e"]);
        assert_eq!(split("Done, I left, then you, we and I"), ["done", "i left", "then you we and i"]);
        assert_eq!(split("kept it instead of b rather than c"), ["kept it", "instead of b", "rather than c"]);
        assert_eq!(split("But. However"), Vec::<String>::new());
    }

    #[test]
    fn an_article_makes_a_noun_of_an_uninflected_form() {
        let nouns = |text: &str| {
            let mut tokens = tokens(text, &Vocabulary::with(&[]));
            clauses(&mut tokens);
            tokens
                .iter()
                .filter(|token| token.is_noun)
                .map(|token| token.word.to_string())
                .collect::<Vec<_>>()
        };
        assert_eq!(nouns("the blog post and the set of results"), ["post", "set"]);
        assert_eq!(
            nouns("this is an update to each of the posts, your edits and 3 drops"),
            ["update", "posts", "edits", "drops"]
        );
        assert_eq!(nouns("the big new post"), Vec::<String>::new());
        assert_eq!(nouns("the created issue, the sent email"), Vec::<String>::new());
        assert_eq!(nouns("after this I set it"), Vec::<String>::new());
    }
}
