//! Which words are forms of a verb that changes something?

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

/// The verbs that change something.
pub(super) const MUTATING_VERBS: [&str; 22] = [
    "create", "update", "delete", "remove", "send", "write", "post", "insert", "set", "put", "patch",
    "publish", "destroy", "drop", "add", "edit", "upload", "merge", "close", "cancel", "approve", "revoke",
];

/// Past and participle of the verbs that do not add "ed"; those past the first five only matter as `extra_verbs`.
const IRREGULAR: &[(&str, &str, &str)] = &[
    ("send", "sent", "sent"),
    ("write", "wrote", "written"),
    ("set", "set", "set"),
    ("put", "put", "put"),
    ("reset", "reset", "reset"),
    ("rewrite", "rewrote", "rewritten"),
    ("overwrite", "overwrote", "overwritten"),
    ("resend", "resent", "resent"),
    ("pay", "paid", "paid"),
    ("make", "made", "made"),
    ("buy", "bought", "bought"),
    ("sell", "sold", "sold"),
    ("give", "gave", "given"),
    ("take", "took", "taken"),
    ("build", "built", "built"),
    ("rebuild", "rebuilt", "rebuilt"),
    ("run", "ran", "run"),
    ("withdraw", "withdrew", "withdrawn"),
    ("draw", "drew", "drawn"),
    ("undo", "undid", "undone"),
    ("redo", "redid", "redone"),
    ("split", "split", "split"),
    ("cut", "cut", "cut"),
    ("shut", "shut", "shut"),
    ("hide", "hid", "hidden"),
    ("freeze", "froze", "frozen"),
    ("bind", "bound", "bound"),
    ("lend", "lent", "lent"),
    ("spend", "spent", "spent"),
    ("hold", "held", "held"),
    ("leave", "left", "left"),
    ("begin", "began", "begun"),
];

/// What one form of a verb can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "a form may be several: `set` is base and participle")]
pub(super) struct Form {
    /// Which verb, as an index into the vocabulary.
    pub(super) verb: usize,
    /// The uninflected form.
    pub(super) is_base: bool,
    /// The form in s, which is also the plural of the noun.
    pub(super) is_plural: bool,
    /// The form in ing.
    pub(super) is_gerund: bool,
    /// The form that makes a passive.
    pub(super) is_participle: bool,
}

/// The verbs and all their forms.
#[derive(Debug)]
pub(crate) struct Vocabulary {
    verbs: Vec<String>,
    forms: HashMap<String, Form>,
}

impl Vocabulary {
    /// The mutating verbs and these further ones. Blocks without further verbs share one vocabulary.
    pub(super) fn with(extra_verbs: &[String]) -> Arc<Self> {
        static MUTATING: LazyLock<Arc<Vocabulary>> = LazyLock::new(|| Arc::new(Vocabulary::of(&[])));
        if extra_verbs.is_empty() { Arc::clone(&MUTATING) } else { Arc::new(Self::of(extra_verbs)) }
    }

    fn of(extra_verbs: &[String]) -> Self {
        let mut vocabulary = Self { verbs: Vec::new(), forms: HashMap::new() };
        for verb in MUTATING_VERBS {
            vocabulary.add(verb);
        }
        for verb in extra_verbs {
            vocabulary.add(&verb.to_lowercase());
        }
        vocabulary
    }

    /// The verb that a form belongs to.
    pub(super) fn base(&self, form: Form) -> &str {
        &self.verbs[form.verb]
    }

    /// What a word in lower case is a form of.
    pub(super) fn form(&self, word: &str) -> Option<Form> {
        self.forms.get(word).copied()
    }

    /// Whether the word is one of the verbs, uninflected.
    pub(super) fn is_base(&self, word: &str) -> bool {
        self.form(word).is_some_and(|form| form.is_base)
    }

    fn add(&mut self, base: &str) {
        if self.is_base(base) {
            return;
        }
        let verb = self.verbs.len();
        self.verbs.push(base.to_owned());
        let mut insert = |word: String, mark: fn(&mut Form)| {
            let form = self.forms.entry(word).or_insert(Form { verb, ..Form::default() });
            if form.verb == verb {
                mark(form);
            }
        };
        insert(base.to_owned(), |form| form.is_base = true);
        insert(third_person(base), |form| form.is_plural = true);
        for stem in stems(base) {
            insert(format!("{stem}ing"), |form| form.is_gerund = true);
        }
        if let Some((_, past, participle)) = IRREGULAR.iter().find(|(verb, ..)| *verb == base) {
            insert((*past).to_owned(), |_| {});
            insert((*participle).to_owned(), |form| form.is_participle = true);
        } else {
            for past in pasts(base) {
                insert(past, |form| form.is_participle = true);
            }
        }
    }
}

fn third_person(base: &str) -> String {
    if let Some(stem) = consonant_y(base) {
        return format!("{stem}ies");
    }
    let hisses = ["s", "x", "z", "ch", "sh", "o"].iter().any(|ending| base.ends_with(ending));
    format!("{base}{}", if hisses { "es" } else { "s" })
}

fn pasts(base: &str) -> Vec<String> {
    if let Some(stem) = consonant_y(base) {
        return vec![format!("{stem}ied")];
    }
    if base.ends_with('e') {
        return vec![format!("{base}d")];
    }
    stems(base).into_iter().map(|stem| format!("{stem}ed")).collect()
}

/// What "ing" is added to: "drop" and "dropp", because "canceled" and "cancelled" are both written.
fn stems(base: &str) -> Vec<String> {
    if let Some(stem) = base.strip_suffix("ie") {
        return vec![format!("{stem}y")];
    }
    if let Some(stem) = base.strip_suffix('e').filter(|stem| !stem.ends_with('e')) {
        return vec![stem.to_owned()];
    }
    let mut stems = vec![base.to_owned()];
    let mut from_end = base.chars().rev();
    if let (Some(last), Some(before), Some(first)) = (from_end.next(), from_end.next(), from_end.next())
        && !is_vowel(last)
        && !matches!(last, 'w' | 'x' | 'y')
        && is_vowel(before)
        && !is_vowel(first)
    {
        stems.push(format!("{base}{last}"));
    }
    stems
}

fn consonant_y(base: &str) -> Option<&str> {
    base.strip_suffix('y').filter(|stem| stem.chars().last().is_some_and(|before| !is_vowel(before)))
}

fn is_vowel(letter: char) -> bool {
    matches!(letter, 'a' | 'e' | 'i' | 'o' | 'u')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn base_of(vocabulary: &Vocabulary, word: &str) -> String {
        vocabulary.form(word).map_or_else(|| "(none)".to_owned(), |form| vocabulary.base(form).to_owned())
    }

    #[test]
    fn every_inflection_of_the_listed_verbs_is_known() {
        let vocabulary = Vocabulary::with(&[]);
        for (base, forms) in [
            ("create", "creates created creating"),
            ("update", "updates updated updating"),
            ("delete", "deletes deleted deleting"),
            ("remove", "removes removed removing"),
            ("send", "sends sent sending"),
            ("write", "writes wrote written writing"),
            ("post", "posts posted posting"),
            ("insert", "inserts inserted inserting"),
            ("set", "sets set setting"),
            ("put", "puts put putting"),
            ("patch", "patches patched patching"),
            ("publish", "publishes published publishing"),
            ("destroy", "destroys destroyed destroying"),
            ("drop", "drops dropped dropping"),
            ("add", "adds added adding"),
            ("edit", "edits edited editing"),
            ("upload", "uploads uploaded uploading"),
            ("merge", "merges merged merging"),
            ("close", "closes closed closing"),
            ("cancel", "cancels canceled cancelled canceling cancelling"),
            ("approve", "approves approved approving"),
            ("revoke", "revokes revoked revoking"),
        ] {
            for form in forms.split(' ').chain([base]) {
                assert_eq!(base_of(&vocabulary, form), base, "{form}");
            }
        }
    }

    #[test]
    fn words_that_only_begin_like_a_verb_are_none() {
        let vocabulary = Vocabulary::with(&[]);
        for word in
            ["settings", "poster", "address", "closet", "senders", "additional", "recreate", "creation"]
        {
            assert_eq!(base_of(&vocabulary, word), "(none)", "{word}");
        }
    }

    #[test]
    fn only_participles_make_a_passive() {
        let vocabulary = Vocabulary::with(&[]);
        let is_participle = |word: &str| vocabulary.form(word).unwrap().is_participle;
        assert!(["created", "sent", "written", "set", "put", "dropped"].into_iter().all(is_participle));
        assert!(!["create", "wrote", "sends", "setting"].into_iter().any(is_participle));
    }

    #[test]
    fn extra_verbs_are_inflected_too() {
        let vocabulary = Vocabulary::with(&["Notify".to_owned(), "pay".to_owned(), "refund".to_owned()]);
        for (word, base) in [
            ("notified", "notify"),
            ("notifies", "notify"),
            ("notifying", "notify"),
            ("paid", "pay"),
            ("paying", "pay"),
            ("refunded", "refund"),
            ("created", "create"),
        ] {
            assert_eq!(base_of(&vocabulary, word), base);
        }
    }
}
