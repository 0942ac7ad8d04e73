//! `look`: lines that begin with a string, in a file that is in order.

use tidebox_gnu::command_line::CommandLine;
use tidebox_gnu::getopt::{Takes, long};
use tidebox_gnu::stream::{Input, Output};

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

pub(crate) fn main(arguments: Vec<Vec<u8>>) -> i32 {
    let long = [
        long("alternative", Takes::Nothing, 'a'),
        long("alphanum", Takes::Nothing, 'd'),
        long("ignore-case", Takes::Nothing, 'f'),
        long("terminate", Takes::Value, 't'),
        long("help", Takes::Nothing, 'h'),
        long("version", Takes::Nothing, 'V'),
    ];
    let (mut alphanumeric, mut fold, mut end) = (false, false, None);
    let mut file = match std::env::var_os("WORDLIST") {
        Some(list) => list.into_encoded_bytes(),
        None => WORDS.to_vec(),
    };
    let line =
        CommandLine { version: "look from util-linux 2.38.1\n", ..CommandLine::new("look", "adft:hV", &long, HELP) };
    let operands = line.read(arguments, |key, value| {
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
        return line.wrong("bad usage");
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
    let comparable = |text: &[u8]| -> Vec<u8> {
        let counts = |byte: &u8| !alphanumeric || byte.is_ascii_alphanumeric() || matches!(byte, b' ' | b'\t');
        let bytes = text.iter().copied().filter(counts);
        bytes.map(|byte| if fold { byte.to_ascii_lowercase() } else { byte }).collect()
    };
    let wanted = comparable(string);
    let result = Input::file(&file).and_then(|mut input| {
        let (mut line, mut found) = (Vec::new(), false);
        while input.line(b'\n', &mut line)? {
            if comparable(line.strip_suffix(b"\n").unwrap_or(&line)).starts_with(&wanted) {
                found = true;
                out.push(&line);
                if !line.ends_with(b"\n") {
                    out.push(b"\n");
                }
            }
        }
        Ok(found)
    });
    match result {
        Ok(found) => out.finish("look", i32::from(!found)),
        Err(errno) => cannot("look", &file, errno),
    }
}
