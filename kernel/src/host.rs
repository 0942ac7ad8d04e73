//! Programs that the application runs instead of an engine.
//!
//! Such a program is a process like every other: it has a number, descriptors, a working directory, a parent that waits,
//! and it dies of signals. Only what it does is a future of the application's, [`HostProcess`], which every engine polls
//! beside its guests.

mod process;
mod stream;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, MutexGuard, PoisonError};

use tidebox_core::{BoxFuture, HostCall, SandboxId};

use crate::errno::Errno;
use crate::fs::{Contents, Cred, FileBytes, Ino, Target};
use crate::kernel::{Kernel, SharedKernel};

pub use process::HostProcess;
pub use stream::CallingProcess;

/// What the application runs for a process.
pub trait HostProgram: Send + Sync + fmt::Debug {
    /// Begins a call. The number that the future ends with is the exit code. `call` has no files yet
    /// ([`HostCall::files`]); whoever installs the program may give it those that `process` reaches.
    ///
    /// The future is polled without the kernel's lock and dropped when the process dies. A panic ends the process as an
    /// abort would.
    fn start(&self, process: CallingProcess, call: HostCall) -> BoxFuture<'static, u8>;
}

/// What the file of such a program holds. The bytes make nothing happen, wherever they are: a copy says what is wrong
/// with it, as does the file itself where the program is no longer installed.
const TEXT: &str = "#!/bin/sh\n\
    # The application that owns this sandbox answers this command itself. What it does is not in this file.\n\
    echo \"${0##*/}: the application does not answer this file; call the command by the name it was installed as\" >&2\n\
    exit 126\n";

/// Read and run by everybody, changed by nobody.
const MODE: u32 = 0o755;

/// The host itself, whom no mode bit stops.
const ROOT: Cred = Cred { uid: 0, gid: 0 };

/// The programs of one sandbox that the application runs.
///
/// A program is known by the bytes of its file: not by what they say, but by where they are in the host's memory, which
/// is shared by the inode and its snapshots and by nothing that a guest can make.
#[derive(Clone, Debug)]
pub struct HostPrograms {
    sandbox: SandboxId,
    /// By the address of the bytes, which the entry keeps alive and therefore unique.
    installed: Arc<BTreeMap<usize, Installed>>,
}

#[derive(Clone, Debug)]
struct Installed {
    path: Vec<u8>,
    bytes: FileBytes,
    program: Arc<dyn HostProgram>,
}

impl HostPrograms {
    /// No programs yet. `sandbox` is who they are told that calls.
    pub fn new(sandbox: SandboxId) -> Self {
        Self { sandbox, installed: Arc::default() }
    }

    /// Adds the program for the file at `path`, which must be absolute.
    pub fn add(&mut self, path: impl Into<Vec<u8>>, program: impl HostProgram + 'static) {
        // On the heap, so that each program has bytes of its own to be known by.
        let bytes = FileBytes::from(TEXT.as_bytes().to_vec());
        let entry = Installed { path: path.into(), bytes: bytes.clone(), program: Arc::new(program) };
        Arc::make_mut(&mut self.installed).insert(bytes.address(), entry);
    }

    fn find(&self, contents: &Contents) -> Option<&Installed> {
        self.installed.get(&contents.shared()?.address())
    }
}

impl Kernel {
    /// Takes these programs instead of those there were, and places a file for each where theirs is not yet.
    ///
    /// # Errors
    /// Those of [`Fs::install`](crate::fs::Fs::install). The programs before it in the order of their paths are installed.
    pub fn set_host_programs(&mut self, programs: HostPrograms) -> Result<(), Errno> {
        // Where the bytes lie differs from run to run, and inodes must not.
        let mut in_order: Vec<&Installed> = programs.installed.values().collect();
        in_order.sort_by(|one, other| one.path.cmp(&other.path));
        for installed in in_order {
            if !self.holds(&installed.path, &programs) {
                self.fs.install(&installed.path, installed.bytes.clone(), MODE, ROOT.uid)?;
            }
        }
        self.host_programs = Some(programs);
        Ok(())
    }

    /// Tells the programs of the application that calls come from `sandbox` from now on: this kernel is a fork.
    pub fn set_sandbox(&mut self, sandbox: SandboxId) {
        if let Some(programs) = &mut self.host_programs {
            programs.sandbox = sandbox;
        }
    }

    /// Whether the file at `path` is the one of the program that belongs there.
    fn holds(&self, path: &[u8], programs: &HostPrograms) -> bool {
        let Ok(Target::Node(ino)) = self.fs.walk(&ROOT, self.fs.root(), path, false) else { return false };
        let Ok(contents) = self.fs.contents(ino) else { return false };
        programs.find(&contents).is_some_and(|found| found.path == path)
    }

    /// The program of the application that a file stands for, if any. Only what belongs to root counts.
    pub(crate) fn host_program(&self, ino: Ino) -> Result<Option<Arc<dyn HostProgram>>, Errno> {
        let Some(programs) = &self.host_programs else { return Ok(None) };
        if self.fs.stat(ino)?.uid != ROOT.uid {
            return Ok(None);
        }
        Ok(programs.find(&self.fs.contents(ino)?).map(|found| Arc::clone(&found.program)))
    }
}

/// Locks the kernel. A panic elsewhere while it was held is that one's error, not a reason to lose the sandbox.
fn lock(kernel: &SharedKernel) -> MutexGuard<'_, Kernel> {
    kernel.lock().unwrap_or_else(PoisonError::into_inner)
}
