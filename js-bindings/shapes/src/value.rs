//! Values as JavaScript gives them. TypeScript has checked their types already; what is missing is absent.

use std::time::Duration;

use js_sys::{Array, Object, Reflect, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};

/// A property; `undefined` for one that cannot be read.
pub fn get(object: &JsValue, name: &str) -> JsValue {
    Reflect::get(object, &JsValue::from_str(name)).unwrap_or(JsValue::UNDEFINED)
}

/// A property that is a text.
pub fn text(object: &JsValue, name: &str) -> Option<String> {
    get(object, name).as_string()
}

/// A property that is a number.
pub fn number(object: &JsValue, name: &str) -> Option<f64> {
    get(object, name).as_f64()
}

/// A count. JavaScript's numbers hold up to 2^53 exactly; more, and infinity, mean the most there is.
pub fn count(object: &JsValue, name: &str) -> Option<u64> {
    number(object, name).map(whole)
}

/// The whole part, 0 for what is negative and for what is no number.
pub fn whole(number: f64) -> u64 {
    number as u64
}

/// A property that is a number of milliseconds.
pub fn duration(object: &JsValue, name: &str) -> Option<Duration> {
    let milliseconds = number(object, name)?;
    Some(Duration::try_from_secs_f64(milliseconds.max(0.0) / 1e3).unwrap_or(Duration::MAX))
}

/// Text as its UTF-8, bytes as they are.
pub fn bytes(value: &JsValue) -> Vec<u8> {
    match value.as_string() {
        Some(text) => text.into_bytes(),
        None => value.dyn_ref::<Uint8Array>().map(Uint8Array::to_vec).unwrap_or_default(),
    }
}

/// Names and values of an object, in its order.
pub fn entries(object: &JsValue) -> Vec<(String, JsValue)> {
    let Some(object) = object.dyn_ref::<Object>() else { return Vec::new() };
    Object::entries(object)
        .iter()
        .map(|entry| {
            let entry = Array::from(&entry);
            (entry.get(0).as_string().unwrap_or_default(), entry.get(1))
        })
        .collect()
}

/// The items of an array; none of what is none.
pub fn list(value: &JsValue) -> Vec<JsValue> {
    value.dyn_ref::<Array>().map(Array::to_vec).unwrap_or_default()
}

/// Names and texts of an object.
pub fn variables(object: &JsValue) -> Vec<(String, String)> {
    entries(object).into_iter().map(|(name, value)| (name, value.as_string().unwrap_or_default())).collect()
}
