//! Host programs: programs that the application runs instead of an engine.
//!
//! Such a program is a process like every other: it has a pid, descriptors, a working directory and a parent that waits, and
//! signals kill it. Only its code is a future of the application, [`HostProcess`], which the engine polls together with its
//! guests.

mod process;
mod stream;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use tidebox_core::{BoxFuture, HostCall, SandboxId};

use crate::errno::Errno;
use crate::fs::{Contents, Cred, FileBytes, Ino, Resolved};
use crate::kernel::Kernel;

pub use process::HostProcess;
pub use stream::ProcessHandle;

/// Code that the application runs for a process.
pub trait HostProgram: Send + Sync + fmt::Debug {
    /// Starts a call. The output of the future is the exit code. `call` has no file access yet ([`HostCall::files`]); the
    /// component that installs the program may add the files that `process` can reach.
    ///
    /// The future is polled without the kernel's lock and dropped when the process dies. A panic ends the process like an abort.
    fn start(&self, process: ProcessHandle, call: HostCall) -> BoxFuture<'static, u8>;
}

/// Content of the file of a host program. The bytes do not make it executable anywhere else: a copy prints an error, as does the
/// file itself in a sandbox where the program is not installed.
const STUB_TEXT: &str = "#!/bin/sh\n\
    # Stub of a host tool. The application that embeds this sandbox runs the command.\n\
    echo \"${0##*/}: cannot run this file: it is a stub of a host tool; call the command by its installed name\" >&2\n\
    exit 126\n";

/// Readable and executable by all users, writable by none.
const MODE: u32 = 0o755;

/// Host credentials, which pass every check.
const ROOT: Cred = Cred { uid: 0, gid: 0 };

/// The host programs of one sandbox.
///
/// A program is identified by the address of its file's bytes in host memory, not by their content. The address is shared by the
/// inode and its snapshots, and a guest cannot create another file with it.
#[derive(Clone, Debug)]
pub struct HostPrograms {
    sandbox: SandboxId,
    /// Keyed by the address of the bytes; the entry keeps them alive, so the address is unique.
    installed: Arc<BTreeMap<usize, Installed>>,
}

#[derive(Clone, Debug)]
struct Installed {
    path: Vec<u8>,
    bytes: FileBytes,
    program: Arc<dyn HostProgram>,
}

impl HostPrograms {
    /// Creates an empty set. `sandbox` is the caller's id that programs receive.
    pub fn new(sandbox: SandboxId) -> Self {
        Self { sandbox, installed: Arc::default() }
    }

    /// Adds the program for the file at `path`, which must be absolute.
    pub fn add(&mut self, path: impl Into<Vec<u8>>, program: impl HostProgram + 'static) {
        // A separate heap allocation, so that each program has a unique address.
        let bytes = FileBytes::from(STUB_TEXT.as_bytes().to_vec());
        let entry = Installed { path: path.into(), bytes: bytes.clone(), program: Arc::new(program) };
        Arc::make_mut(&mut self.installed).insert(bytes.address(), entry);
    }

    fn find(&self, contents: &Contents) -> Option<&Installed> {
        self.installed.get(&contents.shared()?.address())
    }
}

impl Kernel {
    /// Replaces the host programs, and installs a file for each program whose file is missing.
    ///
    /// # Errors
    /// Those of [`Fs::install`](crate::fs::Fs::install). The programs before it in path order are installed.
    pub fn set_host_programs(&mut self, programs: HostPrograms) -> Result<(), Errno> {
        // Addresses differ between runs, but inode numbers must not.
        let mut in_order: Vec<&Installed> = programs.installed.values().collect();
        in_order.sort_by(|one, other| one.path.cmp(&other.path));
        for installed in in_order {
            if !self.is_installed_at(&installed.path, &programs) {
                self.fs.install(&installed.path, installed.bytes.clone(), MODE, ROOT.uid)?;
            }
        }
        self.host_programs = Some(programs);
        Ok(())
    }

    /// Sets the sandbox id that host programs receive, after this kernel was forked.
    pub fn set_sandbox_id(&mut self, sandbox: SandboxId) {
        if let Some(programs) = &mut self.host_programs {
            programs.sandbox = sandbox;
        }
    }

    /// Returns whether the file at `path` belongs to the program installed there.
    fn is_installed_at(&self, path: &[u8], programs: &HostPrograms) -> bool {
        let Ok(Resolved::Node(ino)) = self.fs.walk(&ROOT, self.fs.root(), path, false) else { return false };
        let Ok(contents) = self.fs.contents(ino) else { return false };
        programs.find(&contents).is_some_and(|found| found.path == path)
    }

    /// Returns the host program of a file, if any. The file must be owned by root.
    pub(crate) fn host_program(&self, ino: Ino) -> Result<Option<Arc<dyn HostProgram>>, Errno> {
        let Some(programs) = &self.host_programs else { return Ok(None) };
        if self.fs.stat(ino)?.uid != ROOT.uid {
            return Ok(None);
        }
        Ok(programs.find(&self.fs.contents(ino)?).map(|found| Arc::clone(&found.program)))
    }
}
