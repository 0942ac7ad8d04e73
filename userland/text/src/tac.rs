//! `tac`: prints the records of files last first.

use tidebox_gnu::getopt::{Item, Long, Parser, Spec, Takes, long};
use tidebox_gnu::message::complain;
use tidebox_rt::Errno;

use crate::Failure;
use crate::cat::write;
use crate::input::{CHUNK, Input, shown};

const HELP: &str = "\
Usage: tac [OPTION]... [FILE]...
Prints the lines of each FILE, last first; without FILE, or where FILE is -, of standard input.

  -b, --before            a separator belongs to what follows it
  -s, --separator=STRING  separate by STRING instead of line ends
";

const HELP_KEY: char = '\u{e001}';

const LONG: &[Long] = &[
    long("before", Takes::Nothing, 'b'),
    long("regex", Takes::Nothing, 'r'),
    long("separator", Takes::Value, 's'),
    long("help", Takes::Nothing, HELP_KEY),
];

pub(crate) fn main(arguments: Vec<Vec<u8>>) -> Result<i32, Failure> {
    let mut separator = b"\n".to_vec();
    let mut before = false;
    let mut files = Vec::new();
    let mut parser = Parser::new(Spec { short: "brs:", long: LONG, permute: true }, arguments);
    while let Some(item) = parser.next_item().map_err(Failure::Usage)? {
        match item {
            Item::Operand(operand) => files.push(operand),
            Item::Option(HELP_KEY, _) => return write(HELP.as_bytes()).map(|()| 0),
            Item::Option('s', value) => separator = value.unwrap_or_default(),
            Item::Option('r', _) => {
                let message = "-r is not supported: separate by a fixed string with -s";
                return Err(Failure::Unsupported(message.to_owned()));
            }
            Item::Option(_, _) => before = true,
        }
    }
    // As in GNU, an empty separator is the byte 0.
    if separator.is_empty() {
        separator.push(0);
    }
    if files.is_empty() {
        files.push(b"-".to_vec());
    }
    let mut code = 0;
    for file in &files {
        match load(file) {
            Ok(text) => write(&reversed(&text, &separator, before))?,
            Err(message) => {
                complain("tac", &message);
                code = 1;
            }
        }
    }
    Ok(code)
}

/// The whole of a file, because its last record comes first.
fn load(name: &[u8]) -> Result<Vec<u8>, String> {
    let input = Input::open(name)
        .map_err(|errno| format!("failed to open {} for reading: {}", shown_always(name), errno.text()))?;
    let read_error = |errno: Errno| format!("{}: read error: {}", shown(name), errno.text());
    let mut text = Vec::new();
    loop {
        let used = text.len();
        text.try_reserve(CHUNK).map_err(|_| read_error(Errno::NOMEM))?;
        text.resize(used + CHUNK, 0);
        let got = input.read(text.get_mut(used..).unwrap_or_default()).map_err(read_error)?;
        text.truncate(used + got);
        if got == 0 {
            return Ok(text);
        }
    }
}

fn shown_always(name: &[u8]) -> String {
    let shown = shown(name);
    if shown.starts_with(['\'', '"']) { shown.into_owned() } else { format!("'{shown}'") }
}

/// The records of a text, last first. A separator ends a record or, with `before`, begins one.
pub(crate) fn reversed(text: &[u8], separator: &[u8], before: bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut end = text.len();
    // Separators are found from the end, so that overlapping ones are taken as GNU takes them.
    let finder = memchr::memmem::FinderRev::new(separator);
    let mut searched = text;
    while let Some(at) = finder.rfind(searched) {
        let cut = if before { at } else { at + separator.len() };
        out.extend_from_slice(text.get(cut..end).unwrap_or_default());
        end = cut;
        searched = text.get(..at).unwrap_or_default();
    }
    out.extend_from_slice(text.get(..end).unwrap_or_default());
    out
}
