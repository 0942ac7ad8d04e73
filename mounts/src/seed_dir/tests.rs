use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures_executor::block_on;
use tempfile::TempDir;
use tidebox_core::{Content, ErrorKind, Limits, ReadRequest, Result, SandboxBackend, SandboxPath};
use tidebox_kernel::engine::{Engine, EngineError};
use tidebox_kernel::{ExecutionId, OutputChunk, SeededEntropy, SharedKernel, VirtualClock};
use tidebox_vfs_backend::{BaseImage, SandboxBuilder, VfsBackend};

use super::SeedDir;

/// An engine that never runs programs.
#[derive(Debug)]
struct NoEngine;

impl Engine for NoEngine {
    fn drive<'a>(
        &'a self,
        _: &'a SharedKernel,
        _: ExecutionId,
        _: Duration,
        _: Option<&'a mut (dyn FnMut(OutputChunk) + Send)>,
    ) -> Pin<Box<dyn Future<Output = std::result::Result<(), EngineError>> + Send + 'a>> {
        Box::pin(async { Ok(()) })
    }
}

fn builder() -> SandboxBuilder {
    let base = BaseImage::new(&[]).unwrap();
    SandboxBuilder::new(Arc::new(NoEngine), &base, Box::new(VirtualClock::new(5)), Box::new(SeededEntropy::new(1)))
}

fn path(text: &str) -> SandboxPath {
    SandboxPath::parse(text).unwrap()
}

fn text(sandbox: &VfsBackend, name: &str) -> String {
    match block_on(sandbox.read(ReadRequest::new(path(name)))).unwrap().unwrap().content {
        Content::Text(text) => text,
        Content::Binary(bytes) => panic!("{bytes:?}"),
    }
}

fn source(files: &[(&str, &str)]) -> TempDir {
    let source = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = source.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    source
}

fn refusal(result: Result<VfsBackend>) -> String {
    let error = result.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidRequest, "{error}");
    error.to_string()
}

/// Returns the files of the sandbox as a tar reader on the host sees them: name, mode, time, link target.
fn listing(sandbox: &VfsBackend) -> Vec<(String, u32, u64, String)> {
    let mut bytes = Vec::new();
    sandbox.snapshot().unwrap().to_tar(&mut bytes).unwrap();
    let mut archive = tar::Archive::new(bytes.as_slice());
    let entry = |entry: std::io::Result<tar::Entry<'_, &[u8]>>| {
        let entry = entry.unwrap();
        let header = entry.header();
        let link = entry.link_name_bytes().unwrap_or_default();
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        (name, header.mode().unwrap(), header.mtime().unwrap(), String::from_utf8_lossy(&link).into_owned())
    };
    archive.entries().unwrap().map(entry).collect()
}

#[test]
fn files_directories_modes_times_and_links_are_copied() {
    let source = source(&[("a.txt", "one"), ("src/deep/b", "two"), ("run.sh", "#!/bin/sh\n")]);
    let at = |name: &str| source.path().join(name);
    fs::set_permissions(at("run.sh"), fs::Permissions::from_mode(0o4750)).unwrap();
    let old = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
    fs::File::options().write(true).open(at("a.txt")).unwrap().set_modified(old).unwrap();
    fs::hard_link(at("a.txt"), at("same")).unwrap();
    symlink("src/deep", at("link")).unwrap();
    let sandbox = builder().seed_dir(source.path()).build().unwrap();
    assert_eq!(text(&sandbox, "/workspace/src/deep/b"), "two");
    assert_eq!(text(&sandbox, "/workspace/link/b"), "two");
    let listing = listing(&sandbox);
    let found = |name: &str| listing.iter().find(|entry| entry.0 == format!("workspace/{name}")).unwrap().clone();
    assert_eq!((found("run.sh").1, found("a.txt").2), (0o750, 1_000_000));
    assert_eq!((found("same").3, found("link").3), ("workspace/a.txt".into(), "src/deep".into()));
}

#[test]
fn a_seed_is_a_copy_in_the_requested_directory() {
    let source = source(&[("a", "one")]);
    let sandbox = builder().seed_dir_into(path("/data/in"), source.path()).build().unwrap();
    fs::write(source.path().join("a"), "changed").unwrap();
    assert_eq!(text(&sandbox, "/data/in/a"), "one");
}

#[test]
fn links_that_lead_outside_are_not_followed() {
    let secret = source(&[("secret", "password"), ("dir/secret", "password")]);
    let inside = source(&[("kept", "x")]);
    symlink(secret.path().join("secret"), inside.path().join("file")).unwrap();
    symlink(secret.path().join("dir"), inside.path().join("dir")).unwrap();
    symlink("../../../../etc/passwd", inside.path().join("up")).unwrap();
    let sandbox = builder().seed_dir(inside.path()).build().unwrap();
    let mut bytes = Vec::new();
    sandbox.snapshot().unwrap().to_tar(&mut bytes).unwrap();
    let found = |what: &[u8]| bytes.windows(what.len()).any(|window| window == what);
    assert!(!found(b"password") && !found(b"root:") && found(b"kept"));
}

#[test]
fn sockets_and_fifos_are_rejected_by_name() {
    let sockets = source(&[("a", "x")]);
    let _socket = std::os::unix::net::UnixListener::bind(sockets.path().join("control")).unwrap();
    let message = refusal(builder().seed_dir(sockets.path()).build());
    assert!(message.contains("socket") && message.contains("control"), "{message}");
    let fifos = source(&[]);
    let made = std::process::Command::new("mkfifo").arg(fifos.path().join("pipe")).status();
    if !made.is_ok_and(|status| status.success()) {
        eprintln!("FIFO not tested: mkfifo is missing");
        return;
    }
    assert!(refusal(builder().seed_dir(fifos.path()).build()).contains("pipe"));
}

#[test]
fn missing_or_too_large_seeds_fail_the_build() {
    assert!(refusal(builder().seed_dir(Path::new("/no/such/folder")).build()).contains("/no/such/folder"));
    let large = source(&[("a", &"x".repeat(10_000))]);
    let mut limits = Limits::default();
    limits.file_bytes = 1000;
    let error = builder().limits(limits).seed_dir(large.path()).build().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::FileOperationFailed, "{error}");
}

#[test]
fn a_sparse_file_is_charged_without_its_holes() {
    let source = source(&[]);
    fs::File::create(source.path().join("sparse")).unwrap().set_len(100 << 20).unwrap();
    let sandbox = builder().seed_dir(source.path()).build().unwrap();
    assert_eq!(sandbox.snapshot().unwrap().file_bytes(), 0);
}
