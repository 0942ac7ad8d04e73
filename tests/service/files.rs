//! Files.

use serde_json::json;

use crate::client::sandbox_shared;

#[test]
fn files_are_written_read_searched_and_deleted() {
    let client = sandbox_shared().client("token-a");
    let sandbox = client.create();
    let file = |name: &str| format!("{sandbox}/files{name}");
    let written = client.post(&file("/write"), json!({ "path": "src/a.py", "content": { "text": "x = 1\ny = 2\n" } }));
    assert_eq!(written.json(), json!({ "path": "/workspace/src/a.py", "created": true }), "{}", written.text());
    let edited = client.post(&file("/edit"), json!({ "path": "src/a.py", "old": "y = 2", "new": "y = 3" }));
    assert_eq!(edited.json()["occurrences"], 1, "{}", edited.text());
    let page = client.post(&file("/read"), json!({ "path": "/workspace/src/a.py", "offset": 1, "limit": 1 })).json();
    assert_eq!((&page["first_line"], &page["total_lines"]), (&json!(2), &json!(2)), "{page}");
    assert!(page["text"].as_str().unwrap().starts_with("y = 3"), "{page}");
    let found = client.post(&file("/glob"), json!({ "pattern": "**/*.py" })).json();
    assert!(found["files"][0]["path"].as_str().unwrap().ends_with("src/a.py"), "{found}");
    let lines = client.post(&file("/grep"), json!({ "pattern": "y =", "glob": "*.py" })).json();
    assert_eq!((&lines["matches"][0]["line"], &lines["matches"][0]["text"]), (&json!(2), &json!("y = 3")), "{lines}");
    let listed = client.get(&file("/list?path=src")).json();
    assert_eq!(listed["entries"][0]["kind"], "file", "{listed}");
    assert_eq!(client.send("DELETE", &file("?path=src"), "", b"").status, 204);
    let missing = client.get(&file("/list?path=src"));
    assert_eq!((missing.status, missing.json()["error"]["kind"].clone()), (404, json!("file_not_found")));
}

#[test]
fn an_uploaded_file_is_downloaded_unchanged() {
    let client = sandbox_shared().client("token-a");
    let sandbox = client.create();
    let bytes: Vec<u8> = (0..300_000u32).map(|number| (number * 7 % 251) as u8).collect();
    let path = format!("{sandbox}/files?path=%2Ftmp%2Fdir%2Fb%C3%A4r.bin");
    assert_eq!(client.send("PUT", &path, "", &bytes).status, 200);
    assert_eq!(client.execute(&sandbox, "wc -c < /tmp/dir/bär.bin"), "300000\n");
    let downloaded = client.get(&path);
    assert_eq!((downloaded.status, downloaded.body == bytes), (200, true));
    assert_eq!(client.get(&format!("{sandbox}/files?path=/tmp/none")).status, 404);
    assert_eq!(client.get(&format!("{sandbox}/files?path=/tmp")).status, 422);
    assert_eq!(client.send("PUT", &format!("{sandbox}/files?path=/bin/sh"), "", b"x").status, 403);
    assert_eq!(client.get(&format!("{sandbox}/files")).status, 400);
}
