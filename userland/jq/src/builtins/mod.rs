//! Builtin filters: some are defined in the jq language, the others in Rust.

mod collections;
mod control;
mod dates;
mod definitions;
mod formats;
mod numbers;
mod regex;
mod streams;
mod strings;

use jaq_core::native::bome;
use jaq_core::{Bind, Cv, ValXs};

use crate::run::Kind;
use crate::value::{Result, Val};

pub(crate) use definitions::{DEFINITIONS, definition};
pub(crate) use regex::Patterns;

/// A filter for jaq.
pub(crate) type Filter = jaq_core::native::Fun<Kind>;
/// The function that runs the filter in jaq.
type Run = jaq_core::RunPtr<Kind>;

/// Name, number of value arguments, implementation.
type Entry = (&'static str, usize, Run);

/// A filter without arguments.
macro_rules! plain {
    ($name:expr, $function:expr) => {
        ($name, 0, |cv| jaq_core::native::bome($function(cv.1)))
    };
}
/// A filter with one argument.
macro_rules! unary {
    ($name:expr, $function:expr) => {
        ($name, 1, |mut cv| {
            let argument = cv.0.pop_var();
            jaq_core::native::bome($function(cv.1, argument))
        })
    };
}
/// A filter with two arguments.
macro_rules! binary {
    ($name:expr, $function:expr) => {
        ($name, 2, |mut cv| {
            let second = cv.0.pop_var();
            let first = cv.0.pop_var();
            jaq_core::native::bome($function(cv.1, first, second))
        })
    };
}
pub(crate) use {binary, plain, unary};

fn tables() -> [&'static [Entry]; 8] {
    [
        collections::FILTERS,
        numbers::FILTERS,
        strings::FILTERS,
        formats::FILTERS,
        dates::FILTERS,
        regex::FILTERS,
        streams::FILTERS,
        control::FILTERS,
    ]
}

/// The native filters with the given names, for jaq.
pub(crate) fn filters(wanted: impl Fn(&str, usize) -> bool) -> Vec<Filter> {
    let values =
        tables().into_iter().flatten().filter(|(name, arity, _)| wanted(name, *arity)).map(|(name, arity, run)| {
            let arguments: Box<[Bind]> = vec![Bind::Var(()); *arity].into();
            (*name, arguments, jaq_core::Native::<Kind>::new(*run))
        });
    values.chain(control::with_filters()).collect()
}

/// Returns whether a native filter with this name and arity exists.
pub(crate) fn is_native(name: &str, arity: usize) -> bool {
    tables().into_iter().flatten().any(|(own, own_arity, _)| *own == name && *own_arity == arity)
        || control::with_filters().iter().any(|(own, arguments, _)| *own == name && arguments.len() == arity)
}

/// The names listed by `builtins`.
fn all_names() -> Vec<(&'static str, usize)> {
    let native = tables().into_iter().flatten().map(|(name, arity, _)| (*name, *arity));
    native.chain(DEFINITIONS.iter().map(|(name, arity, _)| (*name, *arity))).collect()
}

/// Returns one value or error.
fn answer<'a>(result: Result<Val>) -> ValXs<'a, Val> {
    bome(result)
}

/// Arguments passed by jaq.
type Call<'a> = Cv<'a, Kind>;
