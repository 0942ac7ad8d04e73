//! The expression that is evaluated for every file.

use tidebox_gnu::mode::Change;
use tidebox_gnu::regex::Regex;

use crate::execute::Execute;
use crate::printf::Format;

/// Node of the expression.
#[derive(Debug)]
pub(crate) enum Expression {
    /// True if all are true; stops at the first false one.
    And(Vec<Self>),
    /// True if any is true; stops at the first true one.
    Or(Vec<Self>),
    /// Evaluates all and has the value of the last one.
    List(Vec<Self>),
    Not(Box<Self>),
    Test(Test),
    Action(Action),
}

/// Numeric comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compare {
    Less(u64),
    Equal(u64),
    More(u64),
}

impl Compare {
    pub(crate) fn holds(self, value: u64) -> bool {
        match self {
            Self::Less(bound) => value < bound,
            Self::Equal(bound) => value == bound,
            Self::More(bound) => value > bound,
        }
    }
}

/// File timestamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stamp {
    Access,
    Change,
    Modification,
}

/// Comparison of permission bits for `-perm`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bits {
    Exactly,
    All,
    Any,
}

/// Test of a file.
#[derive(Debug)]
pub(crate) enum Test {
    True,
    False,
    Name {
        glob: Vec<u8>,
        ignore_case: bool,
    },
    Path {
        glob: Vec<u8>,
        ignore_case: bool,
    },
    LinkName {
        glob: Vec<u8>,
        ignore_case: bool,
    },
    Regex(Box<Regex>),
    /// Letters of types. With `follow` the test is `-xtype`.
    Type {
        letters: Vec<u8>,
        other_side: bool,
    },
    /// Size in units of a number of bytes, rounded up.
    Size {
        compare: Compare,
        unit: u64,
    },
    Empty,
    /// Age in units of a number of seconds.
    Age {
        stamp: Stamp,
        compare: Compare,
        unit: u64,
    },
    /// Days between the last status change and the last access.
    Used(Compare),
    /// On a file system with a type.
    FileSystem(Vec<u8>),
    /// Newer than a time, in nanoseconds since 1970.
    NewerThan {
        stamp: Stamp,
        than: u64,
    },
    Permission {
        change: Box<Change>,
        bits: Bits,
    },
    /// Accessible to the caller, with the bits of `access`.
    Access(u32),
    User(Compare),
    Group(Compare),
    NoUser,
    NoGroup,
    Links(Compare),
    Inode(Compare),
    SameFile {
        device: u32,
        inode: u64,
    },
}

/// An action. Its value is whether it succeeded.
#[derive(Debug)]
pub(crate) enum Action {
    /// Prints to the output with a number.
    Print {
        output: usize,
        end: u8,
    },
    Printf {
        output: usize,
        format: Format,
    },
    List {
        output: usize,
    },
    Execute(Execute),
    Delete,
    Prune,
    Quit,
}
