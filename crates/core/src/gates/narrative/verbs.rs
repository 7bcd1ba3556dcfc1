//! Which words are forms of a verb that changes something?

use super::Extraction;
use super::lexicon::LEXICON;
use crate::hashed::HashMap;
use std::sync::{Arc, LazyLock};

/// The possible roles of one form of a verb.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "a form may be several: `set` is base and participle"
)]
pub(super) struct Form {
    /// The verb, as an index into the vocabulary.
    pub(super) verb: usize,
    /// The uninflected form.
    pub(super) is_base: bool,
    /// The form in ing.
    pub(super) is_gerund: bool,
    /// The past, or the form that makes a perfect or a passive.
    pub(super) is_past: bool,
    /// The form that makes a passive.
    pub(super) is_participle: bool,
}

/// The verbs and all their forms. A vocabulary can extend another.
#[derive(Debug)]
pub(crate) struct Vocabulary {
    below: Option<Arc<Vocabulary>>,
    first: usize,
    verbs: Vec<String>,
    forms: HashMap<String, Form>,
}

impl Vocabulary {
    /// The verbs of the literal rule, or of claims.
    pub(super) fn new(extraction: Extraction) -> Arc<Self> {
        static LITERAL: LazyLock<Arc<Vocabulary>> =
            LazyLock::new(|| Arc::new(Vocabulary::on_top(None, LEXICON.seed_verbs.iter())));
        static CLAIMS: LazyLock<Arc<Vocabulary>> = LazyLock::new(|| {
            Arc::new(Vocabulary::on_top(
                None,
                LEXICON.seed_verbs.iter().chain(&LEXICON.claim_verbs),
            ))
        });
        Arc::clone(if extraction == Extraction::Literal {
            &LITERAL
        } else {
            &CLAIMS
        })
    }

    /// This vocabulary and further verbs.
    pub(super) fn with<'v>(
        self: &Arc<Self>,
        verbs: impl IntoIterator<Item = &'v String>,
    ) -> Arc<Self> {
        let mut verbs = verbs.into_iter().peekable();
        if verbs.peek().is_none() {
            return Arc::clone(self);
        }
        Arc::new(Self::on_top(Some(Arc::clone(self)), verbs))
    }

    fn on_top<'v>(below: Option<Arc<Self>>, verbs: impl Iterator<Item = &'v String>) -> Self {
        let first = below
            .as_ref()
            .map_or(0, |below| below.first + below.verbs.len());
        let mut vocabulary = Self {
            below,
            first,
            verbs: Vec::new(),
            forms: HashMap::default(),
        };
        for verb in verbs {
            vocabulary.add(&verb.to_lowercase());
        }
        vocabulary
    }

    /// The verb that a form belongs to.
    pub(super) fn base(&self, form: Form) -> &str {
        match &self.below {
            Some(below) if form.verb < self.first => below.base(form),
            _ => &self.verbs[form.verb - self.first],
        }
    }

    /// All verbs, uninflected.
    pub(super) fn bases(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        let below = self.below.iter().flat_map(|below| below.bases());
        Box::new(below.chain(self.verbs.iter().map(String::as_str)))
    }

    /// The form of a verb that a word in lower case is.
    pub(super) fn form(&self, word: &str) -> Option<Form> {
        let below = || self.below.as_ref().and_then(|below| below.form(word));
        self.forms.get(word).copied().or_else(below)
    }

    /// Returns true if the word is one of the verbs, uninflected.
    pub(super) fn is_base(&self, word: &str) -> bool {
        self.form(word).is_some_and(|form| form.is_base)
    }

    fn add(&mut self, base: &str) {
        if self.is_base(base) {
            return;
        }
        let verb = self.first + self.verbs.len();
        self.verbs.push(base.to_owned());
        let mut insert = |word: String, mark: fn(&mut Form)| {
            let form = self.forms.entry(word).or_insert(Form {
                verb,
                ..Form::default()
            });
            if form.verb == verb {
                mark(form);
            }
        };
        insert(base.to_owned(), |form| form.is_base = true);
        insert(third_person(base), |_| {});
        for stem in stems(base) {
            insert(format!("{stem}ing"), |form| form.is_gerund = true);
        }
        if let Some((past, participle)) = LEXICON.irregular.get(base) {
            insert(past.clone(), |form| form.is_past = true);
            insert(participle.clone(), |form| {
                (form.is_past, form.is_participle) = (true, true);
            });
        } else {
            for past in pasts(base) {
                insert(past, |form| {
                    (form.is_past, form.is_participle) = (true, true);
                });
            }
        }
    }
}

/// The verb that a word looks like an inflected form of.
pub(super) fn uninflected(word: &str) -> Option<String> {
    const BASES: &[&str] = &[
        "embed", "shed", "ping", "bring", "ring", "sing", "string", "swing", "spring", "canvas",
        "alias", "bias", "focus",
    ];
    let irregular = LEXICON.irregular_base(word).filter(|base| *base != word);
    if let Some(base) = irregular {
        return Some(base.to_owned());
    }
    if BASES.contains(&word) || word.len() < 5 || word.ends_with("eed") {
        return None;
    }
    if let Some(stem) = word
        .strip_suffix("ied")
        .or_else(|| word.strip_suffix("ies"))
    {
        return Some(format!("{stem}y"));
    }
    if let Some(stem) = word.strip_suffix("ed").or_else(|| word.strip_suffix("ing")) {
        return Some(restored(stem));
    }
    let is_noun = ["ss", "us", "is", "as", "os"]
        .iter()
        .any(|ending| word.ends_with(ending));
    word.strip_suffix('s').filter(|_| !is_noun).map(|stem| {
        let hisses = ["sse", "xe", "che", "she", "zze"]
            .iter()
            .any(|ending| stem.ends_with(ending));
        stem[..stem.len() - usize::from(hisses)].to_owned()
    })
}

/// The verb of a stem: adds an e, or removes a doubled letter.
fn restored(stem: &str) -> String {
    let mut from_end = stem.chars().rev();
    let (last, before) = (
        from_end.next().unwrap_or(' '),
        from_end.next().unwrap_or(' '),
    );
    if last == before && !matches!(last, 'l' | 's' | 'f' | 'z') {
        return stem[..stem.len() - last.len_utf8()].to_owned();
    }
    let drops_e = matches!(last, 'c' | 'g' | 'v' | 's' | 'z' | 'u')
        || (last == 'l' && !is_vowel(before) && before != 'l')
        || ["at", "ut", "ir", "or", "ur", "ad", "id", "ag"]
            .iter()
            .any(|ending| stem.ends_with(ending));
    if drops_e && !stem.ends_with("ss") {
        format!("{stem}e")
    } else {
        stem.to_owned()
    }
}

fn third_person(base: &str) -> String {
    if let Some(stem) = consonant_y(base) {
        return format!("{stem}ies");
    }
    let hisses = ["s", "x", "z", "ch", "sh", "o"]
        .iter()
        .any(|ending| base.ends_with(ending));
    format!("{base}{}", if hisses { "es" } else { "s" })
}

fn pasts(base: &str) -> Vec<String> {
    if let Some(stem) = consonant_y(base) {
        return vec![format!("{stem}ied")];
    }
    if base.ends_with('e') {
        return vec![format!("{base}d")];
    }
    stems(base)
        .into_iter()
        .map(|stem| format!("{stem}ed"))
        .collect()
}

/// The stems before "ing" or "ed": "drop" and "dropp", because "canceled" and "cancelled" are both written.
fn stems(base: &str) -> Vec<String> {
    if let Some(stem) = base.strip_suffix("ie") {
        return vec![format!("{stem}y")];
    }
    if let Some(stem) = base.strip_suffix('e').filter(|stem| !stem.ends_with('e')) {
        return vec![stem.to_owned()];
    }
    let mut stems = vec![base.to_owned()];
    let mut from_end = base.chars().rev();
    if let (Some(last), Some(before), Some(first)) =
        (from_end.next(), from_end.next(), from_end.next())
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
    base.strip_suffix('y')
        .filter(|stem| stem.chars().last().is_some_and(|before| !is_vowel(before)))
}

fn is_vowel(letter: char) -> bool {
    matches!(letter, 'a' | 'e' | 'i' | 'o' | 'u')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn base_of(vocabulary: &Vocabulary, word: &str) -> String {
        vocabulary.form(word).map_or_else(
            || "(none)".to_owned(),
            |form| vocabulary.base(form).to_owned(),
        )
    }

    #[test]
    fn every_inflection_of_the_listed_verbs_is_known() {
        let vocabulary = Vocabulary::new(Extraction::Literal);
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
        let vocabulary = Vocabulary::new(Extraction::Literal);
        for word in [
            "settings",
            "poster",
            "address",
            "closet",
            "senders",
            "additional",
            "recreate",
            "creation",
        ] {
            assert_eq!(base_of(&vocabulary, word), "(none)", "{word}");
        }
    }

    #[test]
    fn only_participles_make_a_passive() {
        let vocabulary = Vocabulary::new(Extraction::Literal);
        let is_participle = |word: &str| vocabulary.form(word).unwrap().is_participle;
        assert!(
            ["created", "sent", "written", "set", "put", "dropped"]
                .into_iter()
                .all(is_participle)
        );
        assert!(
            !["create", "wrote", "sends", "setting"]
                .into_iter()
                .any(is_participle)
        );
    }

    #[test]
    fn extra_verbs_are_inflected_too() {
        let vocabulary = Vocabulary::new(Extraction::Literal).with(&[
            "Notify".to_owned(),
            "pay".to_owned(),
            "refund".to_owned(),
        ]);
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

    #[test]
    fn an_inflected_verb_is_named_by_its_base() {
        for (word, base) in [
            ("notified", "notify"),
            ("refunded", "refund"),
            ("charged", "charge"),
            ("shipped", "ship"),
            ("activated", "activate"),
            ("settled", "settle"),
            ("shipping", "ship"),
            ("refunds", "refund"),
            ("notifies", "notify"),
            ("bought", "buy"),
        ] {
            assert_eq!(uninflected(word).as_deref(), Some(base), "{word}");
        }
        for word in [
            "refund", "embed", "feed", "process", "focus", "ping", "set", "discuss",
        ] {
            assert_eq!(uninflected(word), None, "{word}");
        }
    }
}
