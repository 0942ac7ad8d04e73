//! The network log for JavaScript.

use js_sys::Array;
use tidebox_core::network::{NetworkEvent, RequestOutcome};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::js::{count, object};
use crate::sandbox::Sandbox;

#[wasm_bindgen(js_class = SandboxKernel)]
impl Sandbox {
    /// Returns all network requests: `events`, and the number of `omitted` ones.
    #[wasm_bindgen(js_name = networkLog)]
    pub fn network_log(&self) -> JsValue {
        let log = self.backend.network_log();
        let events: Array = log.events.iter().map(event).collect();
        object([("events", events.into()), ("omitted", count(log.omitted))])
    }
}

fn event(event: &NetworkEvent) -> JsValue {
    let word = JsValue::from_str;
    let (decision, cause, message) = match &event.outcome {
        RequestOutcome::InProgress => ("underway", None, None),
        RequestOutcome::Completed => ("answered", None, None),
        RequestOutcome::Denied(kind, message) => ("refused", Some(kind.as_str()), Some(message)),
        RequestOutcome::Failed(kind, message) => ("failed", Some(kind.as_str()), Some(message)),
        _ => ("cancelled", None, None),
    };
    object([
        ("atMs", (event.at.as_secs_f64() * 1e3).into()),
        ("method", word(&event.method)),
        ("url", word(&event.url)),
        ("decision", word(decision)),
        ("cause", cause.map_or(JsValue::UNDEFINED, word)),
        ("message", message.map_or(JsValue::UNDEFINED, |message| word(message))),
        ("status", event.status.map_or(JsValue::UNDEFINED, JsValue::from)),
        ("sentBytes", count(event.sent_bytes)),
        ("receivedBytes", count(event.received_bytes)),
        ("durationMs", (event.duration.as_secs_f64() * 1e3).into()),
        ("credentials", event.credentials.iter().map(|name| word(name)).collect::<Array>().into()),
    ])
}
