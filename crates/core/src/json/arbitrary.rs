//! Arbitrary JSON for the laws of this module.

use proptest::prelude::*;
use serde_json::Value;

pub(crate) fn any_json() -> impl Strategy<Value = Value> {
    let number = prop_oneof![
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (-3_i64..4).prop_map(Value::from),
        (-6_i32..7).prop_map(|half| Value::from(f64::from(half) / 2.0)),
        any::<f64>().prop_map(Value::from),
        (0_i32..80).prop_map(|power| Value::from(2_f64.powi(power))),
        (0_u32..64).prop_map(|power| Value::from(1_u64 << power)),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        number,
        "[a-c]{0,2}".prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec(("[a-d]{0,2}", inner), 0..5)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}
