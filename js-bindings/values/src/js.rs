//! Values of JavaScript: conversion of neutral ones, and objects of plain values.

use js_sys::{Array, Object, Reflect, Uint8Array};
use tidebox_core::{Error, ErrorKind};
use wasm_bindgen::JsValue;

use crate::name::name;
use crate::neutral::Value;
use crate::response;

impl From<Value> for JsValue {
    fn from(value: Value) -> Self {
        match value {
            Value::Undefined => Self::UNDEFINED,
            Value::Null => Self::NULL,
            Value::Bool(value) => value.into(),
            Value::Number(number) => number.into(),
            Value::Text(text) => Self::from_str(&text),
            Value::Bytes(bytes) => Uint8Array::from(bytes.as_slice()).into(),
            Value::List(items) => items.into_iter().map(Self::from).collect::<Array>().into(),
            Value::Object(properties) => object(properties.into_iter().map(|(name, value)| (name, Self::from(value)))),
        }
    }
}

/// Creates an object with these properties, omitting those that are `undefined`.
pub fn object(properties: impl IntoIterator<Item = (&'static str, JsValue)>) -> JsValue {
    let object = Object::new();
    for (name, value) in properties.into_iter().filter(|(_, value)| !value.is_undefined()) {
        // Setting a property of a plain object cannot fail.
        let _ = Reflect::set(&object, &self::name(name), &value);
    }
    object.into()
}

/// Creates an object whose names are data, such as labels.
pub fn dictionary<'a>(entries: impl IntoIterator<Item = (&'a str, JsValue)>) -> JsValue {
    let object = Object::new();
    for (name, value) in entries {
        // As in `object`.
        let _ = Reflect::set(&object, &JsValue::from_str(name), &value);
    }
    object.into()
}

/// Decodes bytes; U+FFFD replaces invalid UTF-8.
pub fn text(bytes: &[u8]) -> JsValue {
    JsValue::from_str(&String::from_utf8_lossy(bytes))
}

/// Converts a count.
pub fn count(n: u64) -> JsValue {
    JsValue::from_f64(n as f64)
}

/// Converts an error to the object that is thrown to TypeScript, which converts it to a result or a `SandboxError`.
pub fn failure(error: &Error) -> JsValue {
    response::failure(error).into()
}

/// Creates an error object with this message.
pub fn invalid(operation: &'static str, message: &str) -> JsValue {
    failure(&Error::new(ErrorKind::InvalidRequest, operation, message))
}
