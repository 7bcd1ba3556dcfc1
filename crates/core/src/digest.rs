//! Are two contents the same, told by a short text?

use serde_json::Value;

/// `blake3:` and 32 hex digits.
pub fn digest(bytes: &[u8]) -> String {
    let hash = blake3::hash(bytes).to_hex();
    format!("blake3:{}", &hash[..32])
}

/// The digest of a value, whatever order its keys have.
pub fn digest_of_value(value: &Value) -> String {
    let mut canonical = String::new();
    write_canonical(value, &mut canonical);
    digest(canonical.as_bytes())
}

/// Sorted keys and no white space, whatever order the map keeps.
pub(crate) fn write_canonical(value: &Value, out: &mut String) {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_unstable_by_key(|(key, _)| *key);
            out.push('{');
            for (index, (key, value)) in fields.into_iter().enumerate() {
                out.push_str(if index == 0 { "" } else { "," });
                out.push_str(&Value::from(key.as_str()).to_string());
                out.push(':');
                write_canonical(value, out);
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index == 0 { "" } else { "," });
                write_canonical(item, out);
            }
            out.push(']');
        }
        scalar => out.push_str(&scalar.to_string()),
    }
}
