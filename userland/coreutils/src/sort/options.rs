//! Command line of `sort`.

use tidebox_gnu::choice::parse_choice;
use tidebox_gnu::exit::ToolResult;
use tidebox_gnu::message::{path_label, quote_path};
use tidebox_gnu::options::Syntax;
use tidebox_gnu::stream::Input;

use super::compare::Rules;
use super::key::Key;
use super::value::{batch, parallel, salt, size, tab};
use super::{BATCH_SIZE, BUFFER_BYTES, TROUBLE, about, fail};
use crate::common::Failure;

const USAGE: &str = "\
Usage: sort [OPTION]... [FILE]...
  or:  sort [OPTION]... --files0-from=F
Writes the sorted lines of all FILEs. Without FILE, or if FILE is -, reads standard input.

Order:
";

const NOTES: &str = "\n\
KEYDEF is F[.C][OPTS][,F[.C][OPTS]]: start and end of the key as field and character, counted from 1, and letters of
the options above.
";

tidebox_gnu::options! {
    /// Options of `sort`.
    pub(super) enum Flag {
        IgnoreLeadingBlanks = "-b, --ignore-leading-blanks", "ignore leading blanks";
        DictionaryOrder = "-d, --dictionary-order", "compare only blanks, letters and digits";
        IgnoreCase = "-f, --ignore-case", "ignore case";
        GeneralNumericSort = "-g, --general-numeric-sort", "compare as floating point numbers such as 1e3";
        IgnoreNonprinting = "-i, --ignore-nonprinting", "compare only printable characters";
        MonthSort = "-M, --month-sort", "compare month names, JAN < DEC";
        HumanNumericSort = "-h, --human-numeric-sort", "compare numbers with units, 2K < 1G";
        NumericSort = "-n, --numeric-sort", "compare as decimal numbers";
        RandomSort = "-R, --random-sort", "shuffle, but group equal keys";
        RandomSource = "--random-source=FILE", "read random bytes from FILE";
        Reverse = "-r, --reverse", "reverse the order";
        Sort = "--sort=WORD", "general-numeric, human-numeric, month, numeric, random, version";
        VersionSort = "-V, --version-sort", "compare version numbers within text\n\nOther options:";
        BatchSize = "--batch-size=NMERGE", "merge at most NMERGE files at a time";
        Check = "-c, --check[=HOW]", "check the order of the lines; HOW is diagnose-first or quiet";
        CheckQuietly = "-C", "same as --check=quiet";
        CompressProgram = "--compress-program=PROG", "has no effect: temporary files are not compressed";
        Debug = "--debug", "mark the compared part of each line";
        Files0From = "--files0-from=F", "read file names from F, each ended by NUL";
        Key = "-k, --key=KEYDEF", "compare a part of each line";
        Merge = "-m, --merge", "merge sorted files";
        Output = "-o, --output=FILE", "write to FILE";
        Stable = "-s, --stable", "keep the order of lines with equal keys";
        BufferSize = "-S, --buffer-size=SIZE", "size of the buffer in memory";
        FieldSeparator = "-t, --field-separator=SEP", "separator of fields";
        TemporaryDirectory = "-T, --temporary-directory=DIR", "directory of temporary files";
        Parallel = "--parallel=N", "has no effect: sort uses one thread";
        Unique = "-u, --unique", "print only the first of equal lines";
        ZeroTerminated = "-z, --zero-terminated", "end lines with NUL";
        Ignored = "-y[X]", "";
    }
}

impl Flag {
    /// Returns the letter of an ordering option.
    fn ordering(self) -> Option<u8> {
        Some(match self {
            Self::IgnoreLeadingBlanks => b'b',
            Self::DictionaryOrder => b'd',
            Self::IgnoreCase => b'f',
            Self::GeneralNumericSort => b'g',
            Self::HumanNumericSort => b'h',
            Self::IgnoreNonprinting => b'i',
            Self::MonthSort => b'M',
            Self::NumericSort => b'n',
            Self::RandomSort => b'R',
            Self::Reverse => b'r',
            Self::VersionSort => b'V',
            _ => return None,
        })
    }
}

const LINE: Syntax<'_, Flag> = Syntax { notes: NOTES, usage_exit_code: TROUBLE, ..Syntax::core("sort", USAGE, 32) };

/// Operation mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Mode {
    #[default]
    Sort,
    Merge,
    /// Check the order of the lines. With `reports` the first line that is not in order is printed.
    Check {
        reports: bool,
    },
}

/// Options that do not affect the order.
#[derive(Debug)]
pub(super) struct Options {
    pub(super) files: Vec<Vec<u8>>,
    pub(super) mode: Mode,
    pub(super) output: Option<Vec<u8>>,
    /// Descriptor of the output: standard output, or the file of `output` after it was opened.
    pub(super) destination: u32,
    /// Line terminator.
    pub(super) end: u8,
    pub(super) dirs: Vec<Vec<u8>>,
    pub(super) buffer_bytes: usize,
    pub(super) batch_size: usize,
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
            destination: 1,
            end: b'\n',
            dirs: Vec::new(),
            buffer_bytes: BUFFER_BYTES,
            batch_size: BATCH_SIZE,
            debug: false,
            merge: false,
            check: None,
            list: None,
            source: None,
            global: Key::default(),
        }
    }
}

/// Parses a command line.
pub(super) fn read(arguments: Vec<Vec<u8>>) -> Result<(Options, Rules), Failure> {
    let (mut options, mut rules) = (Options::default(), Rules::default());
    let files = LINE.parse(arguments, |key, value| options.set(key, value, &mut rules))?;
    options.set_files(files)?;
    let has_keys = !rules.keys.is_empty();
    let global = options.global.ordering;
    for key in &mut rules.keys {
        // Global options apply only to keys without options.
        if key.ordering.is_plain() && !key.ordering.reverse {
            key.ordering = global;
        }
    }
    if !has_keys && !global.is_plain() {
        rules.keys.push(options.global);
    }
    rules.keys.iter().try_for_each(|key| key.ordering.check()).map_err(fail)?;
    rules.reverse = global.reverse;
    if options.debug {
        let letter =
            options.check.map(|reports| if reports { "c" } else { "C" }).or(options.output.as_ref().map(|_| "o"));
        if let Some(letter) = letter {
            return Err(fail(format!("options '-{letter} --debug' are incompatible")));
        }
    }
    if let Some(reports) = options.check {
        let letter = if reports { 'c' } else { 'C' };
        if let Some(extra) = options.files.get(1) {
            return Err(fail(format!("extra operand {} not allowed with -{letter}", quote_path(extra))));
        }
        if options.output.is_some() {
            return Err(fail(format!("options '-{letter}o' are incompatible")));
        }
        options.mode = Mode::Check { reports };
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
    fn set(&mut self, key: Flag, value: Vec<u8>, rules: &mut Rules) -> Result<(), Failure> {
        if let Some(letter) = key.ordering() {
            self.global.ordering.set(letter, true, true);
            return Ok(());
        }
        match key {
            Flag::Sort => {
                let words: &[&[&str]] =
                    &[&["general-numeric"], &["human-numeric"], &["month"], &["numeric"], &["random"], &["version"]];
                let at = parse_choice("--sort", &value, words).map_err(invalid_choice)?;
                self.global.ordering.set(b"ghMnRV".get(at).copied().unwrap_or_default(), true, true);
            }
            Flag::Check | Flag::CheckQuietly => {
                let words: &[&[&str]] = &[&["quiet", "silent"], &["diagnose-first"]];
                let quiet = match key {
                    Flag::Check if !value.is_empty() => {
                        parse_choice("--check", &value, words).map_err(invalid_choice)? == 0
                    }
                    key => key == Flag::CheckQuietly,
                };
                if self.check.is_some_and(|reports| reports == quiet) {
                    return Err(fail("options '-cC' are incompatible".to_owned()));
                }
                self.check = Some(!quiet);
            }
            Flag::Key => rules.keys.push(Key::parse(&value).map_err(fail)?),
            Flag::Merge => self.merge = true,
            Flag::Output => {
                if self.output.as_ref().is_some_and(|output| *output != value) {
                    return Err(fail("multiple output files specified".to_owned()));
                }
                self.output = Some(value);
            }
            Flag::Stable => rules.stable = true,
            Flag::BufferSize => self.buffer_bytes = size(&value)?.clamp(1 << 16, BUFFER_BYTES * 4),
            Flag::FieldSeparator => rules.tab = Some(tab(&value, rules.tab)?),
            Flag::TemporaryDirectory => self.dirs.push(value),
            Flag::Unique => rules.unique = true,
            Flag::ZeroTerminated => self.end = 0,
            Flag::BatchSize => self.batch_size = batch(&value)?,
            Flag::Parallel => parallel(&value)?,
            Flag::Files0From => self.list = Some(value),
            Flag::RandomSource => {
                if self.source.as_ref().is_some_and(|source| *source != value) {
                    return Err(fail("multiple random sources specified".to_owned()));
                }
                self.source = Some(value);
            }
            Flag::Debug => self.debug = true,
            // `--compress-program` and the obsolete `-y` have no effect.
            _ => {}
        }
        Ok(())
    }

    /// Sets the input files from the operands or from `--files0-from`.
    fn set_files(&mut self, operands: Vec<Vec<u8>>) -> Result<(), Failure> {
        self.files = operands;
        let Some(list) = &self.list else {
            if self.files.is_empty() {
                self.files.push(b"-".to_vec());
            }
            return Ok(());
        };
        if let Some(extra) = self.files.first() {
            let message =
                format!("extra operand {}\nfile operands cannot be combined with --files0-from", quote_path(extra));
            return Err(LINE.usage_error(message));
        }
        let mut input = Input::open(list).map_err(|errno| about("open failed", list, errno))?;
        let text = input.read_to_end().map_err(|errno| about("read failed", list, errno))?;
        if text.is_empty() {
            return Err(fail(format!("no input from {}", quote_path(list))));
        }
        let text = text.strip_suffix(b"\0").unwrap_or(&text);
        for (at, name) in text.split(|byte| *byte == 0).enumerate() {
            if name.is_empty() {
                return Err(fail(format!("{}:{}: invalid zero-length file name", path_label(list), at + 1)));
            }
            if list == b"-" && name == b"-" {
                let message = "when reading file names from stdin, no file name of '-' allowed";
                return Err(fail(message.replace("'-'", &quote_path(b"-"))));
            }
            self.files.push(name.to_vec());
        }
        Ok(())
    }
}

/// Error for an invalid value of `--sort` or `--check`. Its exit code is 1; other errors have 2.
fn invalid_choice(message: String) -> Failure {
    Failure::Exit(ToolResult::Usage(message, 1))
}
