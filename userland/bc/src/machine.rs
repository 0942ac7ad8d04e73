//! The machine that runs what was compiled.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use tidebox_gnu::escape::control;

use crate::code::{Code, Function, HISTORY, IBASE, LAST, OBASE, Op, Own, SCALE};
use crate::library;
use crate::number::Number;
use crate::output::Output;
use crate::parse::Names;
use crate::token::Lexer;

/// Calls in progress at most.
const MOST_CALLS: usize = 1 << 20;

/// The largest subscript.
const MOST_ELEMENTS: i64 = 16_777_215;

/// The largest scale: more digits do not fit into memory.
const MOST_SCALE: i64 = 100_000_000;

/// Digits of a power at most, for the same reason.
const MOST_DIGITS: f64 = 500_000_000.0;

/// The largest base of output.
const MOST_BASE: i64 = 2_147_483_647;

type Array = Rc<RefCell<HashMap<i64, Number>>>;

/// Why a line does not go on.
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

/// Everything that a program changes.
#[derive(Debug)]
pub(crate) struct Machine {
    stack: Vec<Number>,
    /// Arrays that are passed, by the place of their argument.
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
        // A line that ends in the middle of a function leaves nothing of it behind.
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
                    if self.frames.len() >= MOST_CALLS {
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

    /// Where the machine is, as messages say it.
    fn place(&self, functions: &[Function], address: usize) -> String {
        let function = self.frames.last().and_then(|frame| functions.get(frame.function));
        format!("(func={}, adr={address})", function.map_or("(main)", |function| &function.name))
    }

    fn error(&mut self, functions: &[Function], address: usize, message: &str) -> Result<(), Stop> {
        self.output.flush();
        eprintln!("Runtime error {}: {message}", self.place(functions, address));
        Err(Stop::Error)
    }

    fn warn(&mut self, functions: &[Function], address: usize, message: &str) {
        self.output.flush();
        eprintln!("Runtime warning {}: {message}", self.place(functions, address));
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
            Op::Negate => {
                let value = self.pop();
                self.stack.push(value.negated());
            }
            Op::Not => {
                let value = self.pop();
                self.stack.push(Number::truth(value.is_zero()));
            }
            Op::Array(name) => {
                let array = self.arrays.get(*name).and_then(|versions| versions.last()).cloned();
                self.passed.push(array);
            }
            Op::Length => {
                let value = self.pop();
                self.stack.push(Number::from(value.length() as i64));
            }
            Op::ScaleOf => {
                let value = self.pop();
                self.stack.push(Number::from(value.scale() as i64));
            }
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
            // The others are in `go`.
            _ => {}
        }
        Ok(())
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
        if size > MOST_DIGITS && !trivial {
            return Err("exponent too large in raise".to_owned());
        }
        let power = if trivial { power.clamp(-2, 2) } else { power };
        base.raise(power, self.scale).ok_or_else(|| "divide by zero".to_owned())
    }

    fn element(&mut self, name: usize, names: &Names) -> Result<(Array, i64), String> {
        let at = self.pop().to_i64().filter(|at| (0..=MOST_ELEMENTS).contains(at));
        let array = self.arrays.get(name).and_then(|versions| versions.last()).cloned();
        match (array, at) {
            (Some(array), Some(at)) => Ok((array, at)),
            _ => Err(format!("Array {} subscript out of bounds.", names.array_name(name))),
        }
    }

    // Variables.

    fn load(&self, name: usize) -> Number {
        match name {
            IBASE => Number::from(i64::from(self.ibase)),
            OBASE => Number::from(i64::from(self.obase)),
            SCALE => Number::from(self.scale as i64),
            HISTORY => Number::from(-1),
            _ => self.variables.get(name).and_then(|versions| versions.last()).cloned().unwrap_or_default(),
        }
    }

    fn set(&mut self, name: usize, value: Number) {
        if let Some(place) = self.variables.get_mut(name).and_then(|versions| versions.last_mut()) {
            *place = value;
        }
    }

    fn store(&mut self, name: usize, value: Number, functions: &[Function], address: usize) {
        if name > HISTORY {
            return self.set(name, value);
        }
        let negative = value.is_negative();
        let whole = value.to_i64().unwrap_or(i64::MAX);
        match name {
            IBASE => {
                self.ibase = match whole {
                    _ if negative => self.corrected(functions, address, "negative ibase, set to 2", 2),
                    ..2 => self.corrected(functions, address, "ibase too small, set to 2", 2),
                    37.. => self.corrected(functions, address, "ibase too large, set to 36", 36),
                    base => base as u32,
                }
            }
            OBASE => {
                self.obase = match whole {
                    _ if negative => self.corrected(functions, address, "negative obase, set to 2", 2),
                    ..2 => self.corrected(functions, address, "obase too small, set to 2", 2),
                    base if base > MOST_BASE => {
                        let message = format!("obase too large, set to {MOST_BASE}");
                        self.corrected(functions, address, &message, MOST_BASE as u32)
                    }
                    base => base as u32,
                }
            }
            SCALE => {
                self.scale = match whole {
                    _ if negative => self.corrected(functions, address, "negative scale, set to 0", 0) as usize,
                    scale if scale > MOST_SCALE => {
                        let message = format!("scale too large, set to {MOST_SCALE}");
                        self.corrected(functions, address, &message, MOST_SCALE as u32) as usize
                    }
                    scale => scale as usize,
                }
            }
            // There is no history to change.
            _ => {}
        }
    }

    fn corrected(&mut self, functions: &[Function], address: usize, message: &str, value: u32) -> u32 {
        self.warn(functions, address, message);
        value
    }

    fn count(&mut self, name: usize, up: bool, functions: &[Function], address: usize) {
        let old = self.load(name);
        let message = match (name, up) {
            (IBASE, false) if self.ibase <= 2 => "ibase too small in --",
            (OBASE, false) if self.obase <= 2 => "obase too small in --",
            (SCALE, false) if self.scale == 0 => "scale can not be negative in -- ",
            (IBASE, true) if self.ibase >= 16 => "ibase too big in ++",
            (OBASE, true) if i64::from(self.obase) >= MOST_BASE => "obase too big in ++",
            (SCALE, true) if self.scale as i64 >= MOST_SCALE => "Scale too big in ++",
            _ => {
                let new = old.add(&Number::from(if up { 1 } else { -1 }));
                return self.store(name, new, functions, address);
            }
        };
        self.warn(functions, address, message);
    }

    // Functions.

    /// Gives parameters their arguments; on failure, how many bytes of the call were read and what is wrong.
    fn pass(&mut self, function: &Function, arguments: &[bool], names: &Names) -> Result<(), (usize, String)> {
        let mismatch = || "Parameter number mismatch".to_owned();
        for (at, is_array) in arguments.iter().enumerate() {
            let Some(parameter) = function.parameters.get(at) else {
                return Err((at + 1, mismatch()));
            };
            if parameter.is_array != *is_array {
                let message = match parameter.is_array {
                    true => format!("Parameter type mismatch, parameter {}.", names.array_name(parameter.name)),
                    false => format!("Parameter type mismatch, parameter {}.", names.variable_name(parameter.name)),
                };
                return Err((at + 1, message));
            }
        }
        if arguments.len() < function.parameters.len() {
            return Err((arguments.len() + 1, mismatch()));
        }
        for parameter in function.parameters.iter().rev() {
            if parameter.is_array {
                let array = self.passed.pop().flatten().unwrap_or_default();
                let own = if parameter.shared { array } else { Rc::new(RefCell::new(array.borrow().clone())) };
                if let Some(versions) = self.arrays.get_mut(parameter.name) {
                    versions.push(own);
                }
            } else {
                let value = self.pop();
                self.push_variable(parameter, value);
            }
        }
        for auto in &function.autos {
            if auto.is_array {
                if let Some(versions) = self.arrays.get_mut(auto.name) {
                    versions.push(Array::default());
                }
            } else {
                self.push_variable(auto, Number::default());
            }
        }
        Ok(())
    }

    fn push_variable(&mut self, own: &Own, value: Number) {
        if let Some(versions) = self.variables.get_mut(own.name) {
            versions.push(value);
        }
    }

    fn leave(&mut self, function: &Function) {
        for own in function.autos.iter().chain(&function.parameters) {
            if own.is_array {
                self.arrays.get_mut(own.name).map(Vec::pop);
            } else {
                self.variables.get_mut(own.name).map(Vec::pop);
            }
        }
    }

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

    /// `read()`: a number from what follows the program.
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

/// The number that digits are in a base.
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
