//! Shared test helpers.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tidebox_core::Limits;
use tidebox_kernel::engine::{Engine, EngineError};
use tidebox_kernel::fs::{Cred, Fs, Ino, Mount, MountMode, Resolved};
use tidebox_kernel::{Errno, ExecutionId, OutputChunk, SeededEntropy, SharedKernel, VirtualClock};
use tidebox_vfs_backend::{BaseImage, SandboxBuilder, VfsBackend};

pub(crate) const USER: Cred = Cred { uid: 1000, gid: 1000 };

/// Creates a file tree of a sandbox, with a file system mounted at `/m`.
pub(crate) fn mounted(mount: impl Mount + 'static, mode: MountMode) -> Fs {
    let mut fs = Fs::new(&Limits::default());
    fs.install_dir(b"/", 0o755, USER.uid).expect("the root exists");
    fs.mount(b"/m", Arc::new(mount), mode).expect("it can be mounted");
    fs
}

/// Short forms of file operations.
pub(crate) trait Use {
    fn at(&self, path: &str) -> Result<Ino, Errno>;
    fn text(&self, path: &str) -> Result<String, Errno>;
    fn names(&self, path: &str) -> Result<Vec<String>, Errno>;
    fn put(&mut self, path: &str, text: &str) -> Result<(), Errno>;
}

impl Use for Fs {
    fn at(&self, path: &str) -> Result<Ino, Errno> {
        match self.walk(&USER, self.root(), path.as_bytes(), true)? {
            Resolved::Node(ino) => Ok(ino),
            Resolved::Proc(_) => Err(Errno::Noent),
        }
    }

    fn text(&self, path: &str) -> Result<String, Errno> {
        self.read_all(self.at(path)?, u64::MAX).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    fn names(&self, path: &str) -> Result<Vec<String>, Errno> {
        let dir = self.at(path)?;
        self.check_dir(dir, None)?;
        Ok(self.read_dir(dir, None).map(|(name, ..)| String::from_utf8_lossy(&name).into_owned()).collect())
    }

    fn put(&mut self, path: &str, text: &str) -> Result<(), Errno> {
        let (ino, _) = self.create(&USER, self.root(), path.as_bytes(), 0o644, false, 5)?;
        self.write_all(ino, text.as_bytes(), 5)
    }
}

/// An engine for sandboxes in which no program runs.
#[derive(Debug)]
struct Idle;

impl Engine for Idle {
    fn drive<'a>(
        &'a self,
        _: &'a SharedKernel,
        _: ExecutionId,
        _: Duration,
        _: Option<&'a mut (dyn FnMut(OutputChunk) + Send)>,
    ) -> Pin<Box<dyn Future<Output = Result<(), EngineError>> + Send + 'a>> {
        Box::pin(std::future::ready(Ok(())))
    }
}

pub(crate) fn builder() -> SandboxBuilder {
    let base = BaseImage::new(&[]).expect("it contains no programs");
    SandboxBuilder::new(Arc::new(Idle), &base, Box::new(VirtualClock::new(0)), Box::new(SeededEntropy::new(1)))
}

pub(crate) fn sandbox() -> Arc<VfsBackend> {
    Arc::new(builder().build().expect("it can be built"))
}
