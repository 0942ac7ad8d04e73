//! `jq` with the command line, grammar and messages of the original, based on the jaq interpreter.

mod builtins;
mod depth;
mod input;
mod json;
mod options;
mod program;
mod run;
mod syntax;
#[cfg(test)]
mod tests;
mod value;

use std::cell::RefCell;

use std::path::Path;

use input::Inputs;
use options::{Options, Other};
use program::{Program, Source};
use run::{End, Output, World};
use tidebox_gnu::message::{arguments, bytes_path, error_text};
use value::{Map, Val};

/// Reports memory exhaustion with a message.
#[cfg(target_family = "wasm")]
#[global_allocator]
static ALLOCATOR: tidebox_rt::EndingAllocator =
    tidebox_rt::EndingAllocator { message: b"error: cannot allocate memory\n", code: 2, fails_from: usize::MAX };

/// Exit code of a usage error or an unreadable file.
const MISUSE: i32 = 2;
/// Exit code of a compile error.
const NO_PROGRAM: i32 = 3;
/// Exit code of invalid JSON input.
const NO_JSON: i32 = 4;
/// Exit code of a runtime error.
const FAILED: i32 = 5;

fn main() {
    tidebox_rt::init();
    depth::start();
    let code = match options::parse(arguments()) {
        Ok(options) => filter(options),
        Err(other) => instead(other),
    };
    std::process::exit(code);
}

fn instead(other: Other) -> i32 {
    match other {
        Other::Print(text) => i32::from(tidebox_gnu::exit::print(text.as_bytes()).is_err()) * MISUSE,
        Other::Fail(message) => {
            tidebox_gnu::eprint_line!("{message}");
            MISUSE
        }
        Other::Misuse(message) => {
            tidebox_gnu::eprint_part!("{message}\n{}", options::HELP);
            MISUSE
        }
        Other::Usage => {
            tidebox_gnu::eprint_part!("{}", options::USAGE);
            MISUSE
        }
    }
}

fn filter(options: Options) -> i32 {
    let program = match load(&options) {
        Ok(program) => program,
        Err(code) => return code,
    };
    let world = World {
        inputs: RefCell::new(Inputs::new(options.files, options.reading)),
        patterns: RefCell::default(),
        out: RefCell::new(Output::new()),
    };
    let form = &options.form;
    let code = if options.null_input {
        code_of(run::run(&program, &world, form, Val::Null), options.exit_status)
    } else {
        each_input(&program, &world, form, options.exit_status)
    };
    world.out.borrow_mut().flush();
    if let Some(error) = world.out.borrow_mut().take_error() {
        if error.kind() != std::io::ErrorKind::BrokenPipe {
            tidebox_gnu::eprint_line!("Error: writing output failed: {}", error_text(&error));
        }
        return MISUSE;
    }
    if world.inputs.borrow().failures > 0 { MISUSE } else { code }
}

fn each_input(program: &Program, world: &World, form: &run::Form, exit_status: bool) -> i32 {
    let mut code = code_of(End::Silent, exit_status);
    loop {
        let next = world.inputs.borrow_mut().next();
        match next {
            Ok(Some(value)) => {
                let end = run::run(program, world, form, value);
                code = code_of(end, exit_status);
                if matches!(end, End::Halt(_)) {
                    return code;
                }
            }
            Ok(None) => return code,
            Err(message) => {
                world.print_error(&format!("parse error: {message}\n"));
                return NO_JSON;
            }
        }
    }
}

/// The exit code. With `-e` it depends on the last output.
fn code_of(end: End, exit_status: bool) -> i32 {
    match end {
        End::Error => FAILED,
        End::Halt(code) => code,
        End::Silent if exit_status => 4,
        End::False if exit_status => 1,
        End::Silent | End::False | End::True => 0,
    }
}

fn load(options: &Options) -> Result<Program, i32> {
    let text =
        if options.from_file { read_program(bytes_path(options.program.as_bytes()))? } else { options.program.clone() };
    let mut globals = vec![("ENV".to_owned(), environment())];
    let arguments = Val::record([
        ("positional", Val::array(options.positional.clone())),
        ("named", Val::object(options.named.clone())),
    ]);
    globals.push(("ARGS".to_owned(), arguments));
    globals.extend(options.named.iter().map(|(name, value)| (name.to_string(), value.clone())));
    program::compile(Source { text, globals }).map_err(|messages| {
        for message in &messages {
            tidebox_gnu::eprint_line!("{message}");
        }
        let plural = if messages.len() == 1 { "" } else { "s" };
        tidebox_gnu::eprint_line!("jq: {} compile error{plural}", messages.len());
        NO_PROGRAM
    })
}

fn read_program(path: &Path) -> Result<String, i32> {
    match std::fs::read(path) {
        Ok(text) => Ok(String::from_utf8_lossy(&text).into_owned()),
        Err(error) => {
            tidebox_gnu::eprint_line!("jq: Could not open {}: {}", path.display(), error_text(&error));
            Err(MISUSE)
        }
    }
}

fn environment() -> Val {
    let text = |text: std::ffi::OsString| text.to_string_lossy().into_owned();
    let variables: Map = std::env::vars_os().map(|(name, value)| (text(name).into(), Val::from(text(value)))).collect();
    Val::object(variables)
}
