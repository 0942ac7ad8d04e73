//! The functions of `-l`: sine, cosine, arctangent, logarithm, exponential and Bessel. Each is computed with extra digits, which
//! are truncated at the end.

use num_bigint::BigInt;
use num_traits::{One, Signed, ToPrimitive, Zero};

use crate::number::Number;

/// Extra digits of precision.
const MORE: usize = 12;

/// Maximum digits of a result before the point.
const MAX_WHOLE_DIGITS: f64 = 1_000_000.0;

/// A number with a fixed number of decimals.
struct Fixed {
    unit: BigInt,
    digits: usize,
}

impl Fixed {
    fn new(digits: usize) -> Self {
        Self { unit: BigInt::from(10).pow(digits as u32), digits }
    }

    fn of(&self, number: &Number) -> BigInt {
        number.with_scale(self.digits).into_digits()
    }

    fn multiply(&self, left: &BigInt, right: &BigInt) -> BigInt {
        left * right / &self.unit
    }

    fn divide(&self, left: &BigInt, right: &BigInt) -> BigInt {
        left * &self.unit / right
    }

    fn number(&self, value: BigInt, scale: usize) -> Number {
        Number::new(value, self.digits).with_scale(scale)
    }

    /// e to a power.
    fn exponential(&self, x: &BigInt) -> BigInt {
        // Halve until the series is short, and square the result.
        let mut halvings = 0;
        let mut small = x.clone();
        while small.abs() * 8 > self.unit {
            small /= 2;
            halvings += 1;
        }
        let mut sum = self.unit.clone();
        let mut term = self.unit.clone();
        let mut n = 1;
        loop {
            term = self.multiply(&term, &small) / n;
            if term.is_zero() {
                break;
            }
            sum += &term;
            n += 1;
        }
        for _ in 0..halvings {
            sum = self.multiply(&sum, &sum);
        }
        sum
    }

    /// The natural logarithm of a positive number.
    fn logarithm(&self, x: &BigInt) -> BigInt {
        // Roots bring it close to one, where the series of the inverse hyperbolic tangent is short.
        let mut value = x.clone();
        let mut factor = BigInt::from(2);
        let near = &self.unit / 10;
        while (&value - &self.unit).abs() > near {
            value = (&value * &self.unit).sqrt();
            factor *= 2;
        }
        let ratio = self.divide(&(&value - &self.unit), &(&value + &self.unit));
        let square = self.multiply(&ratio, &ratio);
        let (mut sum, mut power, mut n) = (ratio.clone(), ratio, 3);
        loop {
            power = self.multiply(&power, &square);
            let term: BigInt = &power / n;
            if term.is_zero() {
                break;
            }
            sum += term;
            n += 2;
        }
        sum * factor
    }

    fn arctangent(&self, x: &BigInt) -> BigInt {
        // Halve until the series is short: atan x = 2 atan (x / (1 + sqrt (1 + x*x))).
        let mut value = x.clone();
        let mut factor = BigInt::one();
        while value.abs() * 10 > self.unit {
            let square = self.multiply(&value, &value) + &self.unit;
            let root = (square * &self.unit).sqrt();
            value = self.divide(&value, &(root + &self.unit));
            factor *= 2;
        }
        let square = self.multiply(&value, &value);
        let (mut sum, mut power, mut n, mut minus) = (value.clone(), value, 3, true);
        loop {
            power = self.multiply(&power, &square);
            let term: BigInt = &power / n;
            if term.is_zero() {
                break;
            }
            if minus {
                sum -= term
            } else {
                sum += term
            }
            minus = !minus;
            n += 2;
        }
        sum * factor
    }

    fn pi(&self) -> BigInt {
        self.arctangent(&self.unit) * 4
    }

    fn sine(&self, x: &BigInt) -> BigInt {
        let pi = self.pi();
        let turn = &pi * 2;
        let mut value = x % &turn;
        if value > pi {
            value -= &turn;
        } else if value < -&pi {
            value += &turn;
        }
        let square = self.multiply(&value, &value);
        let (mut sum, mut term, mut n) = (value.clone(), value, 1u32);
        loop {
            term = -self.multiply(&term, &square) / BigInt::from((n + 1) * (n + 2));
            if term.is_zero() {
                break;
            }
            sum += &term;
            n += 2;
        }
        sum
    }

    fn bessel(&self, order: u32, x: &BigInt) -> BigInt {
        let half = x / 2;
        let square = self.multiply(&half, &half);
        let mut term = self.unit.clone();
        for n in 1..=order {
            term = self.multiply(&term, &half) / n;
        }
        let (mut sum, mut n) = (term.clone(), 1u32);
        loop {
            term = -self.multiply(&term, &square) / (BigInt::from(n) * BigInt::from(n + order));
            if term.is_zero() && BigInt::from(n) * BigInt::from(n) * &self.unit > square {
                break;
            }
            sum += &term;
            n += 1;
        }
        sum
    }
}

/// Evaluates one function. The error is a message.
pub(crate) fn call(letter: char, x: &Number, n: &Number, scale: usize) -> Result<Number, String> {
    let whole = x.with_scale(0).length();
    let fixed = Fixed::new(scale + MORE + whole * 2 + 4);
    let value = fixed.of(x);
    let result = match letter {
        'e' => return exponential(x, scale),
        'l' if value.is_zero() || value.is_negative() => {
            // Result of the original library for an undefined logarithm.
            let one = BigInt::one() - BigInt::from(10).pow(scale as u32);
            return Ok(Number::new(one, 0).divide(&Number::from(1), scale).unwrap_or_default());
        }
        'l' => {
            let fixed = Fixed::new(scale + MORE + whole + x.scale() + 8);
            let value = fixed.of(x);
            let result = fixed.logarithm(&value);
            return Ok(fixed.number(result, scale));
        }
        's' if value.is_zero() => BigInt::zero(),
        's' => fixed.sine(&value),
        'c' => fixed.sine(&(value + fixed.pi() / 2)),
        'a' => fixed.arctangent(&value),
        _ => return bessel(x, n, scale),
    };
    Ok(fixed.number(result, scale))
}

fn exponential(x: &Number, scale: usize) -> Result<Number, String> {
    let size = x.to_i64().unwrap_or(if x.is_negative() { i64::MIN } else { i64::MAX }) as f64 / std::f64::consts::LN_10;
    if size > MAX_WHOLE_DIGITS {
        return Err("the exponential is too large".to_owned());
    }
    if -size > scale as f64 + 5.0 {
        return Ok(Number::new(BigInt::zero(), scale));
    }
    let fixed = Fixed::new(scale + MORE + size.abs() as usize + x.with_scale(0).length() + 8);
    let result = fixed.exponential(&fixed.of(x));
    Ok(fixed.number(result, scale))
}

fn bessel(x: &Number, n: &Number, scale: usize) -> Result<Number, String> {
    let order = n.to_i64().unwrap_or(i64::MAX);
    let size = x.with_scale(0).into_digits().abs().to_f64().unwrap_or(f64::MAX);
    if order.unsigned_abs() > 100_000 || size > 100_000.0 {
        return Err("the arguments of j are too large".to_owned());
    }
    // The terms grow to about e^x before they shrink.
    let fixed = Fixed::new(scale + MORE + (size * 0.9) as usize + 10);
    let result = fixed.bessel(order.unsigned_abs() as u32, &fixed.of(x));
    let negative = order < 0 && order % 2 != 0;
    Ok(fixed.number(if negative { -result } else { result }, scale))
}
