//! The five operators.

use std::rc::Rc;

use super::{Map, Result, Val, fault};

fn refuse(left: &Val, right: &Val, what: &str) -> Result {
    Err(fault(format!("{} and {} cannot be {what}", left.described(), right.described())))
}

/// Converts a double to an integer like jq on its usual processors: truncated and saturated.
#[expect(clippy::cast_possible_truncation, reason = "saturates, which is what is wanted")]
fn whole(number: f64) -> i64 {
    number as i64
}

impl std::ops::Add for Val {
    type Output = Result;

    fn add(self, other: Self) -> Result {
        match (self, other) {
            (Self::Null, value) | (value, Self::Null) => Ok(value),
            (Self::Number(left), Self::Number(right)) => Ok(Self::number(left.value() + right.value())),
            (Self::String(left), Self::String(right)) => {
                let mut text = String::with_capacity(left.len() + right.len());
                text.push_str(&left);
                text.push_str(&right);
                Ok(Self::from(text))
            }
            (Self::Array(mut left), Self::Array(right)) => {
                Rc::make_mut(&mut left).0.extend(right.0.iter().cloned());
                Ok(Self::Array(left))
            }
            (Self::Object(mut left), Self::Object(right)) => {
                let map = &mut Rc::make_mut(&mut left).0;
                map.extend(right.0.iter().map(|(key, value)| (Rc::clone(key), value.clone())));
                Ok(Self::Object(left))
            }
            (left, right) => refuse(&left, &right, "added"),
        }
    }
}

impl std::ops::Sub for Val {
    type Output = Result;

    fn sub(self, other: Self) -> Result {
        match (self, other) {
            (Self::Number(left), Self::Number(right)) => Ok(Self::number(left.value() - right.value())),
            (Self::Array(left), Self::Array(right)) => {
                let left = Self::Array(left).into_items();
                Ok(Self::array(left.into_iter().filter(|item| !right.0.contains(item)).collect()))
            }
            (left, right) => refuse(&left, &right, "subtracted"),
        }
    }
}

/// Maximum bytes of a repeated string, so that a small program cannot use all memory.
const MAX_REPEATED: f64 = 536_870_911.0;

impl std::ops::Mul for Val {
    type Output = Result;

    fn mul(self, other: Self) -> Result {
        match (self, other) {
            (Self::Number(left), Self::Number(right)) => Ok(Self::number(left.value() * right.value())),
            (Self::String(text), Self::Number(times)) | (Self::Number(times), Self::String(text)) => {
                repeat(&text, times.value())
            }
            (Self::Object(left), Self::Object(right)) => merge(left, &right),
            (left, right) => refuse(&left, &right, "multiplied"),
        }
    }
}

fn repeat(text: &Rc<str>, times: f64) -> Result {
    // NaN also repeats zero times.
    if times.is_nan() || times <= 0.0 {
        return Ok(Val::Null);
    }
    if times < 1.0 || text.is_empty() {
        return Ok(Val::String(Rc::clone(text)));
    }
    if Val::count(text.len()).as_f64().unwrap_or(0.0) * times > MAX_REPEATED {
        return Err(fault("Repeat string result too long"));
    }
    Ok(Val::from(text.repeat(usize::try_from(whole(times)).unwrap_or(0))))
}

/// Merges the second object into the first, recursively where both values are objects.
fn merge(mut left: Rc<super::Object>, right: &Rc<super::Object>) -> Result {
    let map: &mut Map = &mut Rc::make_mut(&mut left).0;
    for (key, value) in &right.0 {
        match (map.get_mut(key), value) {
            (Some(slot @ Val::Object(_)), Val::Object(inner)) => {
                if let Val::Object(outer) = std::mem::replace(slot, Val::Null) {
                    *slot = merge(outer, inner)?;
                }
            }
            _ => {
                map.insert(Rc::clone(key), value.clone());
            }
        }
    }
    Ok(Val::Object(left))
}

impl std::ops::Div for Val {
    type Output = Result;

    fn div(self, other: Self) -> Result {
        match (self, other) {
            (left @ Self::Number(_), right @ Self::Number(_)) if right.as_f64() == Some(0.0) => {
                refuse(&left, &right, "divided because the divisor is zero")
            }
            (Self::Number(left), Self::Number(right)) => Ok(Self::number(left.value() / right.value())),
            (Self::String(text), Self::String(separator)) => Ok(split(&text, &separator)),
            (left, right) => refuse(&left, &right, "divided"),
        }
    }
}

/// Splits a string by a separator; an empty separator splits into characters.
pub(crate) fn split(text: &str, separator: &str) -> Val {
    if text.is_empty() {
        return Val::array(Vec::new());
    }
    Val::array(if separator.is_empty() {
        text.chars().map(|char| Val::from(char.to_string())).collect()
    } else {
        text.split(separator).map(Val::text).collect()
    })
}

impl std::ops::Rem for Val {
    type Output = Result;

    fn rem(self, other: Self) -> Result {
        let (Some(left), Some(right)) = (self.as_f64(), other.as_f64()) else {
            return refuse(&self, &other, "divided (remainder)");
        };
        if left.is_nan() || right.is_nan() {
            return Ok(Self::number(f64::NAN));
        }
        let divisor = whole(right).unsigned_abs();
        if divisor == 0 {
            return refuse(&self, &other, "divided (remainder) because the divisor is zero");
        }
        let dividend = whole(left);
        #[expect(clippy::cast_precision_loss, reason = "that is how numbers are here")]
        let rest = (dividend.unsigned_abs() % divisor) as f64;
        Ok(Self::number(if dividend < 0 { -rest } else { rest }))
    }
}

impl std::ops::Neg for Val {
    type Output = Result;

    fn neg(self) -> Result {
        match self.as_f64() {
            Some(number) => Ok(Self::number(-number)),
            None => Err(fault(format!("{} cannot be negated", self.described()))),
        }
    }
}
