//! Arithmetic.

use super::{Entry, binary, plain};
use crate::value::{Result, Val, fault};

/// Functions of one number.
macro_rules! math {
    ($name:expr, $function:expr) => {
        plain!($name, |value| number(&value).map(|x| Val::number($function(x))))
    };
}
/// Functions of two numbers.
macro_rules! math2 {
    ($name:expr, $function:expr) => {
        binary!($name, |_: Val, a: Val, b: Val| -> Result { Ok(Val::number($function(number(&a)?, number(&b)?))) })
    };
}

pub(super) const FILTERS: &[Entry] = &[
    math!("floor", f64::floor),
    math!("ceil", f64::ceil),
    math!("round", f64::round),
    math!("trunc", f64::trunc),
    math!("sqrt", f64::sqrt),
    math!("cbrt", libm::cbrt),
    math!("fabs", f64::abs),
    math!("sin", libm::sin),
    math!("cos", libm::cos),
    math!("tan", libm::tan),
    math!("asin", libm::asin),
    math!("acos", libm::acos),
    math!("atan", libm::atan),
    math!("sinh", libm::sinh),
    math!("cosh", libm::cosh),
    math!("tanh", libm::tanh),
    math!("asinh", libm::asinh),
    math!("acosh", libm::acosh),
    math!("atanh", libm::atanh),
    math!("exp", libm::exp),
    math!("exp2", libm::exp2),
    math!("exp10", libm::exp10),
    math!("log", libm::log),
    math!("log2", libm::log2),
    math!("log10", libm::log10),
    math2!("pow", libm::pow),
    math2!("atan2", libm::atan2),
    math2!("fmin", libm::fmin),
    math2!("fmax", libm::fmax),
    math2!("fmod", libm::fmod),
    plain!("abs", abs),
    plain!("infinite", |_| Ok(Val::number(f64::INFINITY))),
    plain!("nan", |_| Ok(Val::number(f64::NAN))),
    plain!("isinfinite", |value| number(&value).map(|x| Val::Bool(x.is_infinite()))),
    plain!("isnan", |value| number(&value).map(|x| Val::Bool(x.is_nan()))),
    plain!("isnormal", |value| number(&value).map(|x| Val::Bool(x.is_normal()))),
    plain!("tonumber", to_number),
    ("range", 3, |mut cv| {
        let (by, upto, from) = (cv.0.pop_var(), cv.0.pop_var(), cv.0.pop_var());
        match (from.as_f64(), upto.as_f64(), by.as_f64()) {
            (Some(from), Some(upto), Some(by)) => Box::new(range(from, upto, by).map(|x| Ok(Val::number(x)))),
            _ => super::answer(Err(fault("Range bounds must be numeric"))),
        }
    }),
];

fn number(value: &Val) -> Result<f64> {
    value.as_f64().ok_or_else(|| fault(format!("{} number required", value.described())))
}

/// Numbers of a half-open range.
fn range(from: f64, upto: f64, by: f64) -> impl Iterator<Item = f64> {
    let mut next = from;
    std::iter::from_fn(move || {
        let goes_on = if by > 0.0 { next < upto } else { by < 0.0 && next > upto };
        let value = next;
        next += by;
        goes_on.then_some(value)
    })
}

fn abs(value: Val) -> Result {
    match &value {
        Val::Number(number) if number.value() < 0.0 => Ok(Val::number(-number.value())),
        Val::Number(_) => Ok(value),
        value => Err(fault(format!("{} has no absolute value", value.described()))),
    }
}

fn to_number(value: Val) -> Result {
    let bad = |value: &Val| fault(format!("{} cannot be parsed as a number", value.described()));
    match &value {
        Val::Number(_) => Ok(value),
        Val::String(text) => match crate::json::parse_one(text.as_bytes()) {
            Ok(Val::Number(number)) => Ok(Val::Number(number)),
            Ok(_) => Err(bad(&value)),
            Err(message) => Err(fault(format!("{message} (while parsing '{text}')"))),
        },
        value => Err(bad(value)),
    }
}
