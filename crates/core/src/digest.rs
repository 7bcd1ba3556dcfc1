//! Are two contents the same, told by a short text?

use serde::{Serialize, Serializer};
use serde_json::Value;

/// `blake3:` and 32 hex digits.
pub fn digest(bytes: &[u8]) -> String {
    digest_of_parts(&[bytes])
}

/// The digest of these bytes put together.
pub(crate) fn digest_of_parts(parts: &[&[u8]]) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(part);
    }
    format!("blake3:{}", &hasher.finalize().to_hex()[..32])
}

/// The digest of a value, whatever order its keys have.
pub fn digest_of_value(value: &Value) -> String {
    digest(canonical(value).as_bytes())
}

/// The value with sorted keys and no white space, whatever order the map keeps.
pub(crate) fn canonical(value: &Value) -> String {
    serde_json::to_string(&Sorted(value)).unwrap_or_default()
}

struct Sorted<'v>(&'v Value);

impl Serialize for Sorted<'_> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Object(fields) => {
                let mut fields: Vec<_> = fields.iter().collect();
                fields.sort_unstable_by_key(|(key, _)| *key);
                out.collect_map(fields.into_iter().map(|(key, value)| (key, Sorted(value))))
            }
            Value::Array(items) => out.collect_seq(items.iter().map(Sorted)),
            scalar => scalar.serialize(out),
        }
    }
}
