//! Reads values from JavaScript. TypeScript has checked their types; missing ones are `undefined`.

use std::time::Duration;

use js_sys::{Array, Object, Reflect, Uint8Array};
use tidebox_core::{Background, Error, ExecuteRequest};
use wasm_bindgen::{JsCast, JsValue};

use crate::name::name;

/// Returns a property, or `undefined` if it cannot be read.
pub fn get(object: &JsValue, name: &'static str) -> JsValue {
    // `Reflect.get` would throw, and an exception costs more than all other options together.
    if object.is_undefined() || object.is_null() {
        return JsValue::UNDEFINED;
    }
    Reflect::get(object, &self::name(name)).unwrap_or(JsValue::UNDEFINED)
}

/// Returns a string property.
pub fn text(object: &JsValue, name: &'static str) -> Option<String> {
    get(object, name).as_string()
}

/// Returns a number property.
pub fn number(object: &JsValue, name: &'static str) -> Option<f64> {
    get(object, name).as_f64()
}

/// Returns a count property. JavaScript numbers are exact up to 2^53; larger ones and infinity saturate.
pub fn count(object: &JsValue, name: &'static str) -> Option<u64> {
    number(object, name).map(to_integer)
}

/// Returns the integer part, 0 for negative numbers and NaN.
pub fn to_integer(number: f64) -> u64 {
    number as u64
}

/// Returns a property in milliseconds as a duration.
pub fn duration(object: &JsValue, name: &'static str) -> Option<Duration> {
    let milliseconds = number(object, name)?;
    Some(Duration::try_from_secs_f64(milliseconds.max(0.0) / 1e3).unwrap_or(Duration::MAX))
}

/// Returns the UTF-8 of a string, or the bytes of an array.
pub fn bytes(value: &JsValue) -> Vec<u8> {
    match value.as_string() {
        Some(text) => text.into_bytes(),
        None => value.dyn_ref::<Uint8Array>().map(Uint8Array::to_vec).unwrap_or_default(),
    }
}

/// Returns the entries of an object, in order.
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

/// Returns the items of an array, or nothing for other values.
pub fn list(value: &JsValue) -> Vec<JsValue> {
    value.dyn_ref::<Array>().map(Array::to_vec).unwrap_or_default()
}

/// Returns the string entries of an object.
pub fn variables(object: &JsValue) -> Vec<(String, String)> {
    entries(object).into_iter().map(|(name, value)| (name, value.as_string().unwrap_or_default())).collect()
}

/// Returns the treatment of processes that a command leaves.
pub fn background(object: &JsValue) -> Background {
    if text(object, "background").as_deref() == Some("keep") { Background::Keep } else { Background::End }
}

/// Creates a request from a command line, or from an array of a program and its arguments.
///
/// # Errors
/// Those of [`ExecuteRequest::from_arguments`].
pub fn execute_request(command: &JsValue) -> Result<ExecuteRequest, Error> {
    match command.as_string() {
        Some(line) => Ok(ExecuteRequest::new(line)),
        None => ExecuteRequest::from_arguments(list(command).iter().filter_map(JsValue::as_string)),
    }
}
