//! The commands of a script.

use tidebox_gnu::regex::Regex;

use crate::replacement::Replacement;

/// A script as read.
#[derive(Debug, Default)]
pub(crate) struct Script {
    pub(crate) commands: Vec<Command>,
    /// `#n` stands on its first line.
    pub(crate) quiet: bool,
    /// Names of the files that are written.
    pub(crate) files: Vec<Vec<u8>>,
    pub(crate) regexes: Vec<Regex>,
    /// How many ranges there are, each of which remembers whether it is open.
    pub(crate) ranges: usize,
}

/// A command and the lines that it is for.
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
    /// Before the first one; only where a range begins.
    Zero,
    Number(u64),
    Last,
    /// Every `step`th, from `first` on.
    Step {
        first: u64,
        step: u64,
    },
    Matching(Pattern),
}

/// Where a range ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Number(u64),
    Last,
    Matching(Pattern),
    /// So many lines later.
    Plus(u64),
    /// At the next line whose number is a multiple.
    Multiple(u64),
}

/// A regular expression of the script by its number, or the one that was used last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pattern {
    Number(usize),
    Last,
}

/// A file that is written: standard output, standard error, or a file by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Stdout,
    Stderr,
    File(usize),
}

/// What a command does.
#[derive(Debug)]
pub(crate) enum Action {
    /// `{`: goes on behind the block when the lines do not fit; the number of the command there.
    Block {
        end: usize,
    },
    /// `}`, labels and comments.
    Nothing,
    Append(Vec<u8>),
    Insert(Vec<u8>),
    Change(Vec<u8>),
    /// Goes on at a command: always, after a replacement, without one.
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

/// When a branch is taken.
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
    /// Which match is the first to be replaced, from 1 on.
    pub(crate) from: u64,
    /// The ones after it, too.
    pub(crate) global: bool,
    pub(crate) print: bool,
    /// `pe`: the line is printed before it is run.
    pub(crate) print_first: bool,
    pub(crate) execute: bool,
    pub(crate) write: Option<Target>,
}

/// `y`
#[derive(Debug)]
pub(crate) struct Translate {
    /// Characters and what becomes of them.
    pub(crate) pairs: Vec<(Vec<u8>, Vec<u8>)>,
}
