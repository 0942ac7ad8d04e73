//! The shell of the sandbox: bash as agents write it, not interactive.
//!
//! A text becomes IR (`parse`), whose words expand (`expand`) and whose commands run (`eval`). What a process may do
//! comes from `tidebox-rt`; outside the sandbox that is the operating system, so that the tests run beside real bash.

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
mod jobs;
mod options;
mod parse;
mod pattern;
mod positional;
mod print;
mod regex;
mod restricted;
mod session;
mod state;
#[cfg(test)]
mod tests;
mod trap;
mod vars;

/// Scripts do run out of memory, and are to be told so as bash does. Strings from 1 MiB on are asked for where a message can
/// name them.
#[cfg(target_family = "wasm")]
#[global_allocator]
static ALLOCATOR: tidebox_rt::EndingAllocator =
    tidebox_rt::EndingAllocator { message: b"sh: xmalloc: cannot allocate memory\n", code: 2, fails_from: 1 << 20 };

fn main() {
    // std ignores this signal where there is an operating system; a shell must die of it.
    #[cfg(not(target_family = "wasm"))]
    let _ = tidebox_rt::sig_set(13, tidebox_rt::Disposition::Default);
    let code = invoke::run(&tidebox_rt::started());
    // Returning is the cheaper way to exit code 0: leaving from inside unwinds the instance.
    if code != 0 {
        tidebox_rt::exit(code)
    }
}
