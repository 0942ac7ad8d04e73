//! What a script becomes before it runs: words already in pieces, arithmetic already a tree, builtins already found.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use crate::builtins::Builtin;
use crate::function::Function;
use crate::parse::SyntaxError;

/// Text of the shell: any bytes, most often UTF-8.
pub(crate) type Bytes = Vec<u8>;
/// The name of a variable or function.
pub(crate) type Name = Rc<[u8]>;

/// Commands one after the other.
#[derive(Debug, Default)]
pub(crate) struct List {
    pub(crate) items: Vec<Item>,
}

/// One entry of a list.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) chain: Rc<Chain>,
    /// Ended by `&`.
    pub(crate) background: bool,
    /// Ended by a newline, which a substitution that is printed keeps.
    pub(crate) newline: bool,
}

/// Pipelines joined by `&&` and `||`.
#[derive(Debug)]
pub(crate) struct Chain {
    pub(crate) first: Pipeline,
    pub(crate) rest: Vec<(Join, Pipeline)>,
    /// The text, for `jobs`.
    pub(crate) text: Box<[u8]>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Join {
    And,
    Or,
}

#[derive(Debug)]
pub(crate) struct Pipeline {
    /// An odd number of `!`.
    pub(crate) bang: bool,
    pub(crate) timed: Option<TimeFormat>,
    pub(crate) stages: Vec<Command>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimeFormat {
    Bash,
    Posix,
}

#[derive(Debug)]
pub(crate) enum Command {
    Simple(Rc<Simple>),
    Compound(Rc<Compound>),
    Function(Rc<Function>),
}

/// Assignments, words, redirections.
#[derive(Debug)]
pub(crate) struct Simple {
    pub(crate) line: u32,
    pub(crate) assigns: Vec<Assign>,
    pub(crate) args: Vec<Arg>,
    pub(crate) redirects: Vec<Redirect>,
    /// The builtin that the first word names, when that word is plain text.
    pub(crate) builtin: Option<&'static Builtin>,
    /// Expanding the words cannot change the shell, so it may happen outside the subshell where bash does it.
    pub(crate) pure_words: bool,
    /// The same, but substitutions among the words are fine.
    pub(crate) quiet_words: bool,
    /// Some argument is an assignment of a declaration builtin.
    pub(crate) declares: bool,
}

/// An argument of a simple command.
#[derive(Debug)]
pub(crate) enum Arg {
    Word(Word),
    /// `name=value` after `declare` and its kind: not split, may be an array.
    Assign(Assign),
}

#[derive(Debug)]
pub(crate) struct Compound {
    pub(crate) line: u32,
    pub(crate) kind: Kind,
    pub(crate) redirects: Vec<Redirect>,
}

#[derive(Debug)]
pub(crate) enum Kind {
    Group(List),
    Subshell(List),
    If {
        arms: Vec<(List, List)>,
        otherwise: Option<List>,
    },
    Loop {
        until: bool,
        condition: List,
        body: List,
    },
    For {
        name: Name,
        words: Option<Vec<Word>>,
        body: List,
    },
    Select {
        name: Name,
        words: Option<Vec<Word>>,
        body: List,
    },
    ForArith {
        init: Arith,
        condition: Arith,
        step: Arith,
        body: List,
    },
    Case {
        word: Word,
        arms: Vec<Arm>,
    },
    Arith(Arith),
    Cond(Cond),
    /// `coproc`
    Coproc {
        name: Name,
        body: Command,
    },
}

/// One arm of `case`.
#[derive(Debug)]
pub(crate) struct Arm {
    pub(crate) patterns: Vec<Word>,
    pub(crate) body: List,
    pub(crate) end: ArmEnd,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArmEnd {
    /// `;;`
    Leave,
    /// `;&`
    Fall,
    /// `;;&`
    Test,
}

/// `name=value`, `name+=value`, `name[subscript]=value`, `name=(..)`.
#[derive(Debug)]
pub(crate) struct Assign {
    pub(crate) name: Name,
    pub(crate) subscript: Option<Subscript>,
    pub(crate) append: bool,
    pub(crate) value: AssignValue,
}

#[derive(Debug)]
pub(crate) enum AssignValue {
    Word(Word),
    Array(Vec<Element>),
}

#[derive(Debug)]
pub(crate) struct Element {
    pub(crate) subscript: Option<Subscript>,
    pub(crate) append: bool,
    pub(crate) value: Word,
    /// All of it as one word, where braces make several of it. In an indexed array they expand before anybody looks for a
    /// subscript, and what they make has none.
    pub(crate) braced: Option<Box<Word>>,
}

/// What stands in brackets: a key of an associative array or an expression.
#[derive(Clone, Debug)]
pub(crate) struct Subscript {
    pub(crate) key: Word,
    pub(crate) index: Arith,
    /// It was made from text at run time, which `assoc_expand_once` keeps from being expanded again.
    pub(crate) made: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Redirect {
    pub(crate) fd: RedirectFd,
    pub(crate) kind: RedirectKind,
}

#[derive(Clone, Debug)]
pub(crate) enum RedirectFd {
    /// 0 for input, 1 for output.
    Default,
    Number(u32),
    /// `{name}`
    Variable(Name),
}

/// A here-document; its body is read after the line that names it.
#[derive(Debug)]
pub(crate) struct HereDoc {
    pub(crate) delimiter: Bytes,
    /// Part of the delimiter is quoted, so that the body is taken as it stands.
    pub(crate) quoted: bool,
    /// `<<-`: tabs at the start of lines do not count.
    pub(crate) strip_tabs: bool,
    pub(crate) body: OnceCell<Word>,
}

#[derive(Clone, Debug)]
pub(crate) enum RedirectKind {
    Read(Word),
    Write(Word),
    /// `>|`
    Clobber(Word),
    Append(Word),
    ReadWrite(Word),
    /// `&>` and `>& word`; append for `&>>`.
    Both {
        word: Word,
        append: bool,
    },
    /// `<&` and `>&`: a number, `-`, or a number and `-`.
    Duplicate {
        word: Word,
        output: bool,
    },
    HereDoc(Rc<HereDoc>),
    HereString(Word),
}

/// A word in pieces.
#[derive(Clone, Debug, Default)]
pub(crate) struct Word {
    pub(crate) parts: Vec<Part>,
    /// The text as written.
    pub(crate) raw: Box<[u8]>,
    /// An unquoted brace that may expand.
    pub(crate) braces: bool,
}

impl Word {
    /// The text of a word that is nothing but unquoted text.
    pub(crate) fn literal(&self) -> Option<&[u8]> {
        match self.parts.as_slice() {
            [Part::Lit(text)] => Some(text),
            _ => None,
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) enum Part {
    /// Unquoted text.
    Lit(Bytes),
    /// Text that was quoted in any way.
    Quoted(Bytes),
    /// Between double quotes.
    Double(Vec<Self>),
    /// `~` and what follows up to the slash.
    Tilde(Bytes),
    Param(Rc<Param>),
    Command(Rc<Substitution>),
    Arith(Rc<Arith>),
    Process {
        output: bool,
        body: Rc<Substitution>,
    },
}

/// `$( )`.
#[derive(Debug)]
pub(crate) struct Substitution {
    pub(crate) body: Rc<List>,
    /// The line that it ends in.
    pub(crate) line: u32,
    pub(crate) layout: Layout,
    /// The commands as they were read once more, and the line that the first of them was said to be in.
    pub(crate) read_again: RefCell<Option<(u32, Rc<List>)>>,
    /// `$(<file)`.
    pub(crate) file: Option<Word>,
    /// Why the text between backquotes is no program, and its line in question.
    pub(crate) broken: Option<Box<(SyntaxError, Bytes)>>,
}

/// How lines are counted within a substitution. bash reads its text when it runs it, and begins to count where it is then.
#[derive(Debug)]
pub(crate) enum Layout {
    /// All on the line of the substitution.
    OneLine,
    /// On the lines on which bash prints what it read here, because that is the text that it reads then.
    Printed(Box<[u8]>),
    /// On the lines of this text, which stood between backquotes.
    Text(Box<[u8]>),
}

/// `$name` or `${..}`.
#[derive(Debug)]
pub(crate) struct Param {
    pub(crate) target: Target,
    pub(crate) index: Index,
    /// `${!name}`
    pub(crate) indirect: bool,
    pub(crate) op: Op,
    /// The text as written, for messages.
    pub(crate) raw: Box<[u8]>,
}

#[derive(Debug, Clone)]
pub(crate) enum Target {
    Var(Name),
    Positional(usize),
    /// One of `@ * # ? - $ ! 0`
    Special(u8),
}

#[derive(Debug)]
pub(crate) enum Index {
    None,
    /// `[@]`
    At,
    /// `[*]`
    Star,
    One(Subscript),
}

/// What is done with a parameter's value.
#[derive(Debug)]
pub(crate) enum Op {
    None,
    /// `${#x}`
    Length,
    /// `-`, `=`, `?`, `+`; `colon` also tests for empty.
    Test {
        kind: Test,
        colon: bool,
        word: Word,
    },
    /// `#`, `##`, `%`, `%%`
    Strip {
        suffix: bool,
        longest: bool,
        pattern: Word,
    },
    Replace {
        how: Replace,
        pattern: Word,
        with: Word,
    },
    Substring {
        offset: Arith,
        length: Option<Arith>,
    },
    /// `^`, `^^`, `,`, `,,`, `~`, `~~`
    Case {
        how: u8,
        all: bool,
        pattern: Option<Word>,
    },
    /// `@Q` and its kind.
    Transform(u8),
    /// `${!name*}` and `${!name@}`
    Names {
        star: bool,
    },
    /// `${!name[@]}`
    Keys {
        star: bool,
    },
    /// Not understood; the message comes when it is expanded, as in bash.
    Bad,
    /// Text of a here-document in which this byte does not close something.
    Unclosed(u8),
    /// The text of a here-document with a substitution that is none.
    Broken(Box<Broken>),
}

/// A substitution in a here-document that is none, which is told when the document is expanded.
#[derive(Debug)]
pub(crate) struct Broken {
    pub(crate) error: SyntaxError,
    /// The line of the text that shows the mistake.
    pub(crate) shown: Bytes,
    /// The line at which the substitution starts.
    pub(crate) start: u32,
    /// Here-documents in it that ended with the text, as in [`crate::parse::Parser`].
    pub(crate) unfinished: Vec<(u32, u32, Bytes)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Test {
    Default,
    Assign,
    Error,
    Alternative,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Replace {
    First,
    All,
    Prefix,
    Suffix,
}

/// An expression of arithmetic.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arith {
    /// Its text in pieces, because expansions in it come before its evaluation.
    pub(crate) text: Word,
    /// The tree, when the text has one whatever the expansions yield, as long as they yield numbers.
    pub(crate) tree: Option<Rc<Expr>>,
    /// The pieces that `Expr::Expansion` refers to.
    pub(crate) expansions: Vec<Part>,
    /// It is a subscript with expansions within an expression. Brackets and quotes mean nothing in it once it is expanded.
    pub(crate) guards: bool,
}

#[derive(Debug)]
pub(crate) enum Expr {
    Number(i64),
    /// The value of the expansion with this index.
    Expansion(usize),
    Var(Name),
    Element(Name, Rc<Subscript>),
    Unary(UnaryOp, Box<Self>),
    Binary(BinaryOp, Box<Self>, Box<Self>),
    /// Division, remainder and power, with the offset that the message names when the right side will not do.
    Divide {
        op: BinaryOp,
        left: Box<Self>,
        right: Box<Self>,
        at: usize,
    },
    And(Box<Self>, Box<Self>),
    Or(Box<Self>, Box<Self>),
    Choose(Box<Self>, Box<Self>, Box<Self>),
    /// Plain or compound assignment to a variable or an element.
    Assign {
        name: Name,
        subscript: Option<Rc<Subscript>>,
        op: Option<BinaryOp>,
        value: Box<Self>,
        /// Offset of the newest operand, which the message names when it is a divisor of 0.
        at: usize,
    },
    /// `++x`, `x++` and so on.
    Step {
        name: Name,
        subscript: Option<Rc<Subscript>>,
        by: i64,
        prefix: bool,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnaryOp {
    Plus,
    Minus,
    Not,
    Complement,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BinaryOp {
    Power,
    Multiply,
    Divide,
    Modulo,
    Add,
    Subtract,
    ShiftLeft,
    ShiftRight,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    BitAnd,
    BitXor,
    BitOr,
    Comma,
}

/// The expression of `[[ ]]`.
#[derive(Debug)]
pub(crate) enum Cond {
    Not(Box<Self>),
    /// In parentheses.
    Group(Box<Self>),
    And(Box<Self>, Box<Self>),
    Or(Box<Self>, Box<Self>),
    Unary(u8, Word),
    Binary(CondOp, Word, Word),
    Word(Word),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CondOp {
    Match,
    /// `=`, which means what `==` does.
    Same,
    NoMatch,
    Regex,
    Before,
    After,
    /// One of the two-letter tests, such as `-eq` or `-nt`.
    Test([u8; 2]),
}
