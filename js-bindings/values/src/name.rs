//! Names of properties as strings of JavaScript. Each is decoded once, because that costs as much as reading the property.

use std::cell::RefCell;
use std::collections::BTreeMap;

use wasm_bindgen::JsValue;

thread_local! {
    static NAMES: RefCell<BTreeMap<&'static str, JsValue>> = const { RefCell::new(BTreeMap::new()) };
}

/// Returns a name as a string of JavaScript.
pub(crate) fn name(name: &'static str) -> JsValue {
    NAMES.with_borrow_mut(|names| names.entry(name).or_insert_with(|| JsValue::from_str(name)).clone())
}
