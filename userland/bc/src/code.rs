//! Compiled code, with the addresses of GNU's byte code, which its messages contain.

/// Slots of the special variables; others follow.
pub(crate) const IBASE: usize = 0;
pub(crate) const OBASE: usize = 1;
pub(crate) const SCALE: usize = 2;
pub(crate) const HISTORY: usize = 3;
pub(crate) const LAST: usize = 4;

/// One instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    Zero,
    One,
    Constant(Vec<u8>),
    Load(usize),
    Store(usize),
    Step(usize, bool),
    LoadElement(usize),
    StoreElement(usize),
    StepElement(usize, bool),
    Duplicate,
    Exchange,
    Pop,
    Operate(char),
    Negate,
    Not,
    Jump(usize),
    JumpIf(usize),
    JumpUnless(usize),
    /// A call, and which arguments are arrays.
    Call(usize, Vec<bool>),
    Array(usize),
    Return,
    Length,
    ScaleOf,
    SquareRoot,
    Read,
    Random,
    /// Prints the value, with or without a newline.
    Write(bool),
    Text(Vec<u8>),
    /// A text with escapes.
    PrintText(Vec<u8>),
    Halt,
}

impl Op {
    /// Its size in GNU's byte code.
    fn size(&self) -> usize {
        let name = |name: &usize| if *name < 128 { 2 } else { 3 };
        match self {
            Self::Constant(digits) => digits.len() + 2,
            Self::Load(at) | Self::Store(at) | Self::Step(at, _) => name(at),
            Self::LoadElement(at) | Self::StoreElement(at) | Self::StepElement(at, _) => name(at),
            Self::Jump(_) | Self::JumpIf(_) | Self::JumpUnless(_) => 3,
            // The interpreter computes the address of a failing call.
            Self::Call(at, arguments) => name(at) + arguments.len() + 1,
            Self::Array(at) => at.to_string().len() + 3,
            Self::Length | Self::ScaleOf | Self::SquareRoot | Self::Read | Self::Random => 2,
            Self::Text(text) | Self::PrintText(text) => text.len() + 2,
            _ => 1,
        }
    }
}

/// Code with the address after each instruction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Code {
    pub(crate) ops: Vec<Op>,
    pub(crate) addresses: Vec<usize>,
}

impl Code {
    pub(crate) fn push(&mut self, op: Op) -> usize {
        let address = self.addresses.last().copied().unwrap_or(0) + op.size();
        self.ops.push(op);
        self.addresses.push(address);
        self.ops.len() - 1
    }

    /// Makes a jump lead to a position.
    pub(crate) fn aim(&mut self, jump: usize, to: usize) {
        if let Some(Op::Jump(target) | Op::JumpIf(target) | Op::JumpUnless(target)) = self.ops.get_mut(jump) {
            *target = to;
        }
    }
}

/// A parameter or a variable of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Own {
    pub(crate) name: usize,
    pub(crate) is_array: bool,
    /// The caller's own array.
    pub(crate) shared: bool,
}

/// A function.
#[derive(Clone, Debug, Default)]
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) is_void: bool,
    pub(crate) parameters: Vec<Own>,
    pub(crate) autos: Vec<Own>,
    pub(crate) code: Code,
    pub(crate) defined: bool,
    /// A library function.
    pub(crate) library: Option<char>,
}
