//! Which items of a server's catalogue were added, removed or changed, and in which part?

use super::{PlacedChange, compare_parts, pair_items};
use crate::trace::full_name;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// A tool, a resource or a prompt, for comparison with a list from another time.
#[derive(Debug, Clone, PartialEq)]
pub struct CatalogueItem<'c> {
    /// Its server. An item without a server may be the item of that name of any server.
    pub server: Option<&'c str>,
    /// Its name.
    pub name: &'c str,
    /// Its other known properties, in the order in which changes are reported.
    pub parts: Vec<ItemPart<'c>>,
}

/// A part of an item, such as its description.
#[derive(Debug, Clone, PartialEq)]
pub struct ItemPart<'c> {
    /// Its key.
    pub key: &'c str,
    /// Its value, or a digest of the value.
    pub value: Cow<'c, Value>,
}

/// A change of a catalogue.
#[derive(Debug, Clone, PartialEq)]
pub enum CatalogueChange<'c> {
    /// An item that only the later catalogue has.
    Added(&'c CatalogueItem<'c>),
    /// An item that only the earlier catalogue has.
    Removed(&'c CatalogueItem<'c>),
    /// An item of both catalogues with a part that differs.
    Changed {
        /// The item in the later catalogue.
        item: &'c CatalogueItem<'c>,
        /// The part, by its key.
        part: PlacedChange<&'c str, &'c Value>,
    },
}

impl<'c> CatalogueItem<'c> {
    /// The item as `server.name`, or its bare name if the server is unknown.
    pub fn full_name(&self) -> String {
        full_name(self.server, self.name)
    }

    fn identity(&self) -> (Option<&'c str>, &'c str) {
        (self.server, self.name)
    }

    fn may_be_same(&self, other: &Self) -> bool {
        self.name == other.name && (self.server.is_none() || other.server.is_none())
    }

    fn parts(&'c self) -> impl Iterator<Item = (&'c str, &'c Value)> {
        self.parts
            .iter()
            .map(|part| (part.key, part.value.as_ref()))
    }
}

impl<'c> CatalogueChange<'c> {
    /// The item that was added or removed, or that has changed.
    pub fn item(&self) -> &'c CatalogueItem<'c> {
        match self {
            Self::Added(item) | Self::Removed(item) | Self::Changed { item, .. } => item,
        }
    }
}

/// Removed items and changed parts of kept items in the order of the earlier catalogue, then added items. An item that
/// is listed twice counts once.
pub fn compare_catalogues<'c>(
    before: &'c [CatalogueItem<'c>],
    after: &'c [CatalogueItem<'c>],
    is_same: impl Fn(&Value, &Value) -> bool,
) -> Vec<CatalogueChange<'c>> {
    let (before, after) = (listed_once(before), listed_once(after));
    let pairs = pair_items(
        &before,
        &after,
        |item| item.identity(),
        |one, other| one.may_be_same(other),
    );
    let mut changes = Vec::new();
    for paired in &pairs.before {
        let Some(&item) = paired.after else {
            changes.push(CatalogueChange::Removed(paired.item));
            continue;
        };
        let parts = compare_parts(paired.item.parts(), item.parts(), &is_same);
        changes.extend(
            parts
                .into_iter()
                .map(|part| CatalogueChange::Changed { item, part }),
        );
    }
    let added = pairs.only_after.into_iter();
    changes.extend(added.map(|item| CatalogueChange::Added(item)));
    changes
}

fn listed_once<'c>(items: &'c [CatalogueItem<'c>]) -> Vec<&'c CatalogueItem<'c>> {
    let mut known = BTreeSet::new();
    items
        .iter()
        .filter(|item| known.insert(item.identity()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item<'c>(server: Option<&'c str>, name: &'c str, description: &str) -> CatalogueItem<'c> {
        CatalogueItem {
            server,
            name,
            parts: vec![ItemPart {
                key: "description",
                value: Cow::Owned(Value::from(description)),
            }],
        }
    }

    fn changes(before: &[CatalogueItem<'_>], after: &[CatalogueItem<'_>]) -> Vec<String> {
        compare_catalogues(before, after, |one, other| one == other)
            .iter()
            .map(|change| match change {
                CatalogueChange::Added(item) => format!("+ {}", item.full_name()),
                CatalogueChange::Removed(item) => format!("- {}", item.full_name()),
                CatalogueChange::Changed { item, part } => {
                    format!(
                        "{} of {}: {}",
                        part.place,
                        item.full_name(),
                        part.change.word()
                    )
                }
            })
            .collect()
    }

    #[test]
    fn items_are_added_removed_or_changed_in_a_part() {
        let before = [
            item(Some("docs"), "gone", ""),
            item(Some("docs"), "search", "Old."),
        ];
        let after = [
            item(Some("docs"), "new", ""),
            item(Some("docs"), "search", "New."),
            item(Some("docs"), "search", "Listed again."),
        ];
        assert_eq!(
            changes(&before, &after),
            [
                "- docs.gone",
                "description of docs.search: changed",
                "+ docs.new"
            ]
        );
    }

    #[test]
    fn an_item_without_a_server_is_the_one_of_any_server() {
        let bare = [item(None, "search", "")];
        assert!(changes(&bare, &[item(Some("docs"), "search", "")]).is_empty());
        let of_two = [
            item(Some("docs"), "search", ""),
            item(Some("mail"), "search", ""),
        ];
        assert_eq!(
            changes(&bare, &of_two),
            ["- search", "+ docs.search", "+ mail.search"]
        );
        assert!(!changes(&of_two[..1], &of_two[1..]).is_empty());
    }
}
