//! Command interpreter, character by character.

mod frame;
mod print;
mod register;
mod top;

use num_traits::ToPrimitive as _;
use tidebox_gnu::command::Command;
use tidebox_gnu::stream::Input;

use super::arithmetic::{binary, modular_power};
use super::value::{Level, Value};
use crate::number::Number;
use crate::output::Output;
use frame::Frame;

/// State of the calculator.
pub(super) struct Machine {
    stack: Vec<Value>,
    registers: Vec<Vec<Level>>,
    input_base: u32,
    output_base: u32,
    scale: usize,
    frames: Vec<Frame>,
    /// A byte that was read but not consumed.
    held: Option<u8>,
    standard: Input,
    output: Output,
    quit: bool,
    code: i32,
}

/// A comparison of the top of the stack with the element below.
#[derive(Clone, Copy)]
struct Comparison {
    operator: u8,
    negated: bool,
}

impl Machine {
    pub(super) fn new() -> Self {
        Self {
            stack: Vec::new(),
            registers: vec![Vec::new(); 256],
            input_base: 10,
            output_base: 10,
            scale: 0,
            frames: Vec::new(),
            held: None,
            standard: Input::standard(),
            output: Output::of("dc", "DC_LINE_LENGTH"),
            quit: false,
            code: 0,
        }
    }

    pub(super) fn has_quit(&self) -> bool {
        self.quit
    }

    /// Flushes the output and returns the exit code.
    pub(super) fn finish(&mut self) -> i32 {
        self.output.flush();
        self.code
    }

    /// Prints the help text.
    pub(super) fn print_text(&mut self, text: &str) {
        self.output.raw(text.as_bytes());
    }

    /// Reports an error after pending output.
    pub(super) fn report(&mut self, message: &str) {
        self.output.flush();
        tidebox_gnu::message::print_error("dc", message);
    }

    fn command(&mut self, command: u8) {
        match command {
            b' ' | b'\t' | b'\n' | b'\r' | b'\x0b' | b'\x0c' | 0 => {}
            b'0'..=b'9' | b'A'..=b'F' | b'.' | b'_' => self.read_number(command),
            b'[' => self.read_string(),
            b'#' => while self.next().is_some_and(|byte| byte != b'\n') {},
            b'+' | b'-' | b'*' | b'/' | b'%' | b'~' | b'^' => self.binary(command),
            b'|' => self.modular_power(),
            b'v' => self.square_root(),
            b'<' | b'>' | b'=' => self.compare(Comparison { operator: command, negated: false }),
            b'!' => self.exclamation(),
            b's' | b'l' | b'S' | b'L' | b':' | b';' => self.register(command),
            b'p' | b'n' | b'P' | b'f' => self.print(command),
            b'i' | b'o' | b'k' => self.set_parameter(command),
            b'I' => self.stack.push(i64::from(self.input_base).into()),
            b'O' => self.stack.push(i64::from(self.output_base).into()),
            b'K' => self.stack.push(Value::from(i64::try_from(self.scale).unwrap_or(i64::MAX))),
            b'z' => self.stack.push(Value::from(i64::try_from(self.stack.len()).unwrap_or(i64::MAX))),
            b'c' => self.stack.clear(),
            b'd' | b'r' | b'R' | b'a' | b'Z' | b'X' => self.top(command),
            b'x' => {
                if let Some(value) = self.pop() {
                    self.execute(value);
                }
            }
            b'?' => {
                self.output.flush();
                let mut line = Vec::new();
                // No input means no commands.
                if self.standard.line(b'\n', &mut line).unwrap_or(false) {
                    self.execute(Value::String(line.into()));
                }
            }
            b'q' => {
                let macros: usize = self.frames.iter().skip(1).map(|frame| frame.replaced + 1).sum();
                if macros > 1 {
                    return self.unwind(2);
                }
                self.quit = true;
                self.code = i32::from(!self.runs_expression());
            }
            b'Q' => {
                let Some(levels) = self.pop() else { return };
                match levels.number().and_then(Number::to_i64).and_then(|levels| usize::try_from(levels).ok()) {
                    Some(levels @ 1..) => self.unwind(levels),
                    _ => self.report("Q command requires a number >= 1"),
                }
            }
            other => self.unimplemented(other),
        }
    }

    /// The program name goes to standard error, and the rest to standard output.
    fn unimplemented(&mut self, byte: u8) {
        self.output.flush();
        tidebox_gnu::eprint_part!("dc: ");
        let shown =
            if byte.is_ascii_graphic() { format!("'{}' (0{byte:o})", char::from(byte)) } else { format!("0{byte:o}") };
        self.output.raw(format!("{shown} unimplemented\n").as_bytes());
    }

    fn pop(&mut self) -> Option<Value> {
        let value = self.stack.pop();
        if value.is_none() {
            self.report("stack empty");
        }
        value
    }

    fn read_number(&mut self, first: u8) {
        let negative = first == b'_';
        let mut text = Vec::new();
        let mut point = false;
        let mut next = if negative { self.next() } else { Some(first) };
        while let Some(byte) = next {
            match byte {
                b'0'..=b'9' | b'A'..=b'F' => text.push(byte),
                b'.' if !point => {
                    point = true;
                    text.push(byte);
                }
                other => {
                    self.held = Some(other);
                    break;
                }
            }
            next = self.next();
        }
        let number = Number::of_digits(&text, self.input_base);
        self.stack.push(Value::Number(if negative { number.negated() } else { number }));
    }

    fn read_string(&mut self) {
        let (mut text, mut depth) = (Vec::new(), 1_usize);
        while let Some(byte) = self.next() {
            match byte {
                b'[' => depth += 1,
                b']' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                break;
            }
            text.push(byte);
        }
        self.stack.push(Value::String(text.into()));
    }

    /// The top of the stack and the element below, if both are numbers.
    fn two_numbers(&mut self) -> Option<(Number, Number)> {
        let below = self.stack.len().checked_sub(2).and_then(|at| Some((self.stack.get(at)?, self.stack.last()?)));
        let Some((left, right)) = below else {
            self.report("stack empty");
            return None;
        };
        let (Some(left), Some(right)) = (left.number(), right.number()) else {
            self.report("non-numeric value");
            return None;
        };
        Some((left.clone(), right.clone()))
    }

    fn binary(&mut self, operator: u8) {
        let Some((left, right)) = self.two_numbers() else { return };
        let result = binary(operator, &left, &right, self.scale, &mut |text| self.output.warn(text));
        self.replace(2, result);
    }

    fn modular_power(&mut self) {
        let Some(values) = self.stack.len().checked_sub(3).and_then(|at| self.stack.get(at..)) else {
            return self.report("stack empty");
        };
        let numbers: Vec<Number> = values.iter().filter_map(Value::number).cloned().collect();
        let [base, exponent, modulus] = numbers.as_slice() else {
            return self.report("non-numeric value");
        };
        let result = modular_power(base, exponent, modulus, self.scale, &mut |text| self.output.warn(text));
        self.replace(3, result);
    }

    /// Replaces the operands by the results. Without results, the operands stay.
    fn replace(&mut self, operands: usize, result: super::arithmetic::Outcome) {
        match result {
            Ok(results) => {
                self.stack.truncate(self.stack.len().saturating_sub(operands));
                self.stack.extend(results.into_iter().map(Value::Number));
            }
            Err("") => {}
            Err(message) => self.report(message),
        }
    }

    fn square_root(&mut self) {
        let Some(value) = self.pop() else { return };
        match value.number().map(|number| number.square_root(self.scale)) {
            Some(Some(root)) => self.stack.push(Value::Number(root)),
            Some(None) => self.report("square root of negative number"),
            None => self.report("square root of nonnumeric attempted"),
        }
    }

    fn compare(&mut self, comparison: Comparison) {
        let Some(register) = self.next() else {
            return self.unexpected_end();
        };
        let Some((below, top)) = self.two_numbers() else { return };
        self.stack.truncate(self.stack.len().saturating_sub(2));
        let order = top.compare(&below);
        let holds = match comparison.operator {
            b'<' => order.is_lt(),
            b'>' => order.is_gt(),
            _ => order.is_eq(),
        };
        if holds != comparison.negated {
            let value = self.registers.get(usize::from(register)).and_then(|levels| levels.last()?.value.clone());
            self.execute(value.unwrap_or(Value::from(0)));
        }
    }

    fn exclamation(&mut self) {
        match self.next() {
            Some(operator @ (b'<' | b'>' | b'=')) => self.compare(Comparison { operator, negated: true }),
            first => {
                let mut line: Vec<u8> = Vec::new();
                let mut next = first;
                while let Some(byte) = next.filter(|byte| *byte != b'\n') {
                    line.push(byte);
                    next = self.next();
                }
                self.output.flush();
                let words: [&[u8]; 3] = [b"/bin/sh", b"-c", &line];
                if let Err(errno) = Command::new(&words).run() {
                    self.report(&format!("cannot run /bin/sh: {}", errno.text()));
                }
            }
        }
    }

    fn set_parameter(&mut self, command: u8) {
        let Some(value) = self.pop() else { return };
        let whole = value.number().map(|number| number.with_scale(0).into_digits());
        if whole.as_ref().is_some_and(|whole| whole.to_i64().is_none()) {
            self.report("value overflows simple integer; punting...");
        }
        let number = whole.and_then(|whole| whole.to_i64());
        match (command, number) {
            (b'i', Some(base @ 2..=16)) => self.input_base = base as u32,
            (b'i', _) => self.report("input base must be a number between 2 and 16 (inclusive)"),
            (b'o', Some(base @ 2..=0x7fff_ffff)) => self.output_base = base as u32,
            (b'o', _) => self.report("output base must be a number greater than 1"),
            (_, Some(scale @ 0..=0x7fff_ffff)) => self.scale = scale as usize,
            _ => self.report("scale must be a nonnegative number"),
        }
    }
}
