//! The shell of the sandbox: a bash-compatible shell for scripts and commands of agents.
//!
//! `parse` converts a text to IR, `expand` expands its words, and `eval` runs its commands. System calls go through
//! `tidebox-rt`, which uses the operating system outside the sandbox, so that tests can compare the shell with bash.

mod builtins;
mod character;
mod escape;
mod eval;
mod expand;
mod function;
mod history;
mod invoke;
mod io;
mod ir;
mod job_control;
mod jobs;
mod options;
mod parse;
mod pattern;
mod positional;
mod print;
mod regex;
mod session;
mod state;
mod terminal;
#[cfg(test)]
mod tests;
mod trap;
mod vars;

/// Scripts may run out of memory and get bash's message. Allocations starting at 1 MiB fail instead, so that the message can
/// name their size.
#[cfg(target_family = "wasm")]
#[global_allocator]
static ALLOCATOR: tidebox_rt::EndingAllocator =
    tidebox_rt::EndingAllocator { message: b"sh: xmalloc: cannot allocate memory\n", code: 2, fails_from: 1 << 20 };

fn main() {
    // std ignores SIGPIPE on an operating system; a shell must end by it.
    #[cfg(not(target_family = "wasm"))]
    let _ = tidebox_rt::sig_set(13, tidebox_rt::Disposition::Default);
    let code = invoke::run(&tidebox_rt::startup_info());
    // Returning is the cheaper way to exit code 0: leaving from inside unwinds the instance.
    if code != 0 {
        tidebox_rt::exit(code)
    }
}
