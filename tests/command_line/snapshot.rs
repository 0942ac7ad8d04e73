//! `tidebox snapshot`, and sandboxes that start from its files.

use std::fs;

use crate::run::{command, finish, tidebox, tidebox_reading};

#[test]
fn sandboxes_start_from_a_snapshot_file() {
    let dir = tempfile::tempdir().expect("a temporary directory can be created");
    let path = dir.path().join("ready.snapshot");
    let file = path.to_str().expect("UTF-8");
    let made = tidebox(&["snapshot", "create", file, "--env", "A=1", "echo $A >made; value=kept; echo out"]);
    assert_eq!((made.code, made.stdout().as_str()), (Some(0), "out\n"), "{}", made.stderr());
    let ran = tidebox(&["exec", "--snapshot", file, "cat made; echo again >made"]);
    assert_eq!(ran.stdout(), "1\n", "{}", ran.stderr());
    let shell = tidebox_reading(&["shell", "--snapshot", file], b"cat made; echo $value\n");
    assert_eq!(shell.stdout(), "1\nkept\n", "{}", shell.stderr());

    let shown = tidebox(&["snapshot", "show", file]);
    assert!(shown.stdout().contains("added    /workspace/made (2 B)\n"), "{}{}", shown.stdout(), shown.stderr());
    let shown = tidebox(&["snapshot", "show", "--json", file]);
    let report: serde_json::Value = serde_json::from_slice(&shown.stdout).expect("JSON");
    let changes = report["changes"].as_array().expect("an array");
    assert!(changes.iter().any(|change| change["path"] == "/workspace/made" && change["bytes"] == 2), "{report}");
    let mut exported = std::io::Cursor::new(tidebox(&["snapshot", "export", file]).stdout);
    let text = String::from_utf8_lossy(exported.get_mut()).into_owned();
    assert!(text.contains("workspace/made") && text.contains("ustar"), "it is not a tar: {} bytes", text.len());
}

#[test]
fn a_failing_command_writes_no_snapshot() {
    let dir = tempfile::tempdir().expect("a temporary directory can be created");
    let path = dir.path().join("x.snapshot");
    let file = path.to_str().expect("UTF-8");
    let made = tidebox(&["snapshot", "create", file, "exit 4"]);
    assert!(made.code == Some(4) && made.stderr().contains("is not written"), "{}", made.stderr());
    assert!(!path.exists());
    fs::write(&path, "not a snapshot").expect("the file can be written");
    for arguments in
        [&["exec", "--snapshot", file, "true"][..], &["snapshot", "show", file], &["snapshot", "export", file]]
    {
        let ran = tidebox(arguments);
        assert!(ran.code == Some(125) && ran.stderr().contains("x.snapshot"), "{arguments:?}: {}", ran.stderr());
    }
}

#[test]
fn the_configuration_file_applies_to_a_new_snapshot() {
    let dir = tempfile::tempdir().expect("a temporary directory can be created");
    fs::write(dir.path().join("tidebox.toml"), "[sandbox]\nenv = { A = \"file\" }\n").expect("the file can be written");
    let mut command = command(&["snapshot", "create", "s", "echo $A"]);
    command.current_dir(dir.path());
    let ran = finish(command, b"");
    assert_eq!(ran.stdout(), "file\n", "{}", ran.stderr());
}
