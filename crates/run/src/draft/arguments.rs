//! Which arguments can be sent to a tool of which only the schema is known?

use super::hints::hint;
use mcptest_core::schema::sample_of;
use mcptest_replay::Walk;
use serde_json::{Map, Value, json};
use std::path::Path;

/// The values for arguments in the server's environment.
#[derive(Debug, Default)]
pub(super) struct ServerFolder {
    /// The first folder in the server's command, otherwise its start folder; `None` for a server
    /// with a URL, which sees other folders.
    pub(super) folder: Option<String>,
}

impl ServerFolder {
    /// The surroundings of a server that is started by these words.
    pub(super) fn from_command(words: &[String]) -> Self {
        let given = words.iter().skip(1).find(|word| Path::new(word).is_dir());
        let started_in = || (!words.is_empty()).then(|| ".".to_owned());
        Self {
            folder: given.cloned().or_else(started_in),
        }
    }

    /// A file in the folder that is not hidden.
    pub(super) fn file(&self) -> Option<String> {
        let folder = Path::new(self.folder.as_ref()?);
        let walked = Walk {
            deepest: 1,
            ..Walk::NOTHING_HIDDEN
        }
        .below(folder)
        .ok()?;
        let file = walked
            .files
            .into_iter()
            .map(|file| folder.join(file))
            .find(|file| file.is_file())?;
        Some(file.strip_prefix(".").unwrap_or(&file).to_str()?.to_owned())
    }
}

/// Arguments that match the schema: the given ones and, for other required ones, defaults, examples
/// and choices, hints in names and descriptions, otherwise the simplest values. `None` if no
/// combination matches.
pub(super) fn arguments(
    schema: &Value,
    given: &Map<String, Value>,
    server_folder: &ServerFolder,
) -> Option<Value> {
    let mut wanted = schema.clone();
    if let Some(Value::Array(required)) = wanted.get_mut("required") {
        required.retain(|name| name.as_str().is_none_or(|name| !given.contains_key(name)));
    }
    let hinted = with_hints(&wanted, server_folder);
    let made = [&hinted, &wanted]
        .into_iter()
        .find_map(|schema| sample_of(schema).filter(Value::is_object));
    let Some(Value::Object(mut made)) = made else {
        return None;
    };
    made.extend(given.clone());
    Some(Value::Object(made))
}

fn with_hints(schema: &Value, server_folder: &ServerFolder) -> Value {
    let mut schema = schema.clone();
    let required: Vec<String> = schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|name| name.as_str().map(str::to_owned))
        .collect();
    let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) else {
        return schema;
    };
    for (name, property) in properties
        .iter_mut()
        .filter(|(name, _)| required.contains(name))
    {
        let says = ["const", "default", "examples", "enum", "format"];
        if says.iter().all(|key| property.get(*key).is_none())
            && let Some(hint) = hint(name, property, server_folder)
        {
            property["examples"] = json!([hint]);
        }
    }
    schema
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(schema: &Value, folder: Option<&str>) -> Option<Value> {
        arguments(
            schema,
            &Map::new(),
            &ServerFolder {
                folder: folder.map(str::to_owned),
            },
        )
    }

    #[test]
    fn descriptions_and_folders_help_and_what_is_optional_is_left_out() {
        let schema = json!({"type": "object", "required": ["zone", "path", "kind"], "properties": {
            "zone": {"type": "string", "description": "IANA name (e.g., 'America/New_York', 'Europe/London')"},
            "path": {"type": "string"}, "kind": {"enum": ["a", "b"]}, "more": {"type": "string"}}});
        assert_eq!(
            made(&schema, Some("/srv")),
            Some(json!({"zone": "America/New_York", "path": "/srv", "kind": "a"}))
        );
        assert_eq!(made(&schema, None).unwrap()["path"], "text");
    }

    #[test]
    fn what_is_given_is_sent_and_the_rest_is_made() {
        let schema = json!({"type": "object", "required": ["id", "zone"], "properties": {
            "id": {"type": "string", "pattern": "^[0-9]{9}$"}, "zone": {"type": "string"}, "deep": {"type": "boolean"}}});
        let given = json!({"id": "123456789", "deep": true});
        let sent = arguments(
            &schema,
            given.as_object().unwrap(),
            &ServerFolder::default(),
        );
        assert_eq!(
            sent,
            Some(json!({"id": "123456789", "zone": "UTC", "deep": true}))
        );
    }

    #[test]
    fn an_example_that_does_not_fit_is_not_used() {
        let schema = json!({"type": "object", "required": ["at"], "properties":
            {"at": {"type": "string", "maxLength": 4, "description": "for example \"2026-01-01\""}}});
        assert_eq!(made(&schema, None), Some(json!({"at": "text"})));
    }

    #[test]
    fn what_cannot_be_guessed_has_no_arguments() {
        let schema = json!({"type": "object", "required": ["id"], "properties": {"id": {"type": "string", "pattern": "^[0-9]{9}$"}}});
        assert_eq!(made(&schema, None), None);
        assert_eq!(made(&json!({}), None), Some(json!({})));
        assert_eq!(made(&json!({"type": "array"}), None), None);
    }

    #[test]
    fn a_file_is_one_of_the_folder_that_is_not_hidden() {
        let folder = tempfile::tempdir().unwrap();
        for name in [".env", "b.txt", "a.md"] {
            std::fs::write(folder.path().join(name), "x").unwrap();
        }
        let server_folder = ServerFolder {
            folder: folder.path().to_str().map(str::to_owned),
        };
        assert!(server_folder.file().unwrap().ends_with("a.md"));
        assert_eq!(ServerFolder::default().file(), None);
    }
}
