//! `diff3`: compares three files, and merges what two of them changed in the third.

pub(crate) mod blocks;
mod commands;
mod listing;
mod merge;

use std::borrow::Cow;
use std::ops::Range;

use tidebox_gnu::command_line::CommandLine;
use tidebox_gnu::getopt::{Long, Takes, long};
use tidebox_gnu::message::complain;
use tidebox_rt::{Errno, FileKind};

use crate::diff::without_returns;
use crate::file::File;
use crate::output::Output;
use crate::script::{Rules, Script};
use crate::{DIFFERENT, Failure};
use blocks::{Block, Kind, Order};

const HELP: &str = "\
Usage: diff3 [OPTION]... MYFILE OLDFILE YOURFILE
Compare three files line by line.

  -A, --show-all              print all changes, with marks around conflicts
  -e, --ed                    print commands of ed that bring the changes from OLDFILE to YOURFILE into MYFILE
  -E, --show-overlap          the same, with marks around conflicts
  -3, --easy-only             like -e, but only changes that do not overlap
  -x, --overlap-only          like -e, but only changes that do
  -X                          the same
  -i                          end the commands with 'w' and 'q'
  -m, --merge                 print the merged file, as -A says where no other option does
  -a, --text                  take every file for text
      --strip-trailing-cr     ignore carriage returns before line ends
  -T, --initial-tab           begin lines with a tab, so that tabs stay in line
  -L, --label=LABEL           use LABEL instead of a file's name, up to three times
      --help                  print this help
  -v, --version               say which version this is

A FILE that is - is standard input. Exit code: 0 well, 1 conflicts, 2 trouble.
";

const VERSION: &str =
    "diff3 (GNU diffutils) 3.8\nTidebox's diff3 does what that version does. It is free under MIT or Apache-2.0.\n";

const HELP_KEY: char = '\u{e001}';
const STRIP: char = '\u{e002}';
const PROGRAM: char = '\u{e003}';

const LONG: &[Long] = &[
    long("diff-program", Takes::Value, PROGRAM),
    long("easy-only", Takes::Nothing, '3'),
    long("ed", Takes::Nothing, 'e'),
    long("help", Takes::Nothing, HELP_KEY),
    long("initial-tab", Takes::Nothing, 'T'),
    long("label", Takes::Value, 'L'),
    long("merge", Takes::Nothing, 'm'),
    long("overlap-only", Takes::Nothing, 'x'),
    long("show-all", Takes::Nothing, 'A'),
    long("show-overlap", Takes::Nothing, 'E'),
    long("strip-trailing-cr", Takes::Nothing, STRIP),
    long("text", Takes::Nothing, 'a'),
    long("version", Takes::Nothing, 'v'),
];

const LINE: CommandLine<'_> =
    CommandLine { version: VERSION, ..CommandLine::new("diff3", "aeimvx3AEXTL:", LONG, HELP) };

/// How much of a file is searched for a NUL byte, as `diff` does.
const BINARY_PREFIX: usize = 4096;

/// What to print, and of which changes.
#[derive(Debug, Default)]
struct Options {
    /// A merged file.
    merge: bool,
    /// Commands of `ed`.
    edit: bool,
    /// What the second file alone has otherwise is shown, too.
    shows_old: bool,
    /// Conflicts stand between marks.
    marks: bool,
    overlaps_only: bool,
    easy_only: bool,
    /// The commands end with writing the file.
    writes: bool,
    text: bool,
    strip_return: bool,
    initial_tab: bool,
    labels: Vec<Vec<u8>>,
}

impl Options {
    /// Whether a block is printed; if so, whether as a conflict.
    fn conflict(&self, kind: Kind) -> Option<bool> {
        match kind {
            Kind::All => (!self.easy_only).then_some(self.marks),
            Kind::Odd(1) => self.shows_old.then_some(true),
            Kind::Odd(2) => (!self.overlaps_only).then_some(false),
            Kind::Odd(_) => None,
        }
    }
}

pub(crate) fn main(arguments: Vec<Vec<u8>>) -> Result<i32, Failure> {
    let mut output = Output::default();
    let (options, names) = parse(arguments)?;
    let raw = load(&names)?;
    let texts = raw.each_ref().map(|text| match options.strip_return {
        true => Cow::Owned(without_returns(text)),
        false => Cow::Borrowed(text.as_slice()),
    });
    // Whatever merges compares both changed files with the old one, and a listing the first two with the third.
    let order = if options.merge || options.edit { Order::OLD_IS_COMMON } else { Order::THIRD_IS_COMMON };
    let common = order.file(2);
    let rules = Rules::default();
    let threads = [order.file(0), order.file(1)].map(|file| Script::new(&texts[file], &texts[common], &rules));
    if !options.text {
        for file in [order.file(1), order.file(0)] {
            if let [Some(one), Some(other)] = [file, common].map(|at| texts.get(at))
                && one != other
                && (is_binary(one) || is_binary(other))
            {
                let [one, other] = [file, common].map(|at| shown(names.get(at).map_or(&b""[..], Vec::as_slice)));
                return Err(Failure::Other(format!("diff failed: Binary files {one} and {other} differ")));
            }
        }
    }
    if options.edit {
        threads.iter().for_each(tell_of_cut_lines);
    }
    let blocks = blocks::find(&threads[0], &threads[1], order);
    let lines = texts.each_ref().map(|text| lines_of(text));
    let untouched = lines_of(&raw[0]);
    let labels = [0, 1, 2].map(|at| options.labels.get(at).or(names.get(at)).cloned().unwrap_or_default());
    let run = Run { options: &options, lines: &lines, untouched: &untouched, labels: &labels };
    let conflicts = match (options.edit, options.merge) {
        (true, _) => commands::print(&run, &blocks, &mut output)?,
        (_, true) => merge::print(&run, &blocks, &mut output)?,
        _ => listing::print(&run, &blocks, &mut output).map(|()| false)?,
    };
    output.flush()?;
    Ok(if conflicts { DIFFERENT } else { 0 })
}

/// What the printers need.
struct Run<'a> {
    options: &'a Options,
    lines: &'a [Vec<&'a [u8]>; 3],
    /// The first file as it is, also where carriage returns are not read.
    untouched: &'a [&'a [u8]],
    labels: &'a [Vec<u8>; 3],
}

impl<'a> Run<'a> {
    /// The lines of a block in one of the files.
    fn part(&self, block: &Block, file: usize) -> &'a [&'a [u8]] {
        let range = block.ranges.get(file).cloned().unwrap_or_default();
        self.lines.get(file).and_then(|lines| lines.get(range)).unwrap_or_default()
    }

    fn mark(&self, mark: &str, file: usize) -> Vec<u8> {
        let label = self.labels.get(file).map_or(&b""[..], Vec::as_slice);
        [mark.as_bytes(), b" ", label, b"\n"].concat()
    }
}

/// Options and the names of files.
fn parse(arguments: Vec<Vec<u8>>) -> Result<(Options, Vec<Vec<u8>>), Failure> {
    let last = arguments.last().cloned().unwrap_or_else(|| b"diff3".to_vec());
    let mut options = Options::default();
    let mut ways = 0;
    let names = LINE.read(arguments, |key, value| {
        ways += i32::from("AeEx3X".contains(key));
        match key {
            'A' => (options.shows_old, options.marks) = (true, true),
            'E' => options.marks = true,
            // The manual says that -X marks conflicts; the program does not.
            'x' | 'X' => options.overlaps_only = true,
            '3' => options.easy_only = true,
            'i' => options.writes = true,
            'm' => options.merge = true,
            'a' => options.text = true,
            'T' => options.initial_tab = true,
            STRIP => options.strip_return = true,
            'L' if options.labels.len() == 3 => {
                return Err(Failure::Usage("too many file label options".to_owned()));
            }
            'L' => options.labels.push(value),
            PROGRAM => only_diff(&value)?,
            _ => {}
        }
        Ok(())
    })?;
    options.edit = ways > 0 && !options.merge;
    let bare_merge = ways == 0 && options.merge;
    (options.shows_old, options.marks) = (options.shows_old || bare_merge, options.marks || bare_merge);
    if ways > 1 || (options.writes && options.merge) || (!options.labels.is_empty() && !options.marks) {
        return Err(Failure::Usage("incompatible options".to_owned()));
    }
    match names.len() {
        0..3 => Err(Failure::Usage(format!("missing operand after '{}'", String::from_utf8_lossy(&last)))),
        3 => Ok((options, names)),
        _ => Err(Failure::Usage(format!("extra operand '{}'", shown(names.get(3).map_or(&b""[..], Vec::as_slice))))),
    }
}

/// Both `sdiff` and `diff3` let somebody choose who compares; here that is always `diff`.
pub(crate) fn only_diff(program: &[u8]) -> Result<(), Failure> {
    match program {
        b"diff" => Ok(()),
        _ => Err(Failure::Other("--diff-program: only 'diff' itself compares files here".to_owned())),
    }
}

fn load(names: &[Vec<u8>]) -> Result<[Vec<u8>; 3], Failure> {
    if names.iter().filter(|name| *name == b"-").count() > 1 {
        return Err(Failure::Other("'-' specified for more than one input file".to_owned()));
    }
    for name in names.iter().filter(|name| *name != b"-") {
        match tidebox_rt::stat(name, true) {
            Ok(stat) if stat.kind() == FileKind::Dir => return Err(unreadable(name, Errno::ISDIR)),
            Ok(_) => {}
            Err(errno) => return Err(unreadable(name, errno)),
        }
    }
    let mut texts = [const { Vec::new() }; 3];
    for (text, name) in texts.iter_mut().zip(names) {
        *text = File::open(name).and_then(|file| file.load()).map_err(|errno| unreadable(name, errno))?;
    }
    Ok(texts)
}

fn unreadable(name: &[u8], errno: Errno) -> Failure {
    Failure::Other(format!("{}: {}", shown(name), errno.text()))
}

/// Commands of `ed` end every line, so that each changed line without an end is told of.
fn tell_of_cut_lines(script: &Script<'_>) {
    let cut = |lines: &[&[u8]], range: &Range<usize>| {
        lines.get(range.clone()).and_then(<[_]>::last).is_some_and(|line| !line.ends_with(b"\n"))
    };
    for change in &script.changes {
        for there in [cut(&script.old, &change.old), cut(&script.new, &change.new)] {
            if there {
                complain("diff3", "No newline at end of file");
            }
        }
    }
}

fn lines_of(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|byte| *byte == b'\n').collect()
}

fn is_binary(text: &[u8]) -> bool {
    memchr::memchr(0, text.get(..BINARY_PREFIX).unwrap_or(text)).is_some()
}

fn shown(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}
