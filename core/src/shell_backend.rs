//! File operations derived from POSIX sh, for backends that can run commands and transfer files but have no native file tools.
//!
//! A backend implements running a script and transferring bytes ([`ShellTransport`]); [`ls()`], [`read()`], [`write()`], [`edit`],
//! [`delete`], [`grep`] and [`glob`] are derived from it. The sandbox needs only `sh`, `find`, `grep`, `stat` and similar tools,
//! of GNU or busybox. Python, which the file tools of LangChain's own sandboxes need, is not required.
//!
//! The rules of the contract are implemented here and not in the sandbox: pages, edits, the order of results and glob matching
//! are those of [`crate::page`], [`crate::edit`] and [`crate::glob`]. Scripts only report the state of the file system.
//!
//! A write, and so an edit, is not atomic: a concurrent command may see a part of the file.

use std::time::Duration;

use crate::backend::{BoxFuture, FileFuture};
use crate::dialect::Dialect;
use crate::error::Result;
use crate::execute::ExecuteResponse;
use crate::path::SandboxPath;

mod ls;
mod read;
mod reply;
mod script;
mod search;
mod walk;
mod write;

pub use ls::ls;
pub use read::read;
pub use script::quote;
pub use search::{glob, grep};
pub use write::{delete, edit, write};

/// Timeout of a script that accesses one path.
const SCRIPT_TIMEOUT: Duration = Duration::from_secs(60);

/// Maximum size of a file that [`edit`] changes, in bytes. It is in memory twice.
pub const EDIT_BYTES: u64 = 64 << 20;

/// Receives a file in chunks. Returns false to stop the transfer.
pub type ChunkSink<'a> = &'a mut (dyn FnMut(&[u8]) -> bool + Send);

/// Operations that a backend must implement for the file operations.
pub trait ShellTransport: Send + Sync {
    /// Returns the dialect whose rules apply.
    fn dialect(&self) -> Dialect;

    /// Returns whether the standard output of a script arrives byte for byte. Otherwise scripts write hexadecimal digits, which
    /// doubles the size.
    fn is_binary_safe(&self) -> bool;

    /// Runs a script with the sandbox's shell, any POSIX sh, in any directory.
    fn run_script(&self, script: String, time: Duration) -> BoxFuture<'_, Result<ExecuteResponse>>;

    /// Sends the content of a regular file to `sink`.
    fn fetch<'a>(&'a self, path: &'a SandboxPath, sink: ChunkSink<'a>) -> FileFuture<'a, ()>;

    /// Creates a file in an existing directory, or replaces its content.
    fn store<'a>(&'a self, path: &'a SandboxPath, content: &'a [u8]) -> FileFuture<'a, ()>;

    /// Returns an unused path in the sandbox, for the temporary file of a transfer.
    fn temporary_path(&self) -> SandboxPath;
}
