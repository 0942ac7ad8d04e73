//! `stdbuf`: the buffers of a program. Programs here have their own, which nothing changes.

use tidebox_gnu::command::Command;
use tidebox_gnu::getopt::{Item, Long, Parser, Spec, Takes, long};
use tidebox_gnu::message::{print_error, quote_value};
use tidebox_gnu::tool::{print, usage};
use tidebox_rt::Errno;

const STDBUF_HELP: &str = "\
Usage: stdbuf OPTION... COMMAND
Run COMMAND, with modified buffering operations for its standard streams.

Mandatory arguments to long options are mandatory for short options too.
  -i, --input=MODE   adjust standard input stream buffering
  -o, --output=MODE  adjust standard output stream buffering
  -e, --error=MODE   adjust standard error stream buffering
      --help        display this help and exit
      --version     output version information and exit

The programs here have buffers of their own, which nothing changes.
";

/// `stdbuf`
pub fn stdbuf(arguments: Vec<Vec<u8>>) -> i32 {
    const LONG: &[Long] = &[
        long("input", Takes::Value, 'i'),
        long("output", Takes::Value, 'o'),
        long("error", Takes::Value, 'e'),
        long("help", Takes::Nothing, 'h'),
        long("version", Takes::Nothing, 'V'),
    ];
    let mut words = Vec::new();
    let mut asked = false;
    let mut parser = Parser::new(Spec { short: "i:o:e:", long: LONG, permute: false }, arguments);
    loop {
        match parser.next_item() {
            Err(message) => return usage("stdbuf", &message, 125),
            Ok(None) => break,
            Ok(Some(Item::Operand(word))) => words.push(word),
            Ok(Some(Item::Option('h', _))) => return print("stdbuf", STDBUF_HELP.as_bytes()),
            Ok(Some(Item::Option('V', _))) => return print("stdbuf", b"stdbuf (Tidebox), as in GNU coreutils 9\n"),
            Ok(Some(Item::Option(key, value))) => {
                asked = true;
                let mode = value.unwrap_or_default();
                if mode == b"L" && key == 'i' {
                    return usage("stdbuf", "line buffering stdin is meaningless", 125);
                }
                let digits = mode.iter().take_while(|byte| byte.is_ascii_digit()).count();
                let unit = mode.get(digits..).unwrap_or_default();
                let size =
                    digits > 0 && matches!(unit, b"" | b"K" | b"k" | b"KB" | b"kB" | b"M" | b"MB" | b"G" | b"GB");
                if mode != b"L" && !size {
                    print_error("stdbuf", &format!("invalid mode {}", quote_value(&mode)));
                    return 125;
                }
            }
        }
    }
    if words.is_empty() {
        return usage("stdbuf", "missing operand", 125);
    }
    if !asked {
        return usage("stdbuf", "you must specify a buffering mode option", 125);
    }
    let words: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
    match Command::new(&words).run() {
        Ok(status) => i32::from(status.code()),
        Err(error) => {
            let name = quote_value(words.first().copied().unwrap_or_default());
            print_error("stdbuf", &format!("failed to run command {name}: {}", error.text()));
            if error == Errno::NOENT { 127 } else { 126 }
        }
    }
}
