use std::collections::BTreeSet;
use std::sync::Arc;

use futures_executor::block_on;
use tidebox_core::{ErrorKind, SandboxBackend, SandboxId};
use tidebox_kernel::{SeededEntropy, VirtualClock};

use super::scripted_engine::{ScriptedEngine, Step};
use super::{builder, js, mode, path, text};
use crate::{BaseImage, Program, SandboxBuilder};

fn engine() -> ScriptedEngine {
    ScriptedEngine::new([Step::Exit(0)])
}

#[test]
fn the_base_tree_reveals_nothing_of_the_host() {
    let sandbox = js();
    let names = |dir: &str| {
        let entries = block_on(sandbox.ls(&path(dir))).unwrap().unwrap().entries;
        entries.iter().map(|entry| String::from_utf8(entry.path.clone()).unwrap()).collect::<Vec<_>>()
    };
    let top = "/bin /dev /etc /home /lib /media /mnt /opt /proc /root /run /sbin /srv /sys /tmp /usr /var /workspace";
    assert_eq!(names("/").join(" "), top);
    for dir in ["/home", "/media", "/mnt", "/opt", "/srv", "/var/log", "/var/tmp", "/dev/shm"] {
        assert!(names(dir).is_empty(), "{dir}");
    }
    assert_eq!(mode(&sandbox, "/root"), 0o700);
    assert_eq!(names("/usr/bin"), ["/usr/bin/bash", "/usr/bin/sh"]);
    assert_eq!(mode(&sandbox, "/tmp"), 0o1777);
    assert_eq!(text(&sandbox, "/etc/hostname"), "tidebox\n");
    assert!(text(&sandbox, "/etc/passwd").contains("tidebox:x:1000:1000:"));
    assert!(text(&sandbox, "/etc/os-release").contains("ID=tidebox\n"));
    assert_eq!(text(&sandbox, "/etc/timezone"), "Etc/UTC\n");
    for zone in ["/usr/share/zoneinfo/Europe/Paris", "/usr/share/zoneinfo/America/Argentina/Ushuaia", "/etc/localtime"]
    {
        let files = block_on(sandbox.download_files(vec![zone.into()])).unwrap();
        assert!(files[0].result.as_ref().unwrap().starts_with(b"TZif"), "{zone}");
    }
}

#[test]
fn names_of_one_program_are_hard_links() {
    let sandbox = js();
    let kernel = sandbox.kernel("stat").unwrap();
    let kernel = kernel.lock();
    let ino = |name: &str| crate::file::locate(kernel.fs(), name.as_bytes(), true).unwrap();
    assert_eq!(ino("/bin/bash"), ino("/bin/sh"));
    assert_eq!(kernel.fs().usage().file_bytes, 0, "installed programs are not the sandbox's bytes");
}

#[test]
fn invalid_command_names_are_rejected() {
    for names in [vec!["a/b"], vec![""], vec![".."], vec!["a\0"], vec!["a", "a"], vec!["x".repeat(300).leak()]] {
        let error = BaseImage::new(&[Program::new(names.clone(), vec![])]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidRequest, "{names:?}");
    }
}

#[test]
fn ids_are_random_and_never_empty() {
    let base = BaseImage::new(&[]).unwrap();
    let id = |seed| {
        let entropy = Box::new(SeededEntropy::new(seed));
        let builder = SandboxBuilder::new(Arc::new(engine()), &base, Box::new(VirtualClock::new(0)), entropy);
        builder.build().unwrap().id().as_str().to_owned()
    };
    let ids: BTreeSet<_> = (0..100).map(id).collect();
    assert_eq!(ids.len(), 100);
    assert!(ids.iter().all(|id| id.len() == 35 && id.starts_with("sb-")));
    let named = builder(engine()).id(SandboxId::parse("mine").unwrap()).build().unwrap();
    assert_eq!(named.id().as_str(), "mine");
}

#[test]
fn a_builder_sets_files_host_name_and_working_directory() {
    let sandbox = builder(engine())
        .cwd(path("/home/agent"))
        .hostname("box-7")
        .file("notes/a.txt", "relative")
        .file("/workspace/tool.wasm", b"\0asm\x01\0\0\0".to_vec())
        .build()
        .unwrap();
    assert_eq!(text(&sandbox, "/home/agent/notes/a.txt"), "relative");
    assert_eq!(mode(&sandbox, "/workspace/tool.wasm"), 0o755);
    assert_eq!(text(&sandbox, "/etc/hostname"), "box-7\n");
    assert!(text(&sandbox, "/etc/hosts").contains("box-7"));
    assert_eq!(sandbox.cwd(), &path("/home/agent"));
}

#[test]
fn invalid_builder_settings_are_rejected_with_a_reason() {
    let rejected = |builder: SandboxBuilder| builder.build().unwrap_err();
    assert_eq!(rejected(builder(engine()).file("/bin/x", "x")).kind(), ErrorKind::FileOperationFailed);
    assert_eq!(rejected(builder(engine()).file("", "x")).kind(), ErrorKind::FileOperationFailed);
    assert_eq!(rejected(builder(engine()).env("A=B", "x")).kind(), ErrorKind::InvalidRequest);
    assert_eq!(rejected(builder(engine()).hostname("a b")).kind(), ErrorKind::InvalidRequest);
}

#[test]
fn sandboxes_of_one_image_do_not_see_each_others_files() {
    let base = BaseImage::new(&[]).unwrap();
    let make = || {
        let entropy = Box::new(SeededEntropy::new(1));
        SandboxBuilder::new(Arc::new(engine()), &base, Box::new(VirtualClock::new(0)), entropy).build().unwrap()
    };
    let (one, other) = (make(), make());
    super::write(&one, "/workspace/a", "x").unwrap();
    assert!(super::read(&other, "/workspace/a").is_err());
}
