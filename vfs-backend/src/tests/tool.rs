use futures_executor::block_on;
use tidebox_core::{ErrorKind, SandboxBackend};
use tidebox_kernel::fs::{FileBytes, Target};

use super::engine::{Play, Stage};
use super::{builder, mode, path};
use crate::ROOT;
use crate::backend::lock;

const MODULE: &[u8] = b"\0asm\x01\0\0\0";
const COMPONENT: &[u8] = b"\0asm\x0d\0\x01\0";

fn stage() -> Stage {
    Stage::new([Play::Exit(0)])
}

#[test]
fn a_tool_is_a_file_of_root_that_everybody_may_run_and_nobody_pays_for() {
    let sandbox = builder(stage()).tool("mytool", MODULE).tool("other", COMPONENT).build().unwrap();
    let entries = block_on(sandbox.ls(&path("/usr/local/bin"))).unwrap().unwrap().entries;
    let names: Vec<_> = entries.iter().map(|entry| String::from_utf8_lossy(&entry.path).into_owned()).collect();
    assert_eq!(names, ["/usr/local/bin/mytool", "/usr/local/bin/other"]);
    assert_eq!(mode(&sandbox, "/usr/local/bin/mytool"), 0o755);
    let kernel = sandbox.kernel("stat").unwrap();
    let kernel = lock(&kernel);
    let ino = crate::file::locate(kernel.fs(), b"/usr/local/bin/mytool", true).unwrap();
    assert_eq!(kernel.fs().stat(ino).unwrap().uid, 0);
    assert_eq!(kernel.fs().usage().file_bytes, 0);
}

#[test]
fn sandboxes_share_the_bytes_of_one_tool() {
    let bytes = FileBytes::from(MODULE.to_vec());
    let sandboxes = [(); 2].map(|()| builder(stage()).tool("t", bytes.clone()).build().unwrap());
    for sandbox in &sandboxes {
        let kernel = sandbox.kernel("read").unwrap();
        let kernel = lock(&kernel);
        let fs = kernel.fs();
        let Ok(Target::Node(ino)) = fs.walk(&ROOT, fs.root(), b"/usr/local/bin/t", true) else {
            panic!("the tool is there")
        };
        let contents = fs.contents(ino).unwrap();
        assert!(contents.shared().unwrap().is_same(&bytes));
    }
}

#[test]
fn a_tool_that_cannot_be_is_refused_with_the_reason() {
    let long = "x".repeat(300);
    for (name, bytes, reason) in [
        ("", MODULE, "cannot be a command's name"),
        ("a/b", MODULE, "cannot be a command's name"),
        ("..", MODULE, "cannot be a command's name"),
        ("a\0", MODULE, "cannot be a command's name"),
        (long.as_str(), MODULE, "cannot be made: File name too long"),
        ("t", b"", "no WebAssembly"),
        ("t", b"\0as", "no WebAssembly"),
        ("t", b"#!/bin/sh\n", "no WebAssembly"),
        ("t", b"\n (module)", "text form"),
        ("t", b"\0asm", "version"),
        ("t", b"\0asm\x02\0\0\0", "version"),
    ] {
        let error = builder(stage()).tool(name, bytes).build().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidRequest, "{name:?}");
        assert!(error.to_string().contains(reason), "{error}");
    }
    let error = builder(stage()).tool("t", MODULE).tool("t", COMPONENT).build().unwrap_err();
    assert!(error.to_string().contains("two programs"), "{error}");
}

#[test]
fn a_tool_may_take_the_name_of_a_program_of_the_userland() {
    let sandbox = builder(stage()).tool("bash", MODULE).build().unwrap();
    assert_eq!(mode(&sandbox, "/usr/local/bin/bash"), 0o755);
    assert_eq!(mode(&sandbox, "/bin/bash"), 0o755);
}
