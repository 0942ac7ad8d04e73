//! The operators.

use crate::ir::{BinaryOp, UnaryOp};

pub(super) fn binary(op: BinaryOp, left: i64, right: i64) -> Result<i64, &'static str> {
    Ok(match op {
        BinaryOp::Power if right < 0 => return Err("exponent less than 0"),
        BinaryOp::Power => power(left, right),
        BinaryOp::Multiply => left.wrapping_mul(right),
        BinaryOp::Divide | BinaryOp::Modulo if right == 0 => return Err("division by 0"),
        BinaryOp::Divide => left.wrapping_div(right),
        BinaryOp::Modulo => left.wrapping_rem(right),
        BinaryOp::Add => left.wrapping_add(right),
        BinaryOp::Subtract => left.wrapping_sub(right),
        // The hardware's rule, which bash inherits: only the low six bits of the distance count.
        BinaryOp::ShiftLeft => left.wrapping_shl((right & 63) as u32),
        BinaryOp::ShiftRight => left.wrapping_shr((right & 63) as u32),
        BinaryOp::Less => i64::from(left < right),
        BinaryOp::LessEqual => i64::from(left <= right),
        BinaryOp::Greater => i64::from(left > right),
        BinaryOp::GreaterEqual => i64::from(left >= right),
        BinaryOp::Equal => i64::from(left == right),
        BinaryOp::NotEqual => i64::from(left != right),
        BinaryOp::BitAnd => left & right,
        BinaryOp::BitXor => left ^ right,
        BinaryOp::BitOr => left | right,
        BinaryOp::Comma => right,
    })
}

pub(super) fn unary(op: UnaryOp, value: i64) -> i64 {
    match op {
        UnaryOp::Plus => value,
        UnaryOp::Minus => value.wrapping_neg(),
        UnaryOp::Not => i64::from(value == 0),
        UnaryOp::Complement => !value,
    }
}

/// `exponent` is not negative.
fn power(base: i64, exponent: i64) -> i64 {
    let (mut result, mut base, mut exponent) = (1_i64, base, exponent);
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = result.wrapping_mul(base);
        }
        base = base.wrapping_mul(base);
        exponent >>= 1;
    }
    result
}
