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
use tidebox_kernel::{Chunk, FixedClock, SeededEntropy, SessionId, SharedKernel};
use tidebox_vfs_backend::{BaseImage, SandboxBuilder, VfsBackend};

use super::SeedFolder;

/// Nothing is run here.
#[derive(Debug)]
struct NoEngine;

impl Engine for NoEngine {
    fn drive<'a>(
        &'a self,
        _: &'a SharedKernel,
        _: SessionId,
        _: Duration,
        _: Option<&'a mut (dyn FnMut(Chunk) + Send)>,
    ) -> Pin<Box<dyn Future<Output = std::result::Result<(), EngineError>> + Send + 'a>> {
        Box::pin(async { Ok(()) })
    }
}

fn builder() -> SandboxBuilder {
    let base = BaseImage::new(&[]).unwrap();
    SandboxBuilder::new(Arc::new(NoEngine), &base, Box::new(FixedClock::new(5)), Box::new(SeededEntropy::new(1)))
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

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn refusal(result: Result<VfsBackend>) -> String {
    let error = result.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidRequest, "{error}");
    error.to_string()
}

/// What the sandbox holds, as a tar reader on the host sees it: name, mode, time, target of a link.
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
fn files_folders_modes_times_and_links_come_along() {
    let folder = folder(&[("a.txt", "one"), ("src/deep/b", "two"), ("run.sh", "#!/bin/sh\n")]);
    let at = |name: &str| folder.path().join(name);
    fs::set_permissions(at("run.sh"), fs::Permissions::from_mode(0o4750)).unwrap();
    let old = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
    fs::File::options().write(true).open(at("a.txt")).unwrap().set_modified(old).unwrap();
    fs::hard_link(at("a.txt"), at("same")).unwrap();
    symlink("src/deep", at("link")).unwrap();
    let sandbox = builder().seed_folder(folder.path()).build().unwrap();
    assert_eq!(text(&sandbox, "/workspace/src/deep/b"), "two");
    assert_eq!(text(&sandbox, "/workspace/link/b"), "two");
    let listing = listing(&sandbox);
    let found = |name: &str| listing.iter().find(|entry| entry.0 == format!("workspace/{name}")).unwrap().clone();
    assert_eq!((found("run.sh").1, found("a.txt").2), (0o750, 1_000_000));
    assert_eq!((found("same").3, found("link").3), ("workspace/a.txt".into(), "src/deep".into()));
}

#[test]
fn a_folder_goes_where_it_is_told_and_later_changes_stay_where_they_are() {
    let folder = folder(&[("a", "one")]);
    let sandbox = builder().seed_folder_into(path("/data/in"), folder.path()).build().unwrap();
    fs::write(folder.path().join("a"), "changed").unwrap();
    assert_eq!(text(&sandbox, "/data/in/a"), "one");
}

#[test]
fn links_that_lead_outside_bring_nothing_in() {
    let secret = folder(&[("secret", "password"), ("dir/secret", "password")]);
    let inside = folder(&[("kept", "x")]);
    symlink(secret.path().join("secret"), inside.path().join("file")).unwrap();
    symlink(secret.path().join("dir"), inside.path().join("dir")).unwrap();
    symlink("../../../../etc/passwd", inside.path().join("up")).unwrap();
    let sandbox = builder().seed_folder(inside.path()).build().unwrap();
    let mut bytes = Vec::new();
    sandbox.snapshot().unwrap().to_tar(&mut bytes).unwrap();
    let found = |what: &[u8]| bytes.windows(what.len()).any(|window| window == what);
    assert!(!found(b"password") && !found(b"root:") && found(b"kept"));
}

#[test]
fn sockets_and_fifos_are_refused_by_name() {
    let sockets = folder(&[("a", "x")]);
    let _socket = std::os::unix::net::UnixListener::bind(sockets.path().join("control")).unwrap();
    let said = refusal(builder().seed_folder(sockets.path()).build());
    assert!(said.contains("socket") && said.contains("control"), "{said}");
    let fifos = folder(&[]);
    let made = std::process::Command::new("mkfifo").arg(fifos.path().join("pipe")).status();
    if !made.is_ok_and(|status| status.success()) {
        eprintln!("not tried with a FIFO: there is no mkfifo");
        return;
    }
    assert!(refusal(builder().seed_folder(fifos.path()).build()).contains("pipe"));
}

#[test]
fn what_is_not_there_or_too_large_is_an_error_of_building() {
    assert!(refusal(builder().seed_folder(Path::new("/no/such/folder")).build()).contains("/no/such/folder"));
    let large = folder(&[("a", &"x".repeat(10_000))]);
    let mut limits = Limits::default();
    limits.file_bytes = 1000;
    let error = builder().limits(limits).seed_folder(large.path()).build().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::FileOperationFailed, "{error}");
}

#[test]
fn a_sparse_file_costs_what_it_holds() {
    let folder = folder(&[]);
    fs::File::create(folder.path().join("sparse")).unwrap().set_len(100 << 20).unwrap();
    let sandbox = builder().seed_folder(folder.path()).build().unwrap();
    assert_eq!(sandbox.snapshot().unwrap().file_bytes(), 0);
}
