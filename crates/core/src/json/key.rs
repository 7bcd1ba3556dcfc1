//! How is the key of an object read without a copy of it?

use serde::Deserialize;
use std::borrow::Cow;

/// A key of the text, copied only if it is escaped. A plain `Cow` is always a copy.
#[derive(Deserialize, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key<'k>(#[serde(borrow)] pub(crate) Cow<'k, str>);
