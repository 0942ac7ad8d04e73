//! Arithmetic and numeric functions.

use super::{Machine, Outcome, fatal};
use crate::builtin::Builtin;
use crate::code::Arithmetic;
use crate::number;
use crate::value::Value;

/// Folds an operation on constants.
pub(crate) fn calculate(operation: Arithmetic, left: f64, right: f64) -> f64 {
    match operation {
        Arithmetic::Add => left + right,
        Arithmetic::Subtract => left - right,
        Arithmetic::Multiply => left * right,
        Arithmetic::Divide => left / right,
        Arithmetic::Modulo => left % right,
        Arithmetic::Power => power(left, right),
    }
}

/// Integer powers by repeated multiplication, with the precision of that.
fn power(base: f64, exponent: f64) -> f64 {
    let whole = exponent as i64;
    if whole as f64 != exponent || whole.unsigned_abs() > 1 << 30 {
        return base.powf(exponent);
    }
    let (mut result, mut square, mut rest) = (1.0, base, whole.unsigned_abs());
    while rest > 0 {
        if rest & 1 == 1 {
            result *= square;
        }
        square *= square;
        rest >>= 1;
    }
    if whole < 0 { 1.0 / result } else { result }
}

#[inline]
pub(super) fn checked(operation: Arithmetic, left: f64, right: f64) -> Outcome<f64> {
    if right == 0.0 {
        match operation {
            Arithmetic::Divide => return fatal("division by zero attempted"),
            Arithmetic::Modulo => return fatal("division by zero attempted in `%'"),
            _ => {}
        }
    }
    Ok(calculate(operation, left, right))
}

impl Machine {
    #[inline]
    pub(super) fn arithmetic(&mut self, operation: Arithmetic) -> Outcome<()> {
        if let [.., Value::Number(left), Value::Number(right)] = self.stack.as_mut_slice() {
            *left = checked(operation, *left, *right)?;
            self.stack.truncate(self.stack.len() - 1);
            return Ok(());
        }
        let right = self.pop_number();
        let left = self.pop_number();
        let result = checked(operation, left, right)?;
        self.push(Value::Number(result));
        Ok(())
    }

    pub(super) fn number_function(&mut self, builtin: Builtin, count: usize) -> Outcome<()> {
        let result = match builtin {
            Builtin::Rand => self.random.fraction(),
            Builtin::Srand => self.srand(count),
            Builtin::Atan2 => {
                let x = self.pop_number();
                self.pop_number().atan2(x)
            }
            Builtin::Int => self.pop_number().trunc(),
            Builtin::Sin => self.pop_number().sin(),
            Builtin::Cos => self.pop_number().cos(),
            Builtin::Exp => {
                let value = self.pop_number();
                let result = value.exp();
                if result.is_infinite() && value.is_finite() {
                    self.warn(&format!("exp: argument {} is out of range", text_of(value)));
                }
                result
            }
            Builtin::Log => {
                let value = self.pop_number();
                if value < 0.0 {
                    self.warn(&format!("log: received negative argument {}", text_of(value)));
                    -f64::NAN
                } else {
                    value.ln()
                }
            }
            Builtin::Sqrt => {
                let value = self.pop_number();
                if value < 0.0 {
                    self.warn(&format!("sqrt: received negative argument {}", text_of(value)));
                    -f64::NAN
                } else {
                    value.sqrt()
                }
            }
            Builtin::Strtonum => match self.pop() {
                Value::Number(number) => number,
                Value::Input(text) if number::looks_numeric(text.bytes()).is_some() => number::value_of(text.bytes()),
                value => number::with_base(self.text_of(&value).bytes()),
            },
            Builtin::Mkbool => f64::from(u8::from(self.pop().is_true())),
            _ => self.bits(builtin, count)?,
        };
        self.push(Value::Number(result));
        Ok(())
    }

    fn srand(&mut self, count: usize) -> f64 {
        let seed = match count {
            0 => (tidebox_rt::realtime_ns() / 1_000_000_000) as f64,
            _ => self.pop_number(),
        };
        let before = std::mem::replace(&mut self.random.seed, seed);
        self.random.start(seed as i64 as u32);
        before
    }

    fn bits(&mut self, builtin: Builtin, count: usize) -> Outcome<f64> {
        let name = builtin.name();
        let from = self.stack.len().saturating_sub(count);
        let numbers: Vec<f64> = self.stack.drain(from..).map(|value| value.number()).collect();
        if matches!(builtin, Builtin::Lshift | Builtin::Rshift)
            && let [value, shift] = numbers.as_slice()
            && (*value < 0.0 || *shift < 0.0)
        {
            return fatal(format!("{name}({value:.6}, {shift:.6}): negative values are not allowed"));
        }
        if let (Builtin::Compl, [value]) = (builtin, numbers.as_slice())
            && *value < 0.0
        {
            return fatal(format!("compl({value:.6}): negative value is not allowed"));
        }
        for (at, number) in numbers.iter().enumerate() {
            if *number < 0.0 {
                let (at, number) = (at + 1, text_of(*number));
                return fatal(format!("{name}: argument {at} negative value {number} is not allowed"));
            }
        }
        let mut whole = numbers.iter().map(|number| *number as u64);
        let first = whole.next().unwrap_or(0);
        let result = match builtin {
            Builtin::And => whole.fold(first, |all, one| all & one),
            Builtin::Or => whole.fold(first, |all, one| all | one),
            Builtin::Xor => whole.fold(first, |all, one| all ^ one),
            Builtin::Compl => !first,
            Builtin::Lshift => first.checked_shl(whole.next().unwrap_or(0) as u32).unwrap_or(0),
            _ => first.checked_shr(whole.next().unwrap_or(0) as u32).unwrap_or(0),
        };
        Ok(exact(result))
    }
}

/// Reduces an integer to the precision of a double: excess high bits are lost.
fn exact(value: u64) -> f64 {
    const BITS: u32 = 53;
    let lowest = value.trailing_zeros().min(63);
    let kept = if 64 - lowest > BITS && value.leading_zeros() + lowest < 64 - BITS {
        value & (((1u64 << BITS) - 1) << lowest)
    } else {
        value
    };
    kept as f64
}

fn text_of(number: f64) -> String {
    let mut out = Vec::new();
    number::write_general(number, 6, false, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}
