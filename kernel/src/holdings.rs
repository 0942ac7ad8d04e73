//! What a sandbox holds at a moment, for whoever watches over many, and for tests that nothing is left behind.

use crate::fs::Usage;
use crate::kernel::Kernel;

/// What a sandbox takes up. All but `files` is back at zero when no command runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Holdings {
    /// Commands that run.
    pub commands: u64,
    /// Their processes, zombies included.
    pub processes: u64,
    /// Open files of all of them; what several descriptors share counts once.
    pub open_files: u64,
    /// Pipes.
    pub pipes: u64,
    /// Linear memory of all processes, in bytes.
    pub memory_bytes: u64,
    /// Room of all pipes together, in bytes.
    pub pipe_bytes: u64,
    /// Arguments and environments of all processes, in bytes.
    pub argument_bytes: u64,
    /// Its own files.
    pub files: Usage,
}

impl Kernel {
    /// What it holds now.
    pub fn holdings(&self) -> Holdings {
        Holdings {
            commands: self.sessions.len() as u64,
            processes: self.processes.len() as u64,
            open_files: self.files.count() as u64,
            pipes: self.pipes.count() as u64,
            memory_bytes: self.memory_bytes,
            pipe_bytes: self.pipe_bytes as u64,
            argument_bytes: self.string_bytes as u64,
            files: self.fs.usage(),
        }
    }
}
