//! `sdiff`: both files side by side, and a merged file of what somebody chooses.

mod session;

use tidebox_gnu::answer::Ending;
use tidebox_gnu::command_line::CommandLine;
use tidebox_gnu::getopt::{Long, Takes, long};

use crate::diff;
use crate::diff3::only_diff;
use crate::{Failure, TROUBLE};

const HELP: &str = "\
Usage: sdiff [OPTION]... FILE1 FILE2
Side-by-side merge of differences between FILE1 and FILE2.

  -o, --output=FILE            ask which side to take, and write the result to FILE
  -i, --ignore-case            ignore case
  -E, --ignore-tab-expansion   ignore whether blanks are tabs
  -Z, --ignore-trailing-space  ignore white space at the ends of lines
  -b, --ignore-space-change    ignore the amount of white space
  -W, --ignore-all-space       ignore white space
  -B, --ignore-blank-lines     ignore changes that are all blank lines
  -I, --ignore-matching-lines=RE  ignore changes where all lines match RE
      --strip-trailing-cr      ignore carriage returns before line ends
  -a, --text                   take every file for text
  -w, --width=NUM              print at most NUM (130) columns
  -l, --left-column            print common lines on the left only
  -s, --suppress-common-lines  do not print them
  -t, --expand-tabs            print tabs as spaces
      --tabsize=NUM            tab stops are at every NUM columns (8)
  -d, --minimal                find the smallest set of changes
  -H, --speed-large-files      accepted
      --help                   print this help
  -v, --version                say which version this is

A FILE that is - is standard input. Exit code: 0 same, 1 different, 2 trouble.
";

const VERSION: &str =
    "sdiff (GNU diffutils) 3.8\nTidebox's sdiff does what that version does. It is free under MIT or Apache-2.0.\n";

const HELP_KEY: char = '\u{e001}';
const STRIP: char = '\u{e002}';
const PROGRAM: char = '\u{e003}';
const TAB_SIZE: char = '\u{e004}';

const LONG: &[Long] = &[
    long("diff-program", Takes::Value, PROGRAM),
    long("expand-tabs", Takes::Nothing, 't'),
    long("help", Takes::Nothing, HELP_KEY),
    long("ignore-all-space", Takes::Nothing, 'W'),
    long("ignore-blank-lines", Takes::Nothing, 'B'),
    long("ignore-case", Takes::Nothing, 'i'),
    long("ignore-matching-lines", Takes::Value, 'I'),
    long("ignore-space-change", Takes::Nothing, 'b'),
    long("ignore-tab-expansion", Takes::Nothing, 'E'),
    long("ignore-trailing-space", Takes::Nothing, 'Z'),
    long("left-column", Takes::Nothing, 'l'),
    long("minimal", Takes::Nothing, 'd'),
    long("output", Takes::Value, 'o'),
    long("speed-large-files", Takes::Nothing, 'H'),
    long("strip-trailing-cr", Takes::Nothing, STRIP),
    long("suppress-common-lines", Takes::Nothing, 's'),
    long("tabsize", Takes::Value, TAB_SIZE),
    long("text", Takes::Nothing, 'a'),
    long("version", Takes::Nothing, 'v'),
    long("width", Takes::Value, 'w'),
];

const LINE: CommandLine<'_> =
    CommandLine { version: VERSION, ..CommandLine::new("sdiff", "abBdEHiI:lo:stvw:WZ", LONG, HELP) };

pub(crate) fn main(arguments: Vec<Vec<u8>>) -> Result<i32, Failure> {
    let last = arguments.last().cloned().unwrap_or_else(|| b"sdiff".to_vec());
    // What `diff` is asked for.
    let mut line = vec![b"-y".to_vec()];
    let mut merged = None;
    let mut names = LINE.read(arguments, |key, value| {
        match key {
            'o' => merged = Some(value),
            PROGRAM => only_diff(&value)?,
            key => line.push(option_of_diff(key, &value)),
        }
        Ok(())
    })?;
    let shown = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
    match names.as_slice() {
        [_, _] => {}
        [_, _, extra, ..] => return Err(Failure::Usage(format!("extra operand '{}'", shown(extra)))),
        _ => return Err(Failure::Usage(format!("missing operand after '{}'", shown(&last)))),
    }
    match merged {
        // The words about what is wrong are those of diff, which does all the work.
        None => {
            line.push(b"--".to_vec());
            line.append(&mut names);
            Ok(diff::main(line).unwrap_or_else(|failure| failure.end("diff")))
        }
        Some(file) => session::merge(&file, line, names),
    }
}

/// The same option for `diff`.
fn option_of_diff(key: char, value: &[u8]) -> Vec<u8> {
    let (name, takes): (&[u8], bool) = match key {
        'l' => (b"--left-column", false),
        's' => (b"--suppress-common-lines", false),
        'W' => (b"-w", false),
        'w' => (b"--width=", true),
        'I' => (b"-I", true),
        STRIP => (b"--strip-trailing-cr", false),
        TAB_SIZE => (b"--tabsize=", true),
        key => return format!("-{key}").into_bytes(),
    };
    if takes { [name, value].concat() } else { name.to_vec() }
}
