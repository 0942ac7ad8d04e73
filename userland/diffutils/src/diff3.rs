//! `diff3`: compares three files, and merges what two of them changed in the third.

pub(crate) mod blocks;
mod listing;
mod merge;

use std::borrow::Cow;

use tidebox_gnu::options::Syntax;
use tidebox_rt::{Errno, FileKind};

use crate::diff::without_returns;
use crate::file::File;
use crate::output::Output;
use crate::script::{Rules, Script};
use crate::{DIFFERENT, Failure};
use blocks::{Block, Kind, Order};

const USAGE: &str = "\
Usage: diff3 [OPTION]... MYFILE OLDFILE YOURFILE
Compare three files line by line.

";

const NOTES: &str = "\n\
A FILE that is - is standard input. Exit code: 0 well, 1 conflicts, 2 trouble.
";

const VERSION: &str =
    "diff3 (GNU diffutils) 3.8\nTidebox's diff3 does what that version does. It is free under MIT or Apache-2.0.\n";

tidebox_gnu::options! {
    /// Options of `diff3`.
    enum Flag {
        Merge = "-m, --merge", "print the merged file";
        ShowAll = "-A, --show-all", "with -m: all changes, with marks around conflicts (default)";
        Ed = "-e, --ed", "with -m: the changes from OLDFILE to YOURFILE, without marks";
        ShowOverlap = "-E, --show-overlap", "with -m: these changes, with marks around conflicts";
        EasyOnly = "-3, --easy-only", "with -m: only changes that do not overlap";
        OverlapOnly = "-x, --overlap-only", "with -m: only changes that overlap";
        OverlapOnlyMarked = "-X", "like -x";
        Text = "-a, --text", "treat all files as text";
        StripTrailingCr = "--strip-trailing-cr", "ignore carriage returns before line ends";
        InitialTab = "-T, --initial-tab", "print a tab before each line";
        Label = "-L, --label=LABEL", "use LABEL instead of a file's name, up to three times";
        Help = "--help", "print this help";
        Version = "-v, --version", "print the version";
        DiffProgram = "--diff-program=X", "";
        WriteAndQuit = "-i", "", unsupported "commands of ed (-i) are not supported; use -m";
    }
}

const LINE: Syntax<'_, Flag> = Syntax { notes: NOTES, version: VERSION, ..Syntax::new("diff3", USAGE, 30) };

/// Number of bytes searched for a NUL byte, as in `diff`.
const BINARY_PREFIX: usize = 4096;

/// Output format and selected changes.
#[derive(Debug, Default)]
struct Options {
    /// A merged file.
    merge: bool,
    /// Changes of the second file alone are shown, too.
    shows_old: bool,
    /// Conflicts are enclosed in markers.
    marks: bool,
    overlaps_only: bool,
    easy_only: bool,
    text: bool,
    strip_return: bool,
    initial_tab: bool,
    labels: Vec<Vec<u8>>,
}

impl Options {
    /// Returns whether a block is printed; if so, whether as a conflict.
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
    // Merge modes compare both changed files with the old one; the listing compares the first two with the third.
    let order = if options.merge { Order::OLD_IS_COMMON } else { Order::THIRD_IS_COMMON };
    let common = order.file(2);
    let rules = Rules::default();
    let threads = [order.file(0), order.file(1)].map(|file| Script::new(&texts[file], &texts[common], &rules));
    if !options.text {
        for file in [order.file(1), order.file(0)] {
            if let [Some(one), Some(other)] = [file, common].map(|at| texts.get(at))
                && one != other
                && (is_binary(one) || is_binary(other))
            {
                let [one, other] = [file, common].map(|at| lossy(names.get(at).map_or(&b""[..], Vec::as_slice)));
                return Err(Failure::Other(format!("diff failed: Binary files {one} and {other} differ")));
            }
        }
    }
    let blocks = blocks::find(&threads[0], &threads[1], order);
    let lines = texts.each_ref().map(|text| lines_of(text));
    let untouched = lines_of(&raw[0]);
    let labels = [0, 1, 2].map(|at| options.labels.get(at).or(names.get(at)).cloned().unwrap_or_default());
    let run = Run { options: &options, lines: &lines, untouched: &untouched, labels: &labels };
    let conflicts = match options.merge {
        true => merge::print(&run, &blocks, &mut output)?,
        false => listing::print(&run, &blocks, &mut output).map(|()| false)?,
    };
    output.flush()?;
    Ok(if conflicts { DIFFERENT } else { 0 })
}

/// Input of the printers.
struct Run<'a> {
    options: &'a Options,
    lines: &'a [Vec<&'a [u8]>; 3],
    /// The original first file, with carriage returns.
    untouched: &'a [&'a [u8]],
    labels: &'a [Vec<u8>; 3],
}

impl<'a> Run<'a> {
    /// Returns the lines of a block in one of the files.
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
    let names = LINE.parse(arguments, |key, value| {
        ways += i32::from(matches!(
            key,
            Flag::ShowAll | Flag::Ed | Flag::ShowOverlap | Flag::OverlapOnly | Flag::EasyOnly | Flag::OverlapOnlyMarked
        ));
        match key {
            Flag::ShowAll => (options.shows_old, options.marks) = (true, true),
            Flag::ShowOverlap => options.marks = true,
            // The manual documents markers for -X; the program does not write them.
            Flag::OverlapOnly | Flag::OverlapOnlyMarked => options.overlaps_only = true,
            Flag::EasyOnly => options.easy_only = true,
            Flag::Merge => options.merge = true,
            Flag::Text => options.text = true,
            Flag::InitialTab => options.initial_tab = true,
            Flag::StripTrailingCr => options.strip_return = true,
            Flag::Label if options.labels.len() == 3 => {
                return Err(Failure::Usage("too many file label options".to_owned()));
            }
            Flag::Label => options.labels.push(value),
            Flag::DiffProgram => only_diff(&value)?,
            _ => {}
        }
        Ok(())
    })?;
    if ways > 0 && !options.merge {
        return Err(Failure::Other("commands of ed are not supported; use -m to print the merged file".to_owned()));
    }
    let bare_merge = ways == 0 && options.merge;
    (options.shows_old, options.marks) = (options.shows_old || bare_merge, options.marks || bare_merge);
    if ways > 1 || (!options.labels.is_empty() && !options.marks) {
        return Err(Failure::Usage("incompatible options".to_owned()));
    }
    match names.len() {
        0..3 => Err(Failure::Usage(format!("missing operand after '{}'", String::from_utf8_lossy(&last)))),
        3 => Ok((options, names)),
        _ => Err(Failure::Usage(format!("extra operand '{}'", lossy(names.get(3).map_or(&b""[..], Vec::as_slice))))),
    }
}

/// `sdiff` and `diff3` have an option for the comparison program; this implementation always uses `diff`.
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
    Failure::Other(format!("{}: {}", lossy(name), errno.text()))
}

fn lines_of(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|byte| *byte == b'\n').collect()
}

fn is_binary(text: &[u8]) -> bool {
    memchr::memchr(0, text.get(..BINARY_PREFIX).unwrap_or(text)).is_some()
}

fn lossy(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}
