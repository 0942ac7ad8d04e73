//! Tests of mounts in sandboxes that are built, forked and saved.

use std::fs;

use tidebox_core::{ErrorKind, Limits, SandboxBackend};
use tidebox_kernel::fs::MountMode;
use tidebox_vfs_backend::{BaseImage, Snapshot, VfsBackend};

use super::MountExt;
use crate::testing::{Use, builder};

fn text(sandbox: &VfsBackend, path: &str) -> Option<String> {
    sandbox.with_fs(|fs, _| fs.text(path).ok()).expect("it is open")
}

fn put(sandbox: &VfsBackend, path: &str, text: &str) {
    sandbox.with_fs(|fs, _| fs.put(path, text)).expect("it is open").expect("it can be written");
}

#[test]
fn a_fork_keeps_changes_and_a_saved_snapshot_remounts() {
    let host = tempfile::tempdir().expect("a directory");
    fs::write(host.path().join("f"), "below").expect("free");
    let mount = || builder().mount_host(host.path(), "repo", MountMode::CopyOnWrite).expect("a directory");
    let sandbox = mount().build().expect("it can be built");
    put(&sandbox, "/workspace/repo/f", "upper");
    put(&sandbox, "/workspace/beside", "beside");
    let fork = sandbox.fork().expect("it is open");
    assert_eq!(text(&fork, "/workspace/repo/f").as_deref(), Some("upper"));
    let bytes = sandbox.snapshot().expect("it is open").to_bytes();
    let base = BaseImage::new(&[]).expect("it contains no programs");
    let saved = Snapshot::from_bytes(&bytes, &base, &Limits::default()).expect("just written");
    let again = mount().snapshot(&saved).build().expect("the mount point is unused");
    assert_eq!(text(&again, "/workspace/beside").as_deref(), Some("beside"));
    assert_eq!(text(&again, "/workspace/repo/f").as_deref(), Some("below"));
    let twice =
        mount().snapshot(&sandbox.snapshot().expect("it is open")).build().expect_err("a fork has the mounts already");
    assert_eq!(twice.kind(), ErrorKind::InvalidRequest);
    assert!(twice.to_string().contains("existing mount point"), "{twice}");
    assert_ne!(fork.id(), sandbox.id());
}

#[test]
fn failed_mounts_report_the_reason() {
    let missing = builder().mount_host("/no/such/folder", "/m", MountMode::ReadOnly).expect_err("missing");
    assert_eq!(missing.kind(), ErrorKind::InvalidRequest);
    let host = tempfile::tempdir().expect("a directory");
    let full = builder().mount_host(host.path(), "/etc", MountMode::ReadOnly).expect("a directory").build();
    assert!(full.expect_err("it is full").to_string().contains("choose an empty or new one"));
}
