//! `dc`, a stack calculator compatible with GNU dc.

mod arithmetic;
mod machine;
mod source;
mod value;

use tidebox_gnu::exit::ToolResult;
use tidebox_gnu::message::print_error;
use tidebox_gnu::options::Syntax;
use tidebox_gnu::stream::Input;
use tidebox_rt::FileKind;

use machine::Machine;
use source::Source;

const USAGE: &str = "Usage: dc [OPTION] [file ...]\n";

tidebox_gnu::options! {
    /// Options of `dc`.
    enum Flag {
        Expression = "-e, --expression=EXPR", "evaluate expression";
        File = "-f, --file=FILE", "evaluate contents of file";
        Help = "-h, --help", "display this help and exit";
        Version = "-V, --version", "output version information and exit";
    }
}

const LINE: Syntax<'_, Flag> = Syntax { version: VERSION, notes: "\n", ..Syntax::new("dc", USAGE, 27) };

/// Text after the help, always on standard output.
const REPORTS: &str = "Email bug reports to:  bug-dc@gnu.org .\n";

/// Text of `--version`. Scripts check its first line.
const VERSION: &str =
    "dc (GNU bc 1.07.1) 1.4.1\n\nTidebox's dc does what that version does. It is free under MIT or Apache-2.0.\n";

/// Runs `dc`.
pub(crate) fn main(arguments: Vec<Vec<u8>>) -> i32 {
    let mut machine = Machine::new();
    let mut asked = false;
    let operands = LINE.parse::<ToolResult>(arguments, |flag, value| {
        asked = true;
        match flag {
            Flag::Expression => machine.run(Source::text(value)),
            _ => run_file(&mut machine, &value),
        }
        if machine.has_quit() { Err(ToolResult::Code(0)) } else { Ok(()) }
    });
    let code = match operands {
        Ok(operands) => {
            for file in &operands {
                if !machine.has_quit() {
                    run_file(&mut machine, file);
                }
            }
            if !asked && operands.is_empty() {
                machine.run(Source::Standard);
            }
            0
        }
        Err(ToolResult::Usage(message, code)) => {
            print_error("dc", &message);
            tidebox_gnu::eprint_part!("{}", LINE.help());
            machine.print_text(REPORTS);
            code
        }
        Err(ToolResult::Print(text)) => {
            machine.print_text(&String::from_utf8_lossy(&text));
            if text == LINE.help().as_bytes() {
                machine.print_text(REPORTS);
            }
            0
        }
        Err(answer) => tidebox_gnu::exit::IntoExitCode::into_exit_code(answer, "dc"),
    };
    let ended = machine.finish();
    if code == 0 { ended } else { code }
}

fn run_file(machine: &mut Machine, name: &[u8]) {
    if name == b"-" {
        return machine.run(Source::Standard);
    }
    let is_folder = tidebox_rt::stat(name, true).is_ok_and(|stat| stat.kind() == FileKind::Dir);
    if is_folder {
        return machine.report(&format!("Will not attempt to process directory {}", String::from_utf8_lossy(name)));
    }
    match Input::file(name) {
        Ok(input) => machine.run(Source::File(input)),
        Err(_) => machine.report(&format!("Could not open file {}", String::from_utf8_lossy(name))),
    }
}
