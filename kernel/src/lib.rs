//! The kernel: a small Unix as a pure library.
//!
//! It manages files, descriptors, pipes, processes, signals and limits, and decodes guest calls: [`wasi::preview1`] is
//! `wasi_snapshot_preview1`, [`wasi::tidebox`] is `tidebox_v1` (`docs/abi.md`). It never waits and never accesses the host: time
//! and randomness come through [`Clock`] and [`Entropy`], and a call that cannot complete returns [`SyscallOutcome::Block`]. An
//! engine runs the guests, waits for blocked calls and implements [`engine::Engine`].
//!
//! A call is a function over `(&mut Kernel, Pid, &mut dyn GuestMemory, arguments)`. All guest input is hostile until checked: no
//! argument makes a call panic, and memory is charged before it is allocated.

#![forbid(unsafe_code)]

mod cpu_time;
mod descriptor;
pub mod engine;
mod errno;
mod exec;
mod execution;
mod exit;
mod fd;
mod fifo;
pub mod fs;
mod guest_memory;
mod host;
mod host_stream;
mod host_terminal;
mod host_writer;
mod kernel;
mod limit_reached;
mod open_file;
mod path_calls;
mod pipe;
mod process;
mod process_flags;
mod procfs;
pub mod program_limits;
mod readiness;
mod request_channel;
mod resolve;
mod resource_usage;
mod saved_process;
mod signal;
mod slab;
mod socket;
mod stat;
mod syscall;
mod terminal;
#[cfg(test)]
mod testing;
mod time;
mod time_slice;
mod transfer;
mod waiters;
pub mod wasi;

pub use descriptor::{DirEntry, OpenMode};
pub use errno::Errno;
pub use execution::{ExecutionId, ExecutionReport, ExecutionSpec};
pub use guest_memory::{GuestMemory, MemoryFault};
pub use host::{HostProcess, HostProgram, HostPrograms, ProcessHandle};
pub use host_stream::{ConnectionReset, HostConnector, HostStream};
pub use host_terminal::HostTerminal;
pub use host_writer::HostWriter;
pub use kernel::{Kernel, KernelConfig, SharedKernel};
pub use path_calls::{OpenOptions, TimeSpec};
pub use process::{CStringList, Executable, ExitStatus, ForkOrigin, PendingProcess, Pid};
pub use process_flags::ProcessFlags;
pub use resource_usage::ResourceUsage;
pub use saved_process::{RestEvent, SavedFile, SavedMemory, SavedObject, SavedProcess, SavedState, SavedStateError};
pub use signal::Signal;
pub use stat::{FileStat, FileType};
pub use syscall::{SyscallError, SyscallOutcome, Wait};
pub use tidebox_core::{OutputChunk, OutputStream, StopReason};
pub use time::{Clock, Entropy, SeededEntropy, VirtualClock};
