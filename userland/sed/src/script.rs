//! Commands of a parsed script.

use tidebox_gnu::regex::Regex;

use crate::replacement::Replacement;

/// A parsed script.
#[derive(Debug, Default)]
pub(crate) struct Script {
    pub(crate) commands: Vec<Command>,
    /// The first line is `#n`.
    pub(crate) quiet: bool,
    /// Names of the output files.
    pub(crate) files: Vec<Vec<u8>>,
    pub(crate) regexes: Vec<Regex>,
    /// Number of ranges. Each has an open state at run time.
    pub(crate) ranges: usize,
}

/// A command and its addresses.
#[derive(Debug)]
pub(crate) struct Command {
    pub(crate) lines: Lines,
    pub(crate) negated: bool,
    pub(crate) action: Action,
}

/// Lines.
#[derive(Debug)]
pub(crate) enum Lines {
    All,
    One(Address),
    Range { from: Address, to: End, number: usize },
}

/// A line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Address {
    /// Before the first line; only as the start of a range.
    Zero,
    Number(u64),
    Last,
    /// Every `step`th line, starting at `first`.
    Step {
        first: u64,
        step: u64,
    },
    Matching(Pattern),
}

/// End of a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Number(u64),
    Last,
    Matching(Pattern),
    /// After this number of lines.
    Plus(u64),
    /// At the next line whose number is a multiple.
    Multiple(u64),
}

/// Index of a regular expression, or the last one used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pattern {
    Number(usize),
    Last,
}

/// An output file: standard output, standard error, or a file by index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Stdout,
    Stderr,
    File(usize),
}

/// Action of a command.
#[derive(Debug)]
pub(crate) enum Action {
    /// `{`: jumps past the block if the lines do not match, to the command with this number.
    Block {
        end: usize,
    },
    /// `}`, labels and comments.
    Nothing,
    Append(Vec<u8>),
    Insert(Vec<u8>),
    Change(Vec<u8>),
    /// Branches: always, after a replacement, without one.
    Branch {
        to: usize,
        when: When,
    },
    Delete,
    DeleteFirst,
    Execute(Vec<u8>),
    FileName,
    Get,
    GetAppend,
    Hold,
    HoldAppend,
    List(Option<usize>),
    Next,
    NextAppend,
    Number,
    Print,
    PrintFirst,
    Quit {
        code: i32,
        prints: bool,
    },
    Read(Vec<u8>),
    ReadLine(usize),
    Substitute(Box<Substitute>),
    Translate(Box<Translate>),
    Write(Target),
    WriteFirst(Target),
    Exchange,
    Empty,
}

/// Condition of a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    Always,
    Replaced,
    NotReplaced,
}

/// `s`
#[derive(Debug)]
pub(crate) struct Substitute {
    pub(crate) pattern: Pattern,
    pub(crate) replacement: Replacement,
    /// Number of the first match to replace, from 1.
    pub(crate) from: u64,
    /// Also replace the following matches.
    pub(crate) global: bool,
    pub(crate) print: bool,
    /// `pe`: print the line before running it.
    pub(crate) print_first: bool,
    pub(crate) execute: bool,
    pub(crate) write: Option<Target>,
}

/// `y`
#[derive(Debug)]
pub(crate) struct Translate {
    /// Characters and their replacements.
    pub(crate) pairs: Vec<(Vec<u8>, Vec<u8>)>,
}
