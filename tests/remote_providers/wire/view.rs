//! Sent requests as comparable names and values: identifiers, boundaries and times are replaced.

use std::collections::BTreeMap;

use axum::http::HeaderValue;
use serde_json::Value;
use tidebox_remote_adapters::transport::multipart;

use super::message::fields;
use super::proxy::Call;

/// One request or message with all of its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct View {
    pub(crate) step: String,
    pub(crate) name: String,
    pub(crate) values: BTreeMap<String, String>,
}

/// Headers that describe only the client, its connection, its timeouts and its attempts.
const OF_THE_CLIENT: [&str; 34] = [
    "accept",
    "accept-encoding",
    "accept-language",
    "baggage",
    "browser",
    "cache-control",
    "connection",
    "content-length",
    "grpc-accept-encoding",
    "grpc-timeout",
    "host",
    "lang",
    "lang_version",
    "package_version",
    "pragma",
    "publisher",
    "sdk_runtime",
    "sec-fetch-mode",
    "sentry-trace",
    "system",
    "te",
    "traceparent",
    "transfer-encoding",
    "upgrade",
    "user-agent",
    "x-modal-client-type",
    "x-modal-client-version",
    "x-modal-host",
    "x-modal-node",
    "x-modal-platform",
    "x-modal-python-version",
    "x-modal-timestamp",
    "x-retry-attempt",
    "x-throttle-retry-attempt",
];

/// Minimum length of a token with a digit that counts as an identifier or a time.
const LONG: usize = 12;

/// Maximum length of a shown and compared value.
const SHOWN: usize = 90;

/// Returns whether a token is an identifier or a time. Identifiers are random, and one in fifty has no digit.
fn is_id(word: &str) -> bool {
    let digits = word.chars().filter(char::is_ascii_digit).count();
    let drawn = word.rsplit(['-', '_']).next().filter(|last| last.len() < word.len()).unwrap_or_default();
    let of_letters = drawn.len() >= LONG
        && drawn.contains(|letter: char| letter.is_ascii_uppercase())
        && drawn.contains(|letter: char| letter.is_ascii_lowercase());
    // The version digit of a call does not make a token an identifier; a random token with this suffix has other digits.
    let of_a_version = usize::from(word.ends_with("V2"));
    let has_digits = word.len() >= LONG && digits > of_a_version;
    of_letters || has_digits || word.len() >= 10 && digits == word.len()
}

#[test]
fn identifiers_without_a_digit_are_identifiers() {
    assert_eq!(without_ids("/v1/exec_MDuZnGyCdCRiGAbtDsATEU/wait_for_status"), "/v1/<id>/wait_for_status");
    assert_eq!(without_ids("sb-GUIAKfhVGiirkepbIRbAofxRV 1700000000 TaskExecStdioRead"), "<id> <id> TaskExecStdioRead");
    assert_eq!(without_ids("x-Deno-Sandbox/SandboxGetTaskIdV2"), "x-Deno-Sandbox/SandboxGetTaskIdV2");
}

#[test]
fn a_random_identifier_with_a_version_suffix_is_detected() {
    assert_eq!(without_ids("6zGYmK6fQBU8SXUfucMyKjB0fygwBagQ7dFfdjV2"), "<id>");
}

fn without_ids(text: &str) -> String {
    let mut shown = String::new();
    let mut word = String::new();
    for letter in text.chars().map(Some).chain([None]) {
        match letter {
            Some(letter) if letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_') => word.push(letter),
            other => {
                shown.push_str(if is_id(&word) { "<id>" } else { &word });
                word.clear();
                shown.extend(other);
            }
        }
    }
    shown
}

fn value(text: &str) -> String {
    let text = without_ids(text);
    let line: String = text.chars().map(|letter| if letter.is_control() { '␤' } else { letter }).collect();
    match line.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}

/// Returns the views of calls, in order. `id` is the sandbox, whose name need not look like an identifier.
pub(crate) fn views(calls: &[Call], id: &str) -> Vec<View> {
    let mut views = Vec::new();
    for call in calls {
        let mut call = call.clone();
        call.path = call.path.replace(id, "<id>");
        for given in call.headers.values_mut().filter(|given| given.as_bytes() == id.as_bytes()) {
            *given = HeaderValue::from_static("<id>");
        }
        let call = &call;
        let mut values = BTreeMap::new();
        for pair in call.query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, given) = pair.split_once('=').unwrap_or((pair, ""));
            values.insert(format!("query {name}"), value(given));
        }
        for (name, given) in &call.headers {
            let name = name.as_str();
            let skipped = OF_THE_CLIENT.contains(&name)
                || name.starts_with("sec-websocket-")
                || name.starts_with("x-stainless-")
                || name == "content-type" && call.body.is_empty();
            if !skipped {
                values.insert(format!("header {name}"), header(name, &String::from_utf8_lossy(given.as_bytes())));
            }
        }
        body(call, &mut values);
        views.push(View {
            step: call.step.clone(),
            name: format!("{} {}", call.method, without_ids(&call.path)),
            values,
        });
        for (step, message) in call.messages.iter().filter(|(_, message)| message != "ping") {
            let message: Value = serde_json::from_str(message).expect("messages are JSON");
            let mut values = BTreeMap::new();
            flat("", &message["params"], &mut values);
            let name = format!("message {}", message["method"].as_str().unwrap_or_default());
            views.push(View { step: step.clone(), name, values });
        }
    }
    views
}

fn header(name: &str, given: &str) -> String {
    match (name, given.split_once("boundary=")) {
        ("content-type", Some((before, _))) => format!("{before}boundary=<boundary>"),
        // Random as a whole, so that one in a thousand has no digit.
        ("x-access-token", _) => "<token>".to_owned(),
        // The configuration of a sandbox, in a header.
        ("x-deno-sandbox-config", _) => {
            use base64::Engine as _;
            let bytes = base64::engine::general_purpose::STANDARD.decode(given).expect("base64");
            let config: BTreeMap<String, Value> = serde_json::from_slice(&bytes).expect("JSON");
            value(&serde_json::to_string(&config).expect("JSON"))
        }
        _ => value(given),
    }
}

fn body(call: &Call, values: &mut BTreeMap<String, String>) {
    let media_type = call.headers.get("content-type").and_then(|value| value.to_str().ok()).unwrap_or_default();
    if call.body.is_empty() {
    } else if media_type.starts_with("application/grpc") {
        for (number, message) in framed(&call.body).into_iter().enumerate() {
            fields(&format!("message {number}"), &message, &mut |name, text| {
                // A field may occur several times.
                let before = values.remove(&name).map_or_else(String::new, |before| format!("{before} | "));
                values.insert(name, before + &value(&text));
            });
        }
    } else if media_type.starts_with("application/connect+json") {
        for (number, message) in framed(&call.body).into_iter().enumerate() {
            flat(&format!("message {number}"), &serde_json::from_slice(&message).expect("JSON"), values);
        }
    } else if media_type.starts_with("application/json") {
        flat("body", &serde_json::from_slice(&call.body).expect("JSON"), values);
    } else if let Some(parts) = multipart::read(media_type, &call.body) {
        for part in parts {
            let file = part.file.map_or_else(String::new, |file| format!(" (file {})", without_ids(&file)));
            values.insert(format!("part {}{file}", part.name), value(&String::from_utf8_lossy(&part.content)));
        }
    } else {
        values.insert("body".to_owned(), value(&String::from_utf8_lossy(&call.body)));
    }
}

/// Messages prefixed with a byte and their length.
fn framed(mut body: &[u8]) -> Vec<Vec<u8>> {
    let mut messages = Vec::new();
    while let [_, a, b, c, d, rest @ ..] = body {
        let length = u32::from_be_bytes([*a, *b, *c, *d]) as usize;
        messages.push(rest[..length].to_vec());
        body = &rest[length..];
    }
    messages
}

fn flat(name: &str, json: &Value, values: &mut BTreeMap<String, String>) {
    let below = |field: &str| if name.is_empty() { field.to_owned() } else { format!("{name}.{field}") };
    match json {
        Value::Object(object) if !object.is_empty() => {
            object.iter().for_each(|(field, json)| flat(&below(&without_ids(field)), json, values));
        }
        Value::Array(list) if !list.is_empty() => {
            list.iter().enumerate().for_each(|(at, json)| flat(&below(&at.to_string()), json, values));
        }
        Value::String(text) => drop(values.insert(name.to_owned(), value(text))),
        other => drop(values.insert(name.to_owned(), value(&other.to_string()))),
    }
}
