//! Resource usage of a sandbox, for monitoring and for leak tests.

use crate::fs::FileUsage;
use crate::kernel::Kernel;

/// Resources in use. All but `files` return to zero when no command runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResourceUsage {
    /// Running commands.
    pub commands: u64,
    /// Their processes, zombies included.
    pub processes: u64,
    /// Open files of all processes; one that several descriptors share counts once.
    pub open_files: u64,
    /// Pipes.
    pub pipes: u64,
    /// Terminals.
    pub terminals: u64,
    /// Linear memory of all processes, in bytes.
    pub memory_bytes: u64,
    /// Capacity of all pipes, in bytes.
    pub pipe_bytes: u64,
    /// Arguments and environments of all processes, in bytes.
    pub argument_bytes: u64,
    /// Files of the sandbox.
    pub files: FileUsage,
}

impl Kernel {
    /// Returns the current usage.
    pub fn resource_usage(&self) -> ResourceUsage {
        ResourceUsage {
            commands: self.executions.len() as u64,
            processes: self.processes.len() as u64,
            open_files: self.files.count() as u64,
            pipes: self.pipes.count() as u64,
            terminals: self.terminals.count() as u64,
            memory_bytes: self.memory_bytes,
            pipe_bytes: self.pipe_bytes as u64,
            argument_bytes: self.string_bytes as u64,
            files: self.fs.usage(),
        }
    }
}
