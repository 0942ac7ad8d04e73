//! Sandboxes with mounts.

use std::sync::Arc;

use futures_executor::block_on;
use tidebox_core::{ErrorKind, SandboxProvider};
use tidebox_kernel::Errno;
use tidebox_kernel::fs::{Access, EntryKind, Metadata, Mount, MountFile, MountMode};

use super::super::scripted_engine::Step;
use super::environment::*;
use crate::VfsProvider;

/// A file system with one file.
#[derive(Debug)]
struct OneFile;

impl Mount for OneFile {
    fn metadata(&self, path: &[u8]) -> std::result::Result<Metadata, Errno> {
        let kind = match path {
            b"" => EntryKind::Dir,
            b"shared" => EntryKind::File,
            _ => return Err(Errno::Noent),
        };
        Ok(Metadata { kind, mode: 0o755, nlink: 1, size: 4, atime: 0, mtime: 0, ctime: 0 })
    }

    fn read_dir(&self, _: &[u8]) -> std::result::Result<Vec<(Vec<u8>, EntryKind)>, Errno> {
        Ok(vec![(b"shared".to_vec(), EntryKind::File)])
    }

    fn open(&self, _: &[u8], _: Access) -> std::result::Result<Arc<dyn MountFile>, Errno> {
        Ok(Arc::new(Self))
    }
}

impl MountFile for OneFile {
    fn metadata(&self) -> std::result::Result<Metadata, Errno> {
        Mount::metadata(self, b"shared")
    }

    fn read_at(&self, offset: u64, dst: &mut [u8]) -> std::result::Result<usize, Errno> {
        let rest = b"host".get(usize::try_from(offset).unwrap_or(usize::MAX)..).unwrap_or_default();
        let n = rest.len().min(dst.len());
        dst[..n].copy_from_slice(&rest[..n]);
        Ok(n)
    }
}

/// A provider that saves sandboxes with a mount.
fn mounting_provider(environment: &TestEnvironment, mode: MountMode) -> VfsProvider {
    let make = environment.provider([Step::Exit(0)]);
    let make = move || Ok(make()?.mount("/mnt/host", Arc::new(OneFile), mode));
    VfsProvider::with_settings(make, Box::new(environment.clock.clone()), environment.stored())
}

#[test]
fn a_restored_sandbox_has_its_mount_without_saved_content() {
    let environment = TestEnvironment::default();
    for _ in 0..3 {
        let sandbox = get(&mounting_provider(&environment, MountMode::ReadOnly), thread_selector(1));
        assert_eq!(read(&*sandbox, "/mnt/host/shared").unwrap().as_deref(), Some(&b"host"[..]));
        write(&*sandbox, "/workspace/own", "x").unwrap();
    }
    let unmounted = get(&environment.start(environment.stored()), thread_selector(1));
    assert_eq!(read(&*unmounted, "/mnt/host/shared").unwrap(), None);
    assert_eq!(read(&*unmounted, "/workspace/own").unwrap().as_deref(), Some(&b"x"[..]));
}

#[test]
fn a_sandbox_that_cannot_be_saved_is_rejected_on_creation() {
    let provider = mounting_provider(&TestEnvironment::default(), MountMode::CopyOnWrite);
    assert_eq!(kind(block_on(provider.get_or_create(thread_selector(1)))), ErrorKind::Unsupported);
}
