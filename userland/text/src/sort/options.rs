//! The command line of `sort`.

use tidebox_gnu::answer::Answer;
use tidebox_gnu::choice::choose;
use tidebox_gnu::command_line::CommandLine;
use tidebox_gnu::getopt::{Long, Takes, long};
use tidebox_gnu::message::{named, quoted};
use tidebox_gnu::stream::Input;

use super::compare::Rules;
use super::key::Key;
use super::old_key::{old_key, with_old_keys};
use super::value::{batch, parallel, salt, size, tab};
use super::{HELD, MERGED_AT_ONCE, TROUBLE, about, fail};
use crate::Failure;

const HELP: &str = "\
Usage: sort [OPTION]... [FILE]...
  or:  sort [OPTION]... --files0-from=F
Writes the lines of all FILEs in order; without FILE, or where FILE is -, those of standard input.

How lines are compared:
  -b, --ignore-leading-blanks   blanks before a key do not count
  -d, --dictionary-order        only blanks, letters and digits count
  -f, --ignore-case             small letters count as capitals
  -g, --general-numeric-sort    as numbers, also such as 1e3
  -i, --ignore-nonprinting      only printable characters count
  -M, --month-sort              JAN before DEC
  -h, --human-numeric-sort      2K before 1G
  -n, --numeric-sort            as decimal numbers
  -R, --random-sort             mixed, equal keys together
      --random-source=FILE      where randomness comes from
  -r, --reverse                 the other way round
      --sort=WORD               general-numeric, human-numeric, month, numeric, random, version
  -V, --version-sort            numbers within text as numbers

What is done:
      --batch-size=NMERGE       merge at most so many files at once
  -c, --check                   say whether the lines are in order
  -C, --check=quiet             the same without a word
      --compress-program=PROG   accepted; temporary files are not compressed
      --debug                   mark the part of each line that counted
      --files0-from=F           read the files' names, each ended by a NUL, from F
  -k, --key=KEYDEF              compare by a part of the line
  -m, --merge                   merge files that are in order
  -o, --output=FILE             write to FILE
  -s, --stable                  equal keys keep their order
  -S, --buffer-size=SIZE        hold so many bytes in memory
  -t, --field-separator=SEP     what parts fields
  -T, --temporary-directory=DIR where temporary files go
      --parallel=N              accepted; there is one thread
  -u, --unique                  only the first of equal lines
  -z, --zero-terminated         lines end with NUL

KEYDEF is F[.C][OPTS][,F[.C][OPTS]]: fields and characters counted from 1, and letters of the options above.
";

const SORT: char = '\u{e001}';
const BATCH: char = '\u{e002}';
const COMPRESS: char = '\u{e003}';
const DEBUG: char = '\u{e004}';
const FILES: char = '\u{e005}';
const PARALLEL: char = '\u{e006}';
const SOURCE: char = '\u{e007}';
const CHECK: char = '\u{e008}';

const LONG: &[Long] = &[
    long("ignore-leading-blanks", Takes::Nothing, 'b'),
    long("dictionary-order", Takes::Nothing, 'd'),
    long("ignore-case", Takes::Nothing, 'f'),
    long("general-numeric-sort", Takes::Nothing, 'g'),
    long("ignore-nonprinting", Takes::Nothing, 'i'),
    long("month-sort", Takes::Nothing, 'M'),
    long("human-numeric-sort", Takes::Nothing, 'h'),
    long("numeric-sort", Takes::Nothing, 'n'),
    long("random-sort", Takes::Nothing, 'R'),
    long("random-source", Takes::Value, SOURCE),
    long("reverse", Takes::Nothing, 'r'),
    long("sort", Takes::Value, SORT),
    long("version-sort", Takes::Nothing, 'V'),
    long("batch-size", Takes::Value, BATCH),
    long("check", Takes::Maybe, CHECK),
    long("compress-program", Takes::Value, COMPRESS),
    long("debug", Takes::Nothing, DEBUG),
    long("files0-from", Takes::Value, FILES),
    long("key", Takes::Value, 'k'),
    long("merge", Takes::Nothing, 'm'),
    long("output", Takes::Value, 'o'),
    long("stable", Takes::Nothing, 's'),
    long("buffer-size", Takes::Value, 'S'),
    long("field-separator", Takes::Value, 't'),
    long("temporary-directory", Takes::Value, 'T'),
    long("parallel", Takes::Value, PARALLEL),
    long("unique", Takes::Nothing, 'u'),
    long("zero-terminated", Takes::Nothing, 'z'),
];

const LINE: CommandLine<'_> =
    CommandLine { misuse: TROUBLE, ..CommandLine::core("sort", "bdfghiMnRrVcCk:mo:sS:t:T:uzy::", LONG, HELP) };

/// What is to be done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Mode {
    #[default]
    Sort,
    Merge,
    /// Whether the lines are in order; `tell` says which is not.
    Check {
        tell: bool,
    },
}

/// Everything on a command line that does not decide the order.
#[derive(Debug)]
pub(super) struct Options {
    pub(super) files: Vec<Vec<u8>>,
    pub(super) mode: Mode,
    pub(super) output: Option<Vec<u8>>,
    /// What ends a line.
    pub(super) end: u8,
    pub(super) folders: Vec<Vec<u8>>,
    pub(super) held: usize,
    pub(super) merged_at_once: usize,
    pub(super) debug: bool,
    merge: bool,
    check: Option<bool>,
    list: Option<Vec<u8>>,
    source: Option<Vec<u8>>,
    global: Key,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            files: Vec::new(),
            mode: Mode::Sort,
            output: None,
            end: b'\n',
            folders: Vec::new(),
            held: HELD,
            merged_at_once: MERGED_AT_ONCE,
            debug: false,
            merge: false,
            check: None,
            list: None,
            source: None,
            global: Key::default(),
        }
    }
}

/// Reads a command line.
pub(super) fn read(arguments: Vec<Vec<u8>>) -> Result<(Options, Rules), Failure> {
    let (mut options, mut rules) = (Options::default(), Rules::default());
    let files = LINE.read(with_old_keys(arguments), |key, value| options.set(key, value, &mut rules))?;
    options.take_files(files)?;
    let said = !rules.keys.is_empty();
    let global = options.global.ordering;
    for key in &mut rules.keys {
        // A key with options of its own takes none from outside.
        if key.ordering.is_plain() && !key.ordering.reverse {
            key.ordering = global;
        }
    }
    if !said && !global.is_plain() {
        rules.keys.push(options.global);
    }
    rules.keys.iter().try_for_each(|key| key.ordering.check()).map_err(fail)?;
    rules.reverse = global.reverse;
    if options.debug {
        let letter = options.check.map(|tell| if tell { "c" } else { "C" }).or(options.output.as_ref().map(|_| "o"));
        if let Some(letter) = letter {
            return Err(fail(format!("options '-{letter} --debug' are incompatible")));
        }
        super::debug::warn(&rules, &global, said);
    }
    if let Some(tell) = options.check {
        let letter = if tell { 'c' } else { 'C' };
        if let Some(extra) = options.files.get(1) {
            return Err(fail(format!("extra operand {} not allowed with -{letter}", quoted(extra))));
        }
        if options.output.is_some() {
            return Err(fail(format!("options '-{letter}o' are incompatible")));
        }
        options.mode = Mode::Check { tell };
    } else if options.merge {
        options.mode = Mode::Merge;
    }
    if rules.keys.iter().any(|key| key.ordering.random) {
        rules.collates = tidebox_gnu::message::unicode_locale();
        rules.salt = salt(options.source.as_deref())?;
    }
    Ok((options, rules))
}

impl Options {
    fn set(&mut self, key: char, value: Vec<u8>, rules: &mut Rules) -> Result<(), Failure> {
        match key {
            'b' | 'd' | 'f' | 'g' | 'h' | 'i' | 'M' | 'n' | 'R' | 'r' | 'V' => {
                let letter = u8::try_from(key).unwrap_or_default();
                self.global.ordering.set(letter, true, true);
            }
            SORT => {
                let words: &[&[&str]] =
                    &[&["general-numeric"], &["human-numeric"], &["month"], &["numeric"], &["random"], &["version"]];
                let at = choose("--sort", &value, words).map_err(other_word)?;
                self.global.ordering.set(b"ghMnRV".get(at).copied().unwrap_or_default(), true, true);
            }
            'c' | 'C' | CHECK => {
                let words: &[&[&str]] = &[&["quiet", "silent"], &["diagnose-first"]];
                let quiet = match key {
                    CHECK if !value.is_empty() => choose("--check", &value, words).map_err(other_word)? == 0,
                    key => key == 'C',
                };
                if self.check.is_some_and(|tell| tell == quiet) {
                    return Err(fail("options '-cC' are incompatible".to_owned()));
                }
                self.check = Some(!quiet);
            }
            'k' => rules.keys.push(match value.strip_prefix(b"\0") {
                Some(old) => old_key(old).map_err(fail)?,
                None => Key::parse(&value).map_err(fail)?,
            }),
            'm' => self.merge = true,
            'o' => {
                if self.output.as_ref().is_some_and(|output| *output != value) {
                    return Err(fail("multiple output files specified".to_owned()));
                }
                self.output = Some(value);
            }
            's' => rules.stable = true,
            'S' => self.held = size(&value)?.clamp(1 << 16, HELD * 4),
            't' => rules.tab = Some(tab(&value, rules.tab)?),
            'T' => self.folders.push(value),
            'u' => rules.unique = true,
            'z' => self.end = 0,
            BATCH => self.merged_at_once = batch(&value)?,
            PARALLEL => parallel(&value)?,
            FILES => self.list = Some(value),
            SOURCE => {
                if self.source.as_ref().is_some_and(|source| *source != value) {
                    return Err(fail("multiple random sources specified".to_owned()));
                }
                self.source = Some(value);
            }
            DEBUG => self.debug = true,
            // How temporary files look is nobody's business; `-y` has been without meaning for long.
            _ => {}
        }
        Ok(())
    }

    /// The files are operands, or named by a list.
    fn take_files(&mut self, operands: Vec<Vec<u8>>) -> Result<(), Failure> {
        self.files = operands;
        let Some(list) = &self.list else {
            if self.files.is_empty() {
                self.files.push(b"-".to_vec());
            }
            return Ok(());
        };
        if let Some(extra) = self.files.first() {
            let message =
                format!("extra operand {}\nfile operands cannot be combined with --files0-from", quoted(extra));
            return Err(LINE.wrong(message));
        }
        let mut input = Input::open(list).map_err(|errno| about("open failed", list, errno))?;
        let text = input.rest().map_err(|errno| about("read failed", list, errno))?;
        if text.is_empty() {
            return Err(fail(format!("no input from {}", quoted(list))));
        }
        let text = text.strip_suffix(b"\0").unwrap_or(&text);
        for (at, name) in text.split(|byte| *byte == 0).enumerate() {
            if name.is_empty() {
                return Err(fail(format!("{}:{}: invalid zero-length file name", named(list), at + 1)));
            }
            if list == b"-" && name == b"-" {
                let message = "when reading file names from stdin, no file name of '-' allowed";
                return Err(fail(message.replace("'-'", &quoted(b"-"))));
            }
            self.files.push(name.to_vec());
        }
        Ok(())
    }
}

/// A word that is none of those there are ends otherwise than other mistakes.
fn other_word(message: String) -> Failure {
    Failure::Answered(Answer::Usage(message, 1))
}
