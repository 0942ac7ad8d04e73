//! The OpenAPI document.

use serde_json::Value;

use crate::client::sandbox_shared;

fn references(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(entries) => {
            for (name, value) in entries {
                match value.as_str() {
                    Some(target) if name == "$ref" => found.push(target.to_owned()),
                    _ => references(value, found),
                }
            }
        }
        Value::Array(values) => values.iter().for_each(|value| references(value, found)),
        _ => {}
    }
}

#[test]
fn the_document_describes_the_routes() {
    let client = sandbox_shared().client("token-a");
    let document = client.get("/openapi.json").json();
    assert_eq!(document["openapi"], "3.1.0");
    let mut found = Vec::new();
    references(&document, &mut found);
    assert!(found.len() > 20, "{found:?}");
    for target in found {
        let pointer = target.strip_prefix('#').expect("a local reference");
        assert!(document.pointer(pointer).is_some(), "{target}");
    }
    let mut operations = 0;
    let mut ids = std::collections::BTreeSet::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            operations += 1;
            assert!(ids.insert(operation["operationId"].to_string()), "{operation}");
            assert!(!operation["summary"].as_str().unwrap().is_empty());
            let concrete = path.replace("{id}", "none").replace("{process}", "none").replace("{snapshot}", "none");
            let reply = client.send(&method.to_uppercase(), &concrete, "", b"");
            assert_ne!(reply.status, 405, "{method} {path}");
            let is_missing_route = reply.text().contains("no such path");
            assert!(!is_missing_route, "{method} {path}: {}", reply.text());
        }
    }
    assert!(operations >= 30, "{operations}");
}
