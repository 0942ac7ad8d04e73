//! FIFOs among files: rejected by reads and writes, skipped by searches, kept by snapshots, and never waited for.

use futures_executor::block_on;
use tidebox_core::{
    EditRequest, FileErrorCode, FileKind, GlobRequest, GrepRequest, SandboxBackend, TransferCode, Upload,
};

use super::{code, js, path, read, write};
use crate::{Snapshot, USER, VfsBackend};

/// A sandbox with a FIFO that no process has open, and a file.
fn with_fifo() -> VfsBackend {
    let sandbox = js();
    write(&sandbox, "/workspace/d/a", "needle\n").unwrap();
    let kernel = sandbox.kernel("test").unwrap();
    let mut kernel = kernel.lock();
    let fs = kernel.fs_mut();
    fs.mkfifo(&USER, fs.root(), b"/workspace/d/fifo", 0o640, 1).unwrap();
    drop(kernel);
    sandbox
}

#[test]
fn tools_and_transfers_do_not_wait_on_a_fifo() {
    let sandbox = with_fifo();
    assert_eq!(code(read(&sandbox, "/workspace/d/fifo")), FileErrorCode::NotARegularFile);
    assert_eq!(code(write(&sandbox, "/workspace/d/fifo", "x")), FileErrorCode::NotARegularFile);
    let edit = EditRequest::new(path("/workspace/d/fifo"), "a", "b");
    assert_eq!(code(block_on(sandbox.edit(edit)).unwrap()), FileErrorCode::NotARegularFile);
    let uploads = block_on(sandbox.upload_files(vec![Upload::new("/workspace/d/fifo", *b"x")])).unwrap();
    assert_eq!(uploads[0].result.as_ref().unwrap_err().code, FileErrorCode::NotARegularFile);
    let downloads = block_on(sandbox.download_files(vec![b"/workspace/d/fifo".to_vec()])).unwrap();
    assert_eq!(downloads[0].result.as_ref().unwrap_err().code.transfer_code(), TransferCode::InvalidPath);
}

#[test]
fn searches_skip_a_fifo_and_listings_show_it() {
    let sandbox = with_fifo();
    let found = block_on(sandbox.grep(GrepRequest::new("needle", path("/workspace")))).unwrap().unwrap();
    assert_eq!(found.matches.len(), 1);
    let one = block_on(sandbox.grep(GrepRequest::new("needle", path("/workspace/d/fifo")))).unwrap();
    assert_eq!(code(one), FileErrorCode::NotARegularFile);
    let found = block_on(sandbox.glob(GlobRequest::new("d/a*", path("/workspace")))).unwrap().unwrap();
    assert_eq!(found.files.len(), 1);
    let listed = block_on(sandbox.ls(&path("/workspace/d"))).unwrap().unwrap();
    let kinds: Vec<_> = listed.entries.iter().map(|entry| (entry.kind, entry.size)).collect();
    assert_eq!(kinds, [(FileKind::File, Some(7)), (FileKind::Other, None)]);
}

#[test]
fn forks_and_diffs_include_a_fifo_and_delete_removes_it() {
    let sandbox = with_fifo();
    let before = js().snapshot().unwrap();
    let after = sandbox.fork().unwrap().snapshot().unwrap();
    let diff = Snapshot::diff(&before, &after);
    let fifo = diff.changes.iter().find(|change| change.path.ends_with(b"fifo")).expect("it was added");
    assert_eq!(fifo.after.as_ref().map(|side| (side.kind, side.mode)), Some((FileKind::Other, 0o640)));
    block_on(sandbox.delete(&path("/workspace/d/fifo"))).unwrap().unwrap();
    assert_eq!(code(read(&sandbox, "/workspace/d/fifo")), FileErrorCode::FileNotFound);
}
