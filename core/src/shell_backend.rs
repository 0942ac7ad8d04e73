//! File operations derived from POSIX sh, for backends that run commands and move files but have no file tools of their own.
//!
//! A backend says how to run a script and how to move bytes ([`ShellHost`]); [`ls()`], [`read`], [`write()`], [`edit`], [`delete`],
//! [`grep`] and [`glob`] do the rest, with nothing in the sandbox but `sh`, `find`, `grep`, `stat` and the like. GNU's and
//! busybox's will both do; no Python is needed, which the file tools of LangChain's own sandboxes ask for.
//!
//! What is decided by rules of the contract is decided here and not in the sandbox: pages, edits, the order of results and
//! what a glob means are those of [`crate::page`], [`crate::edit`] and [`crate::glob`]. Scripts only tell what is there.
//!
//! A write, and so an edit, is not atomic: a command that runs at the same time may see a part of the file.

use std::time::Duration;

use crate::backend::{BoxFuture, Outcome};
use crate::dialect::Dialect;
use crate::error::Result;
use crate::execute::ExecuteResponse;
use crate::path::SandboxPath;

mod change;
mod ls;
mod reply;
mod script;
mod search;
mod view;
mod walk;

pub use change::{delete, edit, write};
pub use ls::ls;
pub use script::quote;
pub use search::{glob, grep};
pub use view::read;

/// How long a script may run that looks at one path.
const SCRIPT_TIME: Duration = Duration::from_secs(60);

/// The largest file that [`edit`] changes, in bytes. It is held in memory twice.
pub const EDIT_BYTES: u64 = 64 << 20;

/// Takes a file piece by piece. False asks for no more.
pub type PieceSink<'a> = &'a mut (dyn FnMut(&[u8]) -> bool + Send);

/// What a backend has to be able to do for the file operations.
pub trait ShellHost: Send + Sync {
    /// Whose rules hold.
    fn dialect(&self) -> Dialect;

    /// Whether what a script writes to standard output arrives byte for byte. Otherwise scripts write hexadecimal digits,
    /// which takes twice the room.
    fn passes_bytes(&self) -> bool;

    /// Runs a script by the sandbox's shell, any that understands POSIX sh, in any directory.
    fn run_script(&self, script: String, time: Duration) -> BoxFuture<'_, Result<ExecuteResponse>>;

    /// Hands the content of a regular file to `sink`.
    fn fetch<'a>(&'a self, path: &'a SandboxPath, sink: PieceSink<'a>) -> Outcome<'a, ()>;

    /// Creates a file, whose directory is there, or replaces its content.
    fn store<'a>(&'a self, path: &'a SandboxPath, content: &'a [u8]) -> Outcome<'a, ()>;

    /// A path in the sandbox that nobody else uses, for content on its way to where it belongs.
    fn temporary_path(&self) -> SandboxPath;
}
