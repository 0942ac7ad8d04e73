//! Interpreter of compiled code.

mod variable;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use tidebox_gnu::escape::control;

use crate::code::{Code, Function, LAST, Op};
use crate::library;
use crate::number::Number;
use crate::output::Output;
use crate::parse::Names;
use crate::token::Lexer;

/// Maximum number of nested calls.
const MAX_CALLS: usize = 1 << 20;

/// Maximum subscript.
const MAX_ELEMENTS: i64 = 16_777_215;

/// Maximum scale: more digits do not fit into memory.
const MAX_SCALE: i64 = 100_000_000;

/// Maximum digits of a power, for the same reason.
const MAX_DIGITS: f64 = 500_000_000.0;

/// Maximum output base.
const MAX_BASE: i64 = 2_147_483_647;

type Array = Rc<RefCell<HashMap<i64, Number>>>;

/// Reason why a line stops.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// A message was printed.
    Error,
    Halt,
}

/// A call in progress.
#[derive(Debug)]
struct Frame {
    function: usize,
    at: usize,
    ibase: u32,
}

/// State of a program.
#[derive(Debug)]
pub(crate) struct Machine {
    stack: Vec<Number>,
    /// Arrays passed as arguments, by argument index.
    passed: Vec<Option<Array>>,
    variables: Vec<Vec<Number>>,
    arrays: Vec<Vec<Array>>,
    frames: Vec<Frame>,
    ibase: u32,
    obase: u32,
    pub(crate) scale: usize,
    pub(crate) output: Output,
    seed: u64,
}

impl Machine {
    pub(crate) fn new() -> Self {
        Self {
            stack: Vec::new(),
            passed: Vec::new(),
            variables: Vec::new(),
            arrays: Vec::new(),
            frames: Vec::new(),
            ibase: 10,
            obase: 10,
            scale: 0,
            output: Output::new(),
            seed: 1,
        }
    }

    /// Runs a line.
    pub(crate) fn run(
        &mut self,
        code: &Code,
        functions: &[Function],
        names: &Names,
        lexer: &mut Lexer,
    ) -> Result<(), Stop> {
        let (variables, arrays) = names.counts();
        if self.variables.len() < variables {
            self.variables.resize_with(variables, || vec![Number::default()]);
        }
        if self.arrays.len() < arrays {
            self.arrays.resize_with(arrays, || vec![Array::default()]);
        }
        let outcome = self.go(code, functions, names, lexer);
        // A line that stops within a function discards the function's frames.
        while let Some(frame) = self.frames.pop() {
            self.leave(&functions[frame.function]);
        }
        self.stack.clear();
        self.passed.clear();
        outcome
    }

    fn go(&mut self, main: &Code, functions: &[Function], names: &Names, lexer: &mut Lexer) -> Result<(), Stop> {
        let mut at = 0;
        loop {
            let code = self.frames.last().map_or(main, |frame| &functions[frame.function].code);
            let (Some(op), Some(address)) = (code.ops.get(at), code.addresses.get(at)) else {
                return Ok(());
            };
            at += 1;
            match op {
                Op::Jump(to) => at = *to,
                Op::JumpIf(to) => {
                    if !self.pop().is_zero() {
                        at = *to;
                    }
                }
                Op::JumpUnless(to) => {
                    if self.pop().is_zero() {
                        at = *to;
                    }
                }
                Op::Call(function, arguments) => {
                    let start = address - arguments.len() - 1;
                    let Some(definition) = functions.get(*function).filter(|function| function.defined) else {
                        let name = functions.get(*function).map_or("", |function| &function.name);
                        return self.error(functions, start, &format!("Function {name} not defined."));
                    };
                    if let Some(letter) = definition.library {
                        self.library(letter, arguments, functions, *address)?;
                        continue;
                    }
                    if let Err((consumed, message)) = self.pass(definition, arguments, names) {
                        return self.error(functions, start + consumed, &message);
                    }
                    if self.frames.len() >= MAX_CALLS {
                        return self.error(functions, *address, "too many calls of functions are in progress");
                    }
                    self.frames.push(Frame { function: *function, at, ibase: self.ibase });
                    at = 0;
                }
                Op::Return => {
                    let Some(frame) = self.frames.pop() else {
                        return self.error(functions, *address, "Return from main program.");
                    };
                    self.leave(&functions[frame.function]);
                    at = frame.at;
                }
                Op::Halt => return Err(Stop::Halt),
                Op::Read => self.read(lexer),
                op => {
                    if let Err(message) = self.step(op, functions, *address, names) {
                        return self.error(functions, *address, &message);
                    }
                }
            }
        }
    }

    fn pop(&mut self) -> Number {
        self.stack.pop().unwrap_or_default()
    }

    /// Current position, for messages.
    fn place(&self, functions: &[Function], address: usize) -> String {
        let function = self.frames.last().and_then(|frame| functions.get(frame.function));
        format!("(func={}, adr={address})", function.map_or("(main)", |function| &function.name))
    }

    fn error(&mut self, functions: &[Function], address: usize, message: &str) -> Result<(), Stop> {
        self.output.flush();
        tidebox_gnu::eprint_line!("Runtime error {}: {message}", self.place(functions, address));
        Err(Stop::Error)
    }

    fn warn(&mut self, functions: &[Function], address: usize, message: &str) {
        self.output.flush();
        tidebox_gnu::eprint_line!("Runtime warning {}: {message}", self.place(functions, address));
    }

    fn step(&mut self, op: &Op, functions: &[Function], address: usize, names: &Names) -> Result<(), String> {
        match op {
            Op::Zero => self.stack.push(Number::default()),
            Op::One => self.stack.push(Number::from(1)),
            Op::Constant(digits) => {
                let base = self.frames.last().map_or(self.ibase, |frame| frame.ibase);
                self.stack.push(constant(digits, base));
            }
            Op::Load(name) => {
                let value = self.load(*name);
                self.stack.push(value);
            }
            Op::Store(name) => {
                let value = self.stack.last().cloned().unwrap_or_default();
                self.store(*name, value, functions, address);
            }
            Op::Step(name, up) => self.count(*name, *up, functions, address),
            Op::LoadElement(name) => {
                let (array, at) = self.element(*name, names)?;
                let value = array.borrow().get(&at).cloned().unwrap_or_default();
                self.stack.push(value);
            }
            Op::StoreElement(name) => {
                let value = self.pop();
                let (array, at) = self.element(*name, names)?;
                array.borrow_mut().insert(at, value.clone());
                self.stack.push(value);
            }
            Op::StepElement(name, up) => {
                let (array, at) = self.element(*name, names)?;
                let mut array = array.borrow_mut();
                let value = array.entry(at).or_default();
                *value = value.add(&Number::from(if *up { 1 } else { -1 }));
            }
            Op::Duplicate => {
                let value = self.stack.last().cloned().unwrap_or_default();
                self.stack.push(value);
            }
            Op::Exchange => {
                let (top, below) = (self.pop(), self.pop());
                self.stack.extend([top, below]);
            }
            Op::Pop => drop(self.pop()),
            Op::Operate(operator) => self.operate(*operator, functions, address)?,
            Op::Negate => self.replace_top(|value| value.negated()),
            Op::Not => self.replace_top(|value| Number::truth(value.is_zero())),
            Op::Array(name) => {
                let array = self.arrays.get(*name).and_then(|versions| versions.last()).cloned();
                self.passed.push(array);
            }
            Op::Length => self.replace_top(|value| Number::from(value.length() as i64)),
            Op::ScaleOf => self.replace_top(|value| Number::from(value.scale() as i64)),
            Op::SquareRoot => {
                let value = self.pop();
                let root = value.square_root(self.scale).ok_or("Square root of a negative number")?;
                self.stack.push(root);
            }
            Op::Random => {
                self.seed = self.seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                self.stack.push(Number::from((self.seed >> 33) as i64));
            }
            Op::Write(line) => {
                let value = self.pop();
                self.output.wrapped(&value.written(self.obase));
                if *line {
                    self.output.wrapped(b"\n");
                }
                self.set(LAST, value);
            }
            Op::Text(text) => self.output.wrapped(text),
            Op::PrintText(text) => self.output.wrapped(&unescaped(text)),
            // All others are handled in `go`.
            _ => {}
        }
        Ok(())
    }

    #[inline]
    fn replace_top(&mut self, change: impl FnOnce(Number) -> Number) {
        let value = self.pop();
        self.stack.push(change(value));
    }

    fn operate(&mut self, operator: char, functions: &[Function], address: usize) -> Result<(), String> {
        let (right, left) = (self.pop(), self.pop());
        let result = match operator {
            '+' => left.add(&right),
            '-' => left.subtract(&right),
            '*' => left.multiply(&right, self.scale),
            '/' => left.divide(&right, self.scale).ok_or("Divide by zero")?,
            '%' => left.remainder(&right, self.scale).ok_or("Modulo by zero")?,
            '^' => self.power(&left, &right, functions, address)?,
            _ => {
                let order = left.compare(&right);
                Number::truth(match operator {
                    '=' => order.is_eq(),
                    '#' => order.is_ne(),
                    '<' => order.is_lt(),
                    '{' => order.is_le(),
                    '>' => order.is_gt(),
                    _ => order.is_ge(),
                })
            }
        };
        self.stack.push(result);
        Ok(())
    }

    fn power(
        &mut self,
        base: &Number,
        exponent: &Number,
        functions: &[Function],
        address: usize,
    ) -> Result<Number, String> {
        if exponent.scale() > 0 {
            self.warn(functions, address, "non-zero scale in exponent");
        }
        let power = exponent.to_i64().ok_or("exponent too large in raise")?;
        let size = (base.length().max(1) as f64) * power.unsigned_abs() as f64;
        let trivial = base.is_zero() || base.compare(&Number::from(1)).is_eq();
        if size > MAX_DIGITS && !trivial {
            return Err("exponent too large in raise".to_owned());
        }
        let power = if trivial { power.clamp(-2, 2) } else { power };
        base.power(power, self.scale).ok_or_else(|| "divide by zero".to_owned())
    }

    // Variables.

    // Functions.

    fn library(
        &mut self,
        letter: char,
        arguments: &[bool],
        functions: &[Function],
        address: usize,
    ) -> Result<(), Stop> {
        let wanted = if letter == 'j' { 2 } else { 1 };
        if arguments.len() != wanted || arguments.contains(&true) {
            return self.error(functions, address, "Parameter number mismatch");
        }
        let x = self.pop();
        let n = if letter == 'j' { self.pop() } else { Number::default() };
        match library::call(letter, &x, &n, self.scale) {
            Ok(result) => {
                self.stack.push(result);
                Ok(())
            }
            Err(message) => self.error(functions, address, &message),
        }
    }

    /// `read()`: a number from the input after the program.
    fn read(&mut self, lexer: &mut Lexer) {
        let line = lexer.rest_of_line().unwrap_or_default();
        let text: Vec<u8> = line.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
        let (negative, digits) = match text.as_slice() {
            [b'-', digits @ ..] => (true, digits),
            digits => (false, digits),
        };
        let length =
            digits.iter().take_while(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase() || **byte == b'.');
        let value = constant(digits.get(..length.count()).unwrap_or_default(), self.ibase);
        self.stack.push(if negative { value.negated() } else { value });
    }
}

/// The number for digits in a base.
fn constant(digits: &[u8], base: u32) -> Number {
    let letters = digits.iter().any(u8::is_ascii_uppercase);
    if base == 10 && !letters { Number::decimal(digits) } else { Number::in_base(digits, base) }
}

/// A text of `print` with its escapes resolved.
fn unescaped(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut bytes = text.iter();
    while let Some(byte) = bytes.next() {
        if *byte != b'\\' {
            out.push(*byte);
            continue;
        }
        out.extend(match bytes.next() {
            Some(b'q') => Some(b'"'),
            Some(b'\\') => Some(b'\\'),
            Some(letter) if *letter != b'v' => control(*letter),
            _ => None,
        });
    }
    out
}
