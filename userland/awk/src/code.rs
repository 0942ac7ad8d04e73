//! Bytecode of a program.

use std::rc::Rc;

use crate::builtin::Builtin;
use crate::pattern::Pattern;
use crate::value::Value;

/// Source position of an instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Origin {
    /// Number of the source text.
    pub(crate) source: u32,
    pub(crate) line: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
    Power,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Less,
    LessOrEqual,
    Equal,
    NotEqual,
    Greater,
    GreaterOrEqual,
}

/// `++` and `--`: the increment, and whether the result is the old value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) up: bool,
    pub(crate) after: bool,
}

/// Location of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arr {
    Global(u32),
    Local(u32),
    /// On the stack.
    Stack,
}

/// Location of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Var {
    Global(u32),
    Local(u32),
    /// A global that the interpreter stores or watches.
    Special(u32),
}

/// Assignment target. Subscripts and field numbers are on the stack, above the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Var(Var),
    Field,
    FieldAt(u32),
    Element(Arr),
}

/// Destination of `print`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sink {
    Standard,
    File,
    Append,
    Pipe,
    TwoWay,
}

/// Source of `getline`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origins {
    Main,
    File,
    Pipe,
    TwoWay,
}

/// One instruction. Jumps are relative to the instruction that follows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Op {
    Const(u32),
    Load(Var),
    FieldAt(u32),
    Field,
    Element(Arr),
    /// The array in an element, created if necessary.
    SubArray(Arr),
    /// The array itself.
    Whole(Arr),
    /// An argument that may become an array.
    ArgVar(Var),
    ArgElement(Arr),
    Set(Target),
    Augment(Arithmetic, Target),
    Step(Step, Target),
    /// Like the ones before, but with an unused result.
    SetQuietly(Target),
    AugmentQuietly(Arithmetic, Target),
    StepQuietly(bool, Target),
    /// `v = v more`, without a copy.
    AppendTo(Var),
    Pop,
    Arithmetic(Arithmetic),
    Negate,
    Plus,
    Not,
    Truth,
    Compare(Comparison),
    Concat(u32),
    /// Joins subscripts.
    Join(u32),
    /// Matches the record against a constant.
    MatchRecord(u32),
    Regex(u32),
    Match {
        negated: bool,
    },
    MatchConst {
        pattern: u32,
        negated: bool,
    },
    Jump(i32),
    JumpIf(i32),
    JumpUnless(i32),
    JumpUnlessCompares(Comparison, i32),
    /// Compares with the value of `switch`, which stays.
    CaseIs,
    Within(Arr),
    Delete(Arr),
    DeleteAll(Arr),
    Loop(Arr),
    /// Advances to the next subscript, or jumps.
    LoopNext(i32),
    LoopEnd,
    Place(Target),
    Call {
        function: u32,
        arguments: u32,
    },
    CallByName {
        arguments: u32,
    },
    Return,
    ReturnUnset,
    Builtin(Builtin, u32),
    Print {
        count: u32,
        sink: Sink,
    },
    Printf {
        count: u32,
        sink: Sink,
    },
    Getline {
        from: Origins,
        placed: bool,
    },
    Next,
    NextFile,
    Exit,
    /// Jumps unless the range is active.
    RangeActive(u32, i32),
    RangeSet(u32, bool),
    End,
}

/// A function of the program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Function {
    pub(crate) name: Vec<u8>,
    pub(crate) parameters: Vec<Vec<u8>>,
    /// Start of its code; `None` until it is defined.
    pub(crate) entry: Option<usize>,
}

/// A compiled program.
#[derive(Debug, Default)]
pub(crate) struct Program {
    pub(crate) ops: Vec<Op>,
    pub(crate) origins: Vec<Origin>,
    pub(crate) constants: Vec<Value>,
    pub(crate) patterns: Vec<Rc<Pattern>>,
    pub(crate) functions: Vec<Function>,
    /// Names of the global variables.
    pub(crate) globals: Vec<Vec<u8>>,
    pub(crate) begin: Vec<usize>,
    pub(crate) end: Vec<usize>,
    pub(crate) begin_file: Vec<usize>,
    pub(crate) end_file: Vec<usize>,
    pub(crate) rules: Option<usize>,
    pub(crate) ranges: u32,
    /// Names of the source texts.
    pub(crate) sources: Vec<Vec<u8>>,
}
