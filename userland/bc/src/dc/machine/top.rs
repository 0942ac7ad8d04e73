//! The top of the stack.

use std::rc::Rc;

use num_traits::{Signed as _, ToPrimitive as _};

use super::Machine;
use crate::dc::value::Value;
use crate::number::Number;

impl Machine {
    /// Commands that inspect or rearrange the top of the stack.
    pub(super) fn top(&mut self, command: u8) {
        let Some(value) = self.pop() else { return };
        match command {
            b'd' => self.stack.extend([value.clone(), value]),
            b'r' => match self.stack.pop() {
                Some(below) => self.stack.extend([value, below]),
                None => {
                    self.stack.push(value);
                    self.report("stack empty");
                }
            },
            b'R' => self.rotate(&value),
            b'a' => {
                let text: Rc<[u8]> = match &value {
                    Value::Number(number) => {
                        let digits = number.with_scale(0).into_digits();
                        let low = (digits.abs() % 256_u32).to_u8().unwrap_or(0);
                        vec![low].into()
                    }
                    Value::String(text) => Rc::from([text.first().copied().unwrap_or(0)]),
                };
                self.stack.push(Value::String(text));
            }
            b'Z' => {
                let length = match &value {
                    Value::Number(number) => number.significant_digits(),
                    Value::String(text) => text.len(),
                };
                self.stack.push(Value::from(i64::try_from(length).unwrap_or(i64::MAX)));
            }
            _ => {
                let scale = value.number().map_or(0, Number::scale);
                self.stack.push(Value::from(i64::try_from(scale).unwrap_or(i64::MAX)));
            }
        }
    }

    fn rotate(&mut self, count: &Value) {
        let count = count.number().and_then(Number::to_i64).unwrap_or(0);
        let length = usize::try_from(count.unsigned_abs()).unwrap_or(usize::MAX).min(self.stack.len());
        let from = self.stack.len() - length;
        if let Some(turned) = self.stack.get_mut(from..).filter(|turned| turned.len() > 1) {
            if count > 0 { turned.rotate_left(1) } else { turned.rotate_right(1) }
        }
    }
}
