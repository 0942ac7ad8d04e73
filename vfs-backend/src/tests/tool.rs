use futures_executor::block_on;
use tidebox_core::{ErrorKind, SandboxBackend};
use tidebox_kernel::fs::{FileBytes, Resolved};

use super::scripted_engine::{ScriptedEngine, Step};
use super::{builder, mode, path};
use crate::ROOT;

const MODULE: &[u8] = b"\0asm\x01\0\0\0";
const COMPONENT: &[u8] = b"\0asm\x0d\0\x01\0";

fn engine() -> ScriptedEngine {
    ScriptedEngine::new([Step::Exit(0)])
}

#[test]
fn a_tool_is_an_uncharged_executable_of_root() {
    let sandbox = builder(engine()).tool("mytool", MODULE).tool("other", COMPONENT).build().unwrap();
    let entries = block_on(sandbox.ls(&path("/usr/local/bin"))).unwrap().unwrap().entries;
    let names: Vec<_> = entries.iter().map(|entry| String::from_utf8_lossy(&entry.path).into_owned()).collect();
    assert_eq!(names, ["/usr/local/bin/mytool", "/usr/local/bin/other"]);
    assert_eq!(mode(&sandbox, "/usr/local/bin/mytool"), 0o755);
    let kernel = sandbox.kernel("stat").unwrap();
    let kernel = kernel.lock();
    let ino = crate::file::locate(kernel.fs(), b"/usr/local/bin/mytool", true).unwrap();
    assert_eq!(kernel.fs().stat(ino).unwrap().uid, 0);
    assert_eq!(kernel.fs().usage().file_bytes, 0);
}

#[test]
fn sandboxes_share_the_bytes_of_one_tool() {
    let bytes = FileBytes::from(MODULE.to_vec());
    let sandboxes = [(); 2].map(|()| builder(engine()).tool("t", bytes.clone()).build().unwrap());
    for sandbox in &sandboxes {
        let kernel = sandbox.kernel("read").unwrap();
        let kernel = kernel.lock();
        let fs = kernel.fs();
        let Ok(Resolved::Node(ino)) = fs.walk(&ROOT, fs.root(), b"/usr/local/bin/t", true) else {
            panic!("the tool exists")
        };
        let contents = fs.contents(ino).unwrap();
        assert!(contents.shared().unwrap().is_same(&bytes));
    }
}

#[test]
fn an_invalid_tool_is_rejected_with_a_reason() {
    let long = "x".repeat(300);
    for (name, bytes, reason) in [
        ("", MODULE, "invalid command name"),
        ("a/b", MODULE, "invalid command name"),
        ("..", MODULE, "invalid command name"),
        ("a\0", MODULE, "invalid command name"),
        (long.as_str(), MODULE, "File name too long"),
        ("t", b"", "not WebAssembly"),
        ("t", b"\0as", "not WebAssembly"),
        ("t", b"#!/bin/sh\n", "not WebAssembly"),
        ("t", b"\n (module)", "text form"),
        ("t", b"\0asm", "version"),
        ("t", b"\0asm\x02\0\0\0", "version"),
    ] {
        let error = builder(engine()).tool(name, bytes).build().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidRequest, "{name:?}");
        assert!(error.to_string().contains(reason), "{error}");
    }
    let error = builder(engine()).tool("t", MODULE).tool("t", COMPONENT).build().unwrap_err();
    assert!(error.to_string().contains("two programs"), "{error}");
}

#[test]
fn a_tool_may_override_a_userland_program() {
    let sandbox = builder(engine()).tool("bash", MODULE).build().unwrap();
    assert_eq!(mode(&sandbox, "/usr/local/bin/bash"), 0o755);
    assert_eq!(mode(&sandbox, "/bin/bash"), 0o755);
}
