use futures_executor::block_on;
use tidebox_core::{Dialect, FileErrorCode, SandboxBackend, TransferCode, Upload};

use super::{chmod, js, mode, path, sandbox, symlink, write};
use crate::VfsBackend;

fn upload(sandbox: &VfsBackend, files: &[(&str, &[u8])]) -> Vec<Option<FileErrorCode>> {
    let files = files.iter().map(|(path, content)| Upload::new(*path, *content)).collect();
    let results = block_on(sandbox.upload_files(files)).unwrap();
    results.into_iter().map(|result| result.result.err().map(|error| error.code)).collect()
}

fn download(sandbox: &VfsBackend, paths: &[&str]) -> Vec<Result<Vec<u8>, TransferCode>> {
    let paths = paths.iter().map(|path| path.as_bytes().to_vec()).collect();
    let results = block_on(sandbox.download_files(paths)).unwrap();
    results.into_iter().map(|result| result.result.map_err(|error| error.code.transfer_code())).collect()
}

#[test]
fn transfers_keep_their_order_and_continue_after_a_failure() {
    let sandbox = js();
    let results = upload(
        &sandbox,
        &[
            ("/workspace/a", b"1"),
            ("/bin/x", b"2"),
            ("/workspace/new/dir/b", b"\xff\0"),
            ("/workspace", b"3"),
            ("", b"4"),
            ("/workspace/d/", b"5"),
        ],
    );
    use FileErrorCode::{InvalidPath, IsDirectory, PermissionDenied};
    let expected = [None, Some(PermissionDenied), None, Some(IsDirectory), Some(InvalidPath), Some(IsDirectory)];
    assert_eq!(results, expected);
    let results = download(&sandbox, &["/workspace/nothing", "/workspace/new/dir/b", "/workspace", "/workspace/a\0"]);
    assert_eq!(
        results,
        [
            Err(TransferCode::FileNotFound),
            Ok(b"\xff\0".to_vec()),
            Err(TransferCode::IsDirectory),
            Err(TransferCode::InvalidPath),
        ]
    );
}

#[test]
fn results_contain_the_requested_path() {
    let sandbox = js();
    let results = block_on(sandbox.download_files(vec![b"//workspace/./x".to_vec()])).unwrap();
    assert_eq!(results[0].path, b"//workspace/./x");
}

#[test]
fn relative_paths_are_invalid() {
    for dialect in [Dialect::Js, Dialect::Python, Dialect::LangchainTests] {
        let sandbox = sandbox(dialect);
        assert_eq!(upload(&sandbox, &[("a", b"1")]), [Some(FileErrorCode::InvalidPath)]);
        assert_eq!(download(&sandbox, &["a", "../etc/passwd"]), [const { Err(TransferCode::InvalidPath) }; 2]);
    }
}

#[test]
fn only_uploaded_programs_become_executable() {
    let sandbox = js();
    upload(&sandbox, &[("/workspace/tool.wasm", b"\0asm\x01\0\0\0"), ("/workspace/a.sh", b"#!/bin/sh\n")]);
    assert_eq!((mode(&sandbox, "/workspace/tool.wasm"), mode(&sandbox, "/workspace/a.sh")), (0o755, 0o644));
    chmod(&sandbox, "/workspace/a.sh", 0o600);
    upload(&sandbox, &[("/workspace/a.sh", b"\0asm\x01\0\0\0")]);
    assert_eq!(mode(&sandbox, "/workspace/a.sh"), 0o711, "an existing file keeps its other bits");
}

#[test]
fn transfers_respect_mode_bits() {
    let sandbox = js();
    write(&sandbox, "/workspace/secret", "x").unwrap();
    chmod(&sandbox, "/workspace/secret", 0);
    assert_eq!(download(&sandbox, &["/workspace/secret"]), [Err(TransferCode::PermissionDenied)]);
    assert_eq!(upload(&sandbox, &[("/workspace/secret", b"y")]), [Some(FileErrorCode::PermissionDenied)]);
}

#[test]
fn a_link_resolves_within_the_sandbox() {
    let sandbox = js();
    symlink(&sandbox, "/etc/hostname", "/workspace/link");
    symlink(&sandbox, "/etc", "/workspace/dir");
    let expected = [Ok(b"tidebox\n".to_vec()), Ok(b"tidebox\n".to_vec())];
    assert_eq!(download(&sandbox, &["/workspace/link", "/workspace/dir/hostname"]), expected);
}

#[test]
fn a_deleted_file_is_immediately_missing() {
    let sandbox = js();
    write(&sandbox, "/workspace/a", "x").unwrap();
    block_on(sandbox.delete(&path("/workspace/a"))).unwrap().unwrap();
    assert_eq!(download(&sandbox, &["/workspace/a"]), [Err(TransferCode::FileNotFound)]);
}
