//! The shell of the sandbox: bash as agents write it, not interactive.
//!
//! A text becomes IR (`parse`), whose words expand (`expand`) and whose commands run (`eval`). What a process may do
//! comes from `tidebox-rt`; outside the sandbox that is the operating system, so that the tests run beside real bash.

mod builtins;
mod eval;
mod expand;
mod invoke;
mod io;
mod ir;
mod jobs;
mod options;
mod parse;
mod pattern;
mod print;
mod state;
mod trap;
mod vars;

fn main() {
    let code = invoke::run(tidebox_rt::args());
    // Returning is the cheaper way to exit code 0: leaving from inside unwinds the instance.
    if code != 0 {
        tidebox_rt::exit(code)
    }
}
