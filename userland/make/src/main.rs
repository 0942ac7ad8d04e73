//! `make`: the language and the messages of GNU Make 4.3, one job at a time.

mod assign;
mod automatic;
mod builtin;
mod command;
mod condition;
mod environment;
mod expand;
mod failure;
mod file;
mod function;
mod implicit;
mod options;
mod path;
mod pattern;
mod program;
mod read;
mod recipe;
mod rule;
mod source;
mod special;
mod start;
mod update;
mod variable;
mod vpath;
mod words;

use std::collections::HashSet;
use std::process::exit;

use assign::PatternVariable;
use file::{FileId, Files, Location};
use options::Options;
use read::Makefile;
use rule::PatternRule;
use variable::{Origin, Scope, ScopeId};
use vpath::Vpath;

/// State of make.
#[derive(Debug)]
struct Make {
    /// Program name without directories.
    name: String,
    /// Value of `MAKE` in recipes.
    command: Vec<u8>,
    /// Recursion level (`MAKELEVEL`).
    level: u32,
    options: Options,
    /// The working directory.
    directory: Vec<u8>,
    globals: Scope,
    locals: Vec<Scope>,
    /// Arguments of the innermost `call`.
    call_arguments: usize,
    /// Recursive variables in expansion, and whether they are called as functions.
    expanding: Vec<(Vec<u8>, ScopeId, bool)>,
    depth: usize,
    include_depth: usize,
    /// The target whose variables are visible.
    target: Option<FileId>,
    files: Files,
    pattern_rules: Vec<PatternRule>,
    pattern_variables: Vec<PatternVariable>,
    vpaths: Vec<Vpath>,
    vpath_all: Vec<Vec<u8>>,
    makefiles: Vec<Makefile>,
    /// Position that is read or run.
    location: Option<Location>,
    /// Position of the assignment whose value is expanded.
    defined_at: Option<Location>,
    /// Origin of the assignments that are read.
    reading_origin: Origin,
    recipe_prefix: u8,
    one_shell: bool,
    posix: bool,
    export_all: bool,
    delete_on_error: bool,
    all_secondary: bool,
    suffixes_cleared: bool,
    /// A makefile assigned to `MAKEFLAGS`.
    flags_changed: bool,
    /// The makefiles are being updated.
    rebuilding: bool,
    announced: bool,
    clock_skew: bool,
    write_failed: bool,
    commands_started: u64,
    /// The initial environment, for `$(shell)`.
    shell_environment: Vec<Vec<u8>>,
    inherited_environment: HashSet<Vec<u8>>,
    outer_shell: Option<Vec<u8>>,
}

fn main() {
    tidebox_rt::init();
    let code = start::run();
    // Returning is cheaper for exit code 0: exiting from inside unwinds the instance.
    if code != 0 {
        exit(code);
    }
}

#[cfg(test)]
mod tests;
