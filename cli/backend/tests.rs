use serde_json::{Value, json};

use super::request::{Bytes, Request};

fn parsed(line: &str) -> (Value, Result<Request, String>) {
    Request::parse(line.as_bytes())
}

#[test]
fn requests_have_any_id_a_method_and_parameters() {
    let (id, request) =
        parsed(r#"{"id": {"a": [1]}, "method": "execute", "params": {"command": "x", "stdin_base64": "AAE="}}"#);
    assert_eq!(id, json!({"a": [1]}));
    let Ok(Request::Execute(execute)) = request else { panic!("{request:?}") };
    assert_eq!((execute.command.as_deref(), execute.argv.as_ref()), (Some("x"), None));
    assert_eq!((execute.timeout_ms, execute.stdin_base64), (None, Bytes(vec![0, 1])));
    let (id, request) = parsed(r#"{"method": "info"}"#);
    assert_eq!(id, Value::Null);
    assert!(matches!(request, Ok(Request::Info(_))), "{request:?}");
}

#[test]
fn errors_keep_the_id_of_the_request() {
    for (line, id, expected) in [
        ("{", Value::Null, "invalid JSON"),
        ("[1]", Value::Null, "expected one JSON object"),
        (r#"{"id": 7, "method": "execute", "params": {"argv": "ls"}}"#, json!(7), "expected a sequence"),
        (r#"{"id": 1}"#, json!(1), "missing field `method`"),
        (r#"{"id": 2, "method": "fly"}"#, json!(2), "unknown variant `fly`"),
        (r#"{"id": 3, "method": "ls"}"#, json!(3), "missing field `path`"),
        (r#"{"id": 4, "method": "ls", "params": {"path": "/", "depth": 1}}"#, json!(4), "unknown field `depth`"),
        (r#"{"id": 5, "method": "read", "params": {"path": "/", "offset": -1}}"#, json!(5), "invalid value"),
        (
            r#"{"id": 6, "method": "upload_files", "params": {"files": [{"path": "/a", "content_base64": "?"}]}}"#,
            json!(6),
            "invalid base64",
        ),
    ] {
        let (actual_id, request) = parsed(line);
        let error = request.expect_err(line);
        assert!(actual_id == id && error.contains(expected), "{line}: {actual_id} {error}");
    }
}
