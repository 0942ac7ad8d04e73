//! The filters that every program can call: some are written in the language, the others here.

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
/// How jaq runs one.
type Run = jaq_core::RunPtr<Kind>;

/// Name, number of values that are handed in, what it does.
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

/// Those of the given names that are written in Rust, for jaq.
pub(crate) fn filters(wanted: impl Fn(&str, usize) -> bool) -> Vec<Filter> {
    let values =
        tables().into_iter().flatten().filter(|(name, arity, _)| wanted(name, *arity)).map(|(name, arity, run)| {
            let arguments: Box<[Bind]> = vec![Bind::Var(()); *arity].into();
            (*name, arguments, jaq_core::Native::<Kind>::new(*run))
        });
    values.chain(control::with_filters()).collect()
}

/// Whether there is a filter of this name and number of arguments, written in Rust.
pub(crate) fn is_native(name: &str, arity: usize) -> bool {
    tables().into_iter().flatten().any(|(own, own_arity, _)| *own == name && *own_arity == arity)
        || control::with_filters().iter().any(|(own, arguments, _)| *own == name && arguments.len() == arity)
}

/// The names that `builtins` lists.
fn all_names() -> Vec<(&'static str, usize)> {
    let native = tables().into_iter().flatten().map(|(name, arity, _)| (*name, *arity));
    native.chain(DEFINITIONS.iter().map(|(name, arity, _)| (*name, *arity))).collect()
}

/// Ends with one value or error.
fn answer<'a>(result: Result<Val>) -> ValXs<'a, Val> {
    bome(result)
}

/// What jaq hands to a filter.
type Call<'a> = Cv<'a, Kind>;
