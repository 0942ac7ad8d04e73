//! `look`: lines that begin with a string, in a file that is in order.

use tidebox_gnu::command_line::CommandLine;
use tidebox_gnu::getopt::{Long, Takes, long};
use tidebox_gnu::stream::{Input, Output};
use tidebox_rt::Errno;

use crate::cannot;

const HELP: &str = "\
Usage: look [OPTION]... STRING [FILE]
Prints the lines of FILE, which is in order, that begin with STRING.

  -a, --alternative       read the other word list
  -d, --alphanum          heed only blanks, letters and digits
  -f, --ignore-case       take small and capital letters as equal
  -t, --terminate CHAR    compare up to CHAR only
  -h, --help, -V, --version
";

const WORDS: &[u8] = b"/usr/share/dict/words";

const LONG: &[Long] = &[
    long("alternative", Takes::Nothing, 'a'),
    long("alphanum", Takes::Nothing, 'd'),
    long("ignore-case", Takes::Nothing, 'f'),
    long("terminate", Takes::Value, 't'),
    long("help", Takes::Nothing, 'h'),
    long("version", Takes::Nothing, 'V'),
];

/// Runs `look`.
pub fn main(arguments: Vec<Vec<u8>>) -> i32 {
    let (mut alphanumeric, mut fold, mut end) = (false, false, None);
    let mut file = match std::env::var_os("WORDLIST") {
        Some(list) => list.into_encoded_bytes(),
        None => WORDS.to_vec(),
    };
    let line =
        CommandLine { version: "look from util-linux 2.38.1\n", ..CommandLine::new("look", "adft:hV", LONG, HELP) };
    let operands = line.parse(arguments, |key, value| {
        match key {
            'a' => file = b"/usr/share/dict/web2".to_vec(),
            'd' => alphanumeric = true,
            'f' => fold = true,
            _ => end = value.first().copied(),
        }
        Ok(())
    });
    let operands = match operands {
        Ok(operands) => operands,
        Err(code) => return code,
    };
    let mut out = Output::standard();
    let Some(string) = operands.first() else {
        return line.usage_error("bad usage");
    };
    match operands.get(1) {
        Some(given) => file = given.clone(),
        // Words of a dictionary are ordered without regard to case.
        None => (alphanumeric, fold) = (true, true),
    }
    let string = match end.and_then(|end| string.iter().position(|byte| *byte == end)) {
        Some(at) => string.get(..=at).unwrap_or_default(),
        None => string,
    };
    let how = Compared { alphanumeric, fold };
    match how.print_lines(&file, string, &mut out) {
        Ok(found) => out.finish("look", i32::from(!found)),
        Err(errno) => cannot("look", &file, errno),
    }
}

/// Comparison rules.
struct Compared {
    /// Only blanks, letters and digits do.
    alphanumeric: bool,
    /// The case of letters does not.
    fold: bool,
}

impl Compared {
    fn of(&self, text: &[u8]) -> Vec<u8> {
        let counts = |byte: &u8| !self.alphanumeric || byte.is_ascii_alphanumeric() || matches!(byte, b' ' | b'\t');
        let bytes = text.iter().copied().filter(counts);
        bytes.map(|byte| if self.fold { byte.to_ascii_lowercase() } else { byte }).collect()
    }

    /// Prints the lines of a file that start with a string. Returns whether any do.
    fn print_lines(&self, file: &[u8], string: &[u8], out: &mut Output) -> Result<bool, Errno> {
        let wanted = self.of(string);
        let mut input = Input::file(file)?;
        let (mut line, mut found) = (Vec::new(), false);
        while input.line(b'\n', &mut line)? {
            if self.of(line.strip_suffix(b"\n").unwrap_or(&line)).starts_with(&wanted) {
                found = true;
                out.push(&line);
                if !line.ends_with(b"\n") {
                    out.push(b"\n");
                }
            }
        }
        Ok(found)
    }
}
