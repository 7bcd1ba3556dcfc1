//! How are the fields of a recording read? Borrowed if possible, and objects only from objects.

use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::marker::PhantomData;

/// An object. serde's derived readers would also accept a list and read its items as fields.
struct Object<T>(T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        reader.deserialize_map(ObjectVisitor(PhantomData))
    }
}

struct ObjectVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
    type Value = Object<T>;

    fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(Object)
    }
}

pub(super) fn maybe_objects<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    reader: D,
) -> Result<Option<Vec<T>>, D::Error> {
    let objects: Option<Vec<Object<T>>> = Option::deserialize(reader)?;
    Ok(objects.map(|objects| objects.into_iter().map(|object| object.0).collect()))
}

pub(super) fn objects<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    reader: D,
) -> Result<Vec<T>, D::Error> {
    Ok(maybe_objects(reader)?.unwrap_or_default())
}

pub(super) fn object<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    reader: D,
) -> Result<T, D::Error> {
    Ok(Option::<Object<T>>::deserialize(reader)?
        .map(|object| object.0)
        .unwrap_or_default())
}

/// Reads a null as an absent field.
pub(super) fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    reader: D,
) -> Result<T, D::Error> {
    Ok(Option::deserialize(reader)?.unwrap_or_default())
}

/// The verbatim JSON, null included.
pub(super) fn kept<'de: 'a, 'a, D: Deserializer<'de>>(
    reader: D,
) -> Result<Option<&'a RawValue>, D::Error> {
    <&RawValue>::deserialize(reader).map(Some)
}

/// A string that is borrowed unless it has escapes. Serde's `Option<Cow<str>>` always copies.
pub(super) fn borrowed<'de: 'a, 'a, D: Deserializer<'de>>(
    reader: D,
) -> Result<Option<Cow<'a, str>>, D::Error> {
    #[derive(Deserialize)]
    #[serde(transparent)]
    struct Borrowed<'a>(#[serde(borrow)] Cow<'a, str>);
    Ok(Option::<Borrowed<'a>>::deserialize(reader)?.map(|text| text.0))
}
