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
    math!("rint", f64::round_ties_even),
    math!("nearbyint", f64::round_ties_even),
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
    math!("pow10", libm::exp10),
    math!("expm1", libm::expm1),
    math!("log", libm::log),
    math!("log2", libm::log2),
    math!("log10", libm::log10),
    math!("log1p", libm::log1p),
    math!("logb", logb),
    math!("significand", significand),
    math!("gamma", libm::lgamma),
    math!("lgamma", libm::lgamma),
    math!("tgamma", libm::tgamma),
    math!("j0", libm::j0),
    math!("j1", libm::j1),
    math!("y0", libm::y0),
    math!("y1", libm::y1),
    math2!("pow", libm::pow),
    math2!("atan2", libm::atan2),
    math2!("fmin", libm::fmin),
    math2!("fmax", libm::fmax),
    math2!("fmod", libm::fmod),
    math2!("hypot", libm::hypot),
    math2!("copysign", libm::copysign),
    math2!("nextafter", libm::nextafter),
    math2!("nexttoward", libm::nextafter),
    math2!("drem", libm::remainder),
    math2!("ldexp", scale),
    math2!("scalb", scale),
    math2!("scalbln", scale),
    ("fma", 3, |mut cv| {
        let (c, b, a) = (cv.0.pop_var(), cv.0.pop_var(), cv.0.pop_var());
        super::answer(number(&a).and_then(|a| Ok(Val::number(libm::fma(a, number(&b)?, number(&c)?)))))
    }),
    plain!("lgamma_r", |value| number(&value).map(|x| {
        let (value, sign) = libm::lgamma_r(x);
        Val::array(vec![Val::number(value), Val::number(f64::from(sign))])
    })),
    plain!("frexp", |value| number(&value).map(|x| {
        let (mantissa, exponent) = libm::frexp(x);
        Val::array(vec![Val::number(mantissa), Val::number(f64::from(exponent))])
    })),
    plain!("modf", |value| number(&value).map(|x| {
        let (fraction, whole) = libm::modf(x);
        let fraction = if x.is_infinite() { 0.0_f64.copysign(x) } else { fraction };
        Val::array(vec![Val::number(fraction), Val::number(whole)])
    })),
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

fn logb(x: f64) -> f64 {
    if x == 0.0 {
        f64::NEG_INFINITY
    } else if x.is_infinite() {
        f64::INFINITY
    } else if x.is_nan() {
        x
    } else {
        f64::from(libm::ilogb(x))
    }
}

fn significand(x: f64) -> f64 {
    if x == 0.0 || !x.is_finite() { x } else { libm::scalbn(x, -libm::ilogb(x)) }
}

#[expect(clippy::cast_possible_truncation, reason = "saturates, which is what is wanted")]
fn scale(x: f64, by: f64) -> f64 {
    libm::scalbn(x, by as i32)
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
