//! Tests of the command `tidebox` through the built binary.

mod backend;
mod bash;
mod bounds;
mod configuration;
#[cfg(target_os = "linux")]
mod confine;
mod isolation;
mod options;
mod own_program;
#[cfg(unix)]
mod packs;
mod publish;
mod remote;
mod run;
mod serve;
mod session;
mod snapshot;
#[cfg(unix)]
mod terminal;
mod tools;
