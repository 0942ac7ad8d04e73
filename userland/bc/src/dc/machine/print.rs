//! Print commands.

use num_traits::Signed as _;

use super::super::value::Value;
use super::Machine;

impl Machine {
    pub(super) fn print(&mut self, command: u8) {
        match command {
            b'f' => {
                for at in (0..self.stack.len()).rev() {
                    self.print_at(at, true);
                }
            }
            b'p' => match self.stack.len().checked_sub(1) {
                Some(at) => self.print_at(at, true),
                None => self.report("stack empty"),
            },
            _ => {
                let Some(value) = self.pop() else { return };
                match value {
                    Value::Number(number) if command == b'P' => {
                        let (_, bytes) = number.with_scale(0).into_digits().abs().to_bytes_be();
                        self.output.raw(&bytes);
                    }
                    Value::Number(number) => self.output.wrapped(&number.written(self.output_base)),
                    Value::String(text) => self.output.raw(&text),
                }
            }
        }
    }

    fn print_at(&mut self, at: usize, line: bool) {
        match self.stack.get(at) {
            Some(Value::Number(number)) => self.output.wrapped(&number.written(self.output_base)),
            Some(Value::String(text)) => self.output.raw(text),
            None => {}
        }
        if line {
            self.output.end_line();
        }
    }
}
