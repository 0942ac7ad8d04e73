//! File tools run on the real kernel. Commands run on a fake engine, because these tests check how the backend handles
//! an engine's results.

mod command;
mod fifos;
mod files;
mod host_tool;
mod image;
mod large_results;
mod provider;
mod provider_lifecycle;
mod random_tree;
mod scripted_engine;
mod search;
mod shell_session;
mod snapshot;
mod snapshot_changes;
mod snapshot_diff;
mod snapshot_file;
mod snapshot_tar;
mod tool;
mod transfer;

use std::sync::Arc;

use futures_executor::block_on;
use tidebox_core::{
    Content, Dialect, FileError, FileErrorCode, FileResult, ReadRequest, ReadResponse, SandboxBackend, SandboxPath,
    WriteRequest,
};
use tidebox_kernel::{SeededEntropy, VirtualClock};

use crate::{BaseImage, Program, SandboxBuilder, USER, VfsBackend};
use scripted_engine::{ScriptedEngine, Step};

/// 2026-11-21, in nanoseconds.
const TODAY: u64 = 1_795_219_200_000_000_000;

fn path(text: &str) -> SandboxPath {
    SandboxPath::parse(text).unwrap()
}

fn builder(engine: ScriptedEngine) -> SandboxBuilder {
    let base = BaseImage::new(&[Program::new(["bash", "sh"], b"\0asm\x01\0\0\0".to_vec())]).unwrap();
    let clock = Box::new(VirtualClock::new(TODAY));
    SandboxBuilder::new(Arc::new(engine), &base, clock, Box::new(SeededEntropy::new(1)))
}

fn sandbox(dialect: Dialect) -> VfsBackend {
    builder(ScriptedEngine::new([Step::Exit(0)])).dialect(dialect).build().unwrap()
}

pub(crate) fn js() -> VfsBackend {
    sandbox(Dialect::Js)
}

fn write(sandbox: &VfsBackend, name: &str, content: impl Into<Vec<u8>>) -> FileResult<bool> {
    block_on(sandbox.write(WriteRequest::new(path(name), content))).unwrap().map(|written| written.created)
}

fn read(sandbox: &VfsBackend, name: &str) -> FileResult<ReadResponse> {
    block_on(sandbox.read(ReadRequest::new(path(name)))).unwrap()
}

fn text(sandbox: &VfsBackend, name: &str) -> String {
    match read(sandbox, name).unwrap().content {
        Content::Text(text) => text,
        Content::Binary(bytes) => panic!("{name} is binary: {bytes:?}"),
    }
}

fn code<T: std::fmt::Debug>(result: Result<T, FileError>) -> FileErrorCode {
    result.unwrap_err().code
}

fn chmod(sandbox: &VfsBackend, name: &str, mode: u32) {
    let kernel = sandbox.kernel("chmod").unwrap();
    let mut kernel = kernel.lock();
    let ino = crate::file::locate(kernel.fs(), name.as_bytes(), true).unwrap();
    kernel.fs_mut().chmod(&USER, ino, mode, TODAY).unwrap();
}

fn mode(sandbox: &VfsBackend, name: &str) -> u32 {
    let kernel = sandbox.kernel("stat").unwrap();
    let kernel = kernel.lock();
    kernel.fs().stat(crate::file::locate(kernel.fs(), name.as_bytes(), true).unwrap()).unwrap().mode
}

fn symlink(sandbox: &VfsBackend, target: &str, name: &str) {
    let kernel = sandbox.kernel("symlink").unwrap();
    let mut kernel = kernel.lock();
    let root = kernel.fs().root();
    kernel.fs_mut().symlink(&USER, target.as_bytes(), root, name.as_bytes(), TODAY).unwrap();
}
