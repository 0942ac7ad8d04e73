//! `bc` and `dc`, compatible with the GNU programs.

mod code;
mod dc;
mod library;
mod machine;
mod number;
mod output;
mod parse;
#[cfg(test)]
mod tests;
mod token;

use std::ops::ControlFlow;
use std::process::exit;

use tidebox_gnu::exit::{IntoExitCode, ToolResult};
use tidebox_gnu::message::arguments;
use tidebox_gnu::options::Syntax;
use tidebox_rt::Open;

use code::Function;
use machine::{Machine, Stop};
use parse::{Item as Read, Mistake, Names, Parser};
use token::Lexer;

/// Command names of this program.
#[cfg(test)]
pub(crate) const NAMES: &[&str] = &["bc", "dc"];

tidebox_gnu::options! {
    /// Options of `bc`.
    enum Flag {
        Help = "-h, --help", "print this usage and exit";
        Interactive = "-i, --interactive", "force interactive mode";
        Mathlib = "-l, --mathlib", "use the predefined math routines";
        Quiet = "-q, --quiet", "don't print initial banner";
        Version = "-v, --version", "print version information and exit";
        Standard = "-s, --standard", "", unsupported "option '-s' is not supported here";
        Warn = "-w, --warn", "", unsupported "option '-w' is not supported here";
    }
}

const LINE: Syntax<'_, Flag> = Syntax { version: VERSION, ..Syntax::new("bc", "usage: bc [options] [file ...]\n", 21) };

/// Text of `--version`. Scripts check its first line.
const VERSION: &str = "bc 1.07.1\nTidebox's bc does what that version does. It is free under MIT or Apache-2.0.\n";

fn main() {
    tidebox_rt::init();
    let code = if tidebox_gnu::message::program() == "dc" { dc::main(arguments()) } else { run() };
    if code != 0 {
        exit(code);
    }
}

fn run() -> i32 {
    let mut mathlib = false;
    let files = LINE.parse(arguments(), |flag, _| {
        // Neither a banner nor a terminal is supported, so the other options have no effect.
        mathlib |= flag == Flag::Mathlib;
        Ok(())
    });
    let files = match files {
        Ok(files) => files,
        Err(ToolResult::Usage(message, _)) => {
            tidebox_gnu::eprint_line!("bc: {message}");
            tidebox_gnu::eprint_part!("{}", LINE.help());
            return 1;
        }
        Err(answer) => return answer.into_exit_code("bc"),
    };
    let mut program = Program::new(mathlib);
    let mut input = Lexer::new(0);
    for file in &files {
        let shown = String::from_utf8_lossy(file).into_owned();
        let Ok(fd) = tidebox_rt::open(file, Open { read: true, ..Open::default() }) else {
            program.machine.output.flush();
            tidebox_gnu::eprint_line!("File {shown} is unavailable.");
            return 1;
        };
        let mut lexer = Lexer::new(fd);
        if let ControlFlow::Break(code) = program.source(&shown, &mut lexer, Some(&mut input)) {
            return code;
        }
    }
    match program.source("(standard_in)", &mut input, None) {
        ControlFlow::Break(code) => code,
        ControlFlow::Continue(()) => 0,
    }
}

/// All definitions until now.
struct Program {
    names: Names,
    functions: Vec<Function>,
    machine: Machine,
}

impl Program {
    fn new(mathlib: bool) -> Self {
        let mut program = Self { names: Names::default(), functions: Vec::new(), machine: Machine::new() };
        // The number 0 is the main program.
        program.names.function("", &mut program.functions);
        if mathlib {
            program.machine.scale = 20;
            for letter in ["e", "l", "s", "c", "a", "j"] {
                let at = program.names.function(letter, &mut program.functions);
                if let Some(function) = program.functions.get_mut(at) {
                    (function.defined, function.library) = (true, letter.chars().next());
                }
            }
        }
        program
    }

    /// Runs a source line by line. Breaks with the exit code when the program ends.
    ///
    /// `read()` reads the rest of `input`, or of the source itself.
    fn source(&mut self, name: &str, lexer: &mut Lexer, input: Option<&mut Lexer>) -> ControlFlow<i32> {
        let mut input = input;
        loop {
            if !lexer.has_line() {
                // The writer of the next line may wait for this output.
                self.machine.output.flush();
            }
            let item = Parser::new(lexer, &mut self.names, &mut self.functions).item();
            let illegal = std::mem::take(&mut lexer.illegal);
            if !illegal.is_empty() || item.is_err() {
                self.machine.output.flush();
            }
            for (line, shown) in &illegal {
                tidebox_gnu::eprint_line!("{name} {line}: illegal character: {shown}");
            }
            match item {
                Ok(Read::Line(_)) if !illegal.is_empty() => {}
                Ok(Read::Line(code)) => {
                    let more = match &mut input {
                        Some(input) => &mut **input,
                        None => &mut *lexer,
                    };
                    let outcome = self.machine.run(&code, &self.functions, &self.names, more);
                    if outcome == Err(Stop::Halt) {
                        self.machine.output.flush();
                        return ControlFlow::Break(0);
                    }
                }
                Ok(Read::End) => break,
                Ok(Read::Quit) | Err(Mistake::Quit) => {
                    self.machine.output.flush();
                    return ControlFlow::Break(0);
                }
                Err(Mistake::At(line, what)) => tidebox_gnu::eprint_line!("{name} {line}: {what}"),
            }
        }
        self.machine.output.flush();
        if lexer.failed {
            tidebox_gnu::eprint_line!("{name} {}: read() in flex scanner failed", lexer.line);
            return ControlFlow::Break(1);
        }
        ControlFlow::Continue(())
    }
}
