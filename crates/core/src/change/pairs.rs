//! Which items of two lists are the same item?

use std::collections::{BTreeMap, VecDeque};

/// The items of two lists, each in the order of its list.
#[derive(Debug)]
pub struct Pairs<'t, T> {
    /// The items of the earlier list.
    pub before: Vec<Paired<'t, T>>,
    /// Items that only the later list has.
    pub only_after: Vec<&'t T>,
}

/// An item of the earlier list.
#[derive(Debug)]
pub struct Paired<'t, T> {
    /// The item.
    pub item: &'t T,
    /// The item in the later list, if it has it.
    pub after: Option<&'t T>,
}

impl<'t, T> Pairs<'t, T> {
    /// Items in both lists, the earlier version first.
    pub fn both(&self) -> impl Iterator<Item = (&'t T, &'t T)> {
        self.before
            .iter()
            .filter_map(|paired| Some((paired.item, paired.after?)))
    }

    /// Items that only the earlier list has.
    pub fn only_before(&self) -> impl Iterator<Item = &'t T> {
        self.before
            .iter()
            .filter(|paired| paired.after.is_none())
            .map(|paired| paired.item)
    }
}

/// Pairs the items with equal identity. Then pairs two remaining items that `may_be_same` if
/// neither has another candidate: the item has moved, or one list lacks part of its identity.
pub fn pair_items<'t, T, Identity: Ord>(
    before: &'t [T],
    after: &'t [T],
    identity: impl Fn(&'t T) -> Identity,
    may_be_same: impl Fn(&T, &T) -> bool,
) -> Pairs<'t, T> {
    let mut partners = partners_by_identity(before, after, identity);
    pair_moved(before, after, &mut partners, may_be_same);
    let is_free = unpartnered(&partners, after.len());
    let partnered = before.iter().zip(partners);
    let free = after.iter().zip(is_free).filter(|(_, is_free)| *is_free);
    Pairs {
        before: partnered
            .map(|(item, partner)| Paired {
                item,
                after: partner.map(|at| &after[at]),
            })
            .collect(),
        only_after: free.map(|(item, _)| item).collect(),
    }
}

/// For each item of the earlier list the first free item of the later one with its identity.
fn partners_by_identity<'t, T, Identity: Ord>(
    before: &'t [T],
    after: &'t [T],
    identity: impl Fn(&'t T) -> Identity,
) -> Vec<Option<usize>> {
    let mut unpaired: BTreeMap<Identity, VecDeque<usize>> = BTreeMap::new();
    for (at, item) in after.iter().enumerate() {
        unpaired.entry(identity(item)).or_default().push_back(at);
    }
    before
        .iter()
        .map(|item| unpaired.get_mut(&identity(item))?.pop_front())
        .collect()
}

/// Pairs two unmatched items if each is the only candidate of the other.
fn pair_moved<T>(
    before: &[T],
    after: &[T],
    partners: &mut [Option<usize>],
    may_be_same: impl Fn(&T, &T) -> bool,
) {
    let rest_before: Vec<usize> = (0..before.len())
        .filter(|&at| partners[at].is_none())
        .collect();
    let is_free = unpartnered(partners, after.len());
    let rest_after: Vec<usize> = (0..after.len()).filter(|&at| is_free[at]).collect();
    for &at in &rest_before {
        let candidate = only(&rest_after, |&other| {
            may_be_same(&before[at], &after[other])
        });
        let Some(candidate) = candidate else { continue };
        let mutual = only(&rest_before, |&one| {
            may_be_same(&before[one], &after[candidate])
        });
        if mutual.is_some() {
            partners[at] = Some(candidate);
        }
    }
}

/// For each item of the later list, true if it is not a partner.
fn unpartnered(partners: &[Option<usize>], after: usize) -> Vec<bool> {
    let mut is_free = vec![true; after];
    for &at in partners.iter().flatten() {
        is_free[at] = false;
    }
    is_free
}

/// The place that fits, if there is only one.
fn only(places: &[usize], fits: impl Fn(&usize) -> bool) -> Option<usize> {
    let mut fitting = places.iter().copied().filter(fits);
    let first = fitting.next()?;
    fitting.next().is_none().then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each pair as `before>after`, then the items of only one list.
    fn paired(before: &[(&str, &str)], after: &[(&str, &str)]) -> Vec<String> {
        let pairs = pair_items(before, after, |item| *item, |one, other| one.1 == other.1);
        let said = |item: &(&str, &str)| format!("{}.{}", item.0, item.1);
        let both = pairs
            .both()
            .map(|(one, other)| format!("{}>{}", said(one), said(other)));
        let gone = pairs.only_before().map(|item| format!("-{}", said(item)));
        let new = pairs
            .only_after
            .iter()
            .map(|item| format!("+{}", said(item)));
        both.chain(gone).chain(new).collect()
    }

    #[test]
    fn an_item_keeps_its_identity_before_it_may_have_moved() {
        assert_eq!(
            paired(&[("s", "a"), ("t", "a")], &[("u", "a"), ("s", "a")]),
            ["s.a>s.a", "t.a>u.a"]
        );
    }

    #[test]
    fn an_item_with_two_candidates_has_none() {
        assert_eq!(
            paired(&[("s", "a")], &[("t", "a"), ("u", "a")]),
            ["-s.a", "+t.a", "+u.a"]
        );
        assert_eq!(
            paired(&[("s", "a"), ("t", "a")], &[("u", "a")]),
            ["-s.a", "-t.a", "+u.a"]
        );
    }

    #[test]
    fn equal_items_are_paired_in_their_order() {
        assert_eq!(
            paired(&[("s", "a"), ("s", "a")], &[("s", "a")]),
            ["s.a>s.a", "-s.a"]
        );
    }
}
