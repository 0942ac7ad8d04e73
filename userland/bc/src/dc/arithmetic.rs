//! Operators of two and three numbers.

use num_bigint::BigInt;
use num_traits::{One as _, Signed as _, Zero as _};

use crate::number::Number;

/// The result of an operator, or its error. An empty message fails silently, like the original.
pub(super) type Outcome = Result<Vec<Number>, &'static str>;

/// A message that is not an error.
pub(super) type Warn<'a> = &'a mut dyn FnMut(&str);

pub(super) fn binary(operator: u8, left: &Number, right: &Number, scale: usize, warn: Warn<'_>) -> Outcome {
    Ok(vec![match operator {
        b'+' => left.add(right),
        b'-' => left.subtract(right),
        b'*' => left.multiply(right, scale),
        b'/' => left.divide(right, scale).ok_or("divide by zero")?,
        b'%' => left.remainder(right, scale).ok_or("remainder by zero")?,
        b'~' => {
            let quotient = left.divide(right, scale).ok_or("divide by zero")?;
            let rest = left.remainder(right, scale).ok_or("divide by zero")?;
            return Ok(vec![quotient, rest]);
        }
        _ => power(left, right, scale, warn)?,
    }])
}

fn power(base: &Number, exponent: &Number, scale: usize, warn: Warn<'_>) -> Result<Number, &'static str> {
    if exponent.scale() > 0 {
        warn("Runtime warning: non-zero scale in exponent");
    }
    let whole = exponent.to_i64().filter(|power| power.unsigned_abs() <= i32::MAX as u64);
    let Some(whole) = whole else {
        warn("Runtime error: exponent too large in raise");
        return Ok(Number::from(1));
    };
    // Zero to a negative power would divide by zero; the result is 0.
    Ok(base.power(whole, scale).unwrap_or_default())
}

pub(super) fn modular_power(
    base: &Number,
    exponent: &Number,
    modulus: &Number,
    scale: usize,
    warn: Warn<'_>,
) -> Outcome {
    if modulus.is_zero() {
        return Err("remainder by zero");
    }
    if exponent.is_negative() {
        return Err("");
    }
    for (number, name) in [(base, "base"), (exponent, "exponent"), (modulus, "modulus")] {
        if number.scale() > 0 {
            warn(&format!("Runtime warning: non-zero scale in {name}"));
        }
    }
    let whole = |number: &Number| number.with_scale(0).into_digits();
    if base.scale() > 0 || modulus.scale() > 0 {
        return fractional_modular_power(base, &whole(exponent), modulus, scale);
    }
    let modulus = whole(modulus).abs();
    let exponent = whole(exponent);
    let odd = &exponent % 2u32 == BigInt::one();
    let base = whole(base);
    let magnitude = base.abs().modpow(&exponent, &modulus);
    let signed = if base.is_negative() && odd { -magnitude } else { magnitude };
    Ok(vec![Number::new(signed, 0)])
}

/// Square-and-multiply for numbers with fractions.
fn fractional_modular_power(base: &Number, exponent: &BigInt, modulus: &Number, scale: usize) -> Outcome {
    let zero = "remainder by zero";
    let (mut exponent, mut result) = (exponent.clone(), Number::from(1));
    let mut base = base.remainder(modulus, 0).ok_or(zero)?;
    while !exponent.is_zero() {
        if &exponent % 2u32 == BigInt::one() {
            result = result.multiply(&base, scale).remainder(modulus, 0).ok_or(zero)?;
        }
        base = base.multiply(&base, scale).remainder(modulus, 0).ok_or(zero)?;
        exponent >>= 1;
    }
    Ok(vec![result])
}
