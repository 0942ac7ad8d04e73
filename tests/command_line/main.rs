//! The command `tidebox` as a user meets it: what is promised for it, one test per promise, through the built binary.

mod backend;
mod bash;
mod bounds;
mod isolation;
mod options;
mod own_program;
#[cfg(unix)]
mod packs;
mod run;
mod serve;
mod session;
#[cfg(unix)]
mod terminal;
