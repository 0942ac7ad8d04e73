//! The kernel: a small Unix as a pure library.
//!
//! It owns files, descriptors, pipes, processes, signals and limits, and decodes what guests call:
//! [`wasi::p1`] is `wasi_snapshot_preview1`, [`wasi::ext`] is `tidebox_v1` (`docs/abi.md`). It never waits and never
//! looks at the host: time and randomness come through [`Clock`] and [`Entropy`], and a call that cannot go on answers
//! [`wasi::Sys::Block`]. An engine runs the guests, does the waiting and implements [`engine::Engine`].
//!
//! A call is a function over `(&mut Kernel, Pid, &mut dyn GuestMem, arguments)`. Everything a guest passes is hostile
//! until checked: no argument makes a call panic, and memory is charged before it is allocated.

#![forbid(unsafe_code)]

mod at;
mod conversation;
mod descriptor;
pub mod engine;
mod errno;
mod exec;
mod fd;
mod fifo;
pub mod fs;
mod holdings;
mod host;
mod kernel;
mod life;
mod open_file;
mod pipe;
mod printed;
mod process;
mod procfs;
pub mod program_bounds;
mod readiness;
mod resolve;
mod session;
mod signal;
mod slab;
mod stat;
#[cfg(test)]
mod testing;
mod time;
mod transfer;
mod turn;
pub mod wasi;

pub use at::{Opening, Stamp};
pub use descriptor::{Listed, Mode};
pub use errno::Errno;
pub use holdings::Holdings;
pub use host::{CallingProcess, HostProcess, HostProgram, HostPrograms};
pub use kernel::{Kernel, KernelConfig, SharedKernel};
pub use printed::Printed;
pub use process::{Fork, Image, Pid, Start, Status};
pub use session::{Chunk, Report, SessionId, SessionSpec, Stop, Stream};
pub use signal::Signal;
pub use stat::{Description, FileType};
pub use time::{Clock, Entropy, FixedClock, SeededEntropy};
