//! Filters for inputs, messages and exit, and filters that take filters as arguments.

use jaq_core::native::bome;
use jaq_core::{Bind, Exn, Native, ValXs};

use super::{Call, Entry, Filter, answer, plain, unary};
use crate::run::Kind;
use crate::value::{Val, change_path, delete_paths, fault, set_path, with_jq_message};

pub(super) const FILTERS: &[Entry] = &[
    plain!("true", |_| Ok(Val::Bool(true))),
    plain!("false", |_| Ok(Val::Bool(false))),
    plain!("null", |_| Ok(Val::Null)),
    plain!("error_of_input", |value| Err(jaq_core::Error::new(value))),
    unary!("!fail", |_: Val, message: Val| Err(jaq_core::Error::new(message))),
    plain!("!with_jq_message", |value| Ok(with_jq_message(value))),
    ("input", 0, |cv| {
        answer(cv.0.data().world().input().and_then(|value| value.ok_or_else(|| fault("No more inputs"))))
    }),
    ("inputs", 0, |cv| {
        let world = cv.0.data().world();
        Box::new(std::iter::from_fn(move || world.input().map_err(Exn::from).transpose()))
    }),
    ("input_line_number", 0, |cv| answer(Ok(Val::count(cv.0.data().world().line())))),
    ("input_filename", 0, |cv| answer(Ok(cv.0.data().world().file_name()))),
    ("debug", 0, |cv| {
        cv.0.data().world().print_error(&format!("[\"DEBUG:\",{}]\n", cv.1.json()));
        answer(Ok(cv.1))
    }),
    ("stderr", 0, |cv| {
        let text = cv.1.as_str().map_or_else(|| cv.1.json(), str::to_owned);
        cv.0.data().world().print_error(&text);
        answer(Ok(cv.1))
    }),
    ("halt", 0, |_| Box::new(std::iter::once(Err(Exn::halt(0))))),
    ("halt_error", 1, |mut cv| {
        let code = cv.0.pop_var();
        let Some(code) = code.as_f64() else {
            return answer(Err(fault(format!("{} halt_error/1: number required", cv.1.described()))));
        };
        let text = match &cv.1 {
            Val::String(text) => text.to_string(),
            Val::Null => String::new(),
            value => format!("{}\n", value.json()),
        };
        cv.0.data().world().print_error(&text);
        #[expect(clippy::cast_possible_truncation, reason = "an exit code has eight bits anyway")]
        let code = code as i32;
        Box::new(std::iter::once(Err(Exn::halt(code))))
    }),
    plain!("now", |_| {
        let ns = tidebox_rt::realtime_ns();
        #[expect(clippy::cast_precision_loss, reason = "microseconds are exact for a long time to come")]
        Ok(Val::number((ns / 1000) as f64 / 1e6))
    }),
    plain!("builtins", |_| Ok(super::all_names()
        .into_iter()
        .filter(|(name, _)| name.starts_with(|char: char| char.is_ascii_alphabetic()))
        .map(|(name, arity)| Val::from(format!("{name}/{arity}")))
        .collect())),
];

/// Filters that take filters as arguments.
pub(super) fn with_filters() -> Vec<Filter> {
    let fun = || Bind::Fun(());
    let mut filters: Vec<Filter> = vec![
        (
            "!alternative",
            vec![fun(), fun()].into(),
            Native::<Kind>::new(alternative_values).with_paths(|mut cv| {
                let (right, left) = (cv.0.pop_fun(), cv.0.pop_fun());
                let tried = left.0.paths((left.1, cv.1.clone()));
                let mut some = tried.filter(|found| found.as_ref().map_or(true, |found| found.0.truth()));
                match some.next() {
                    Some(first) => Box::new(std::iter::once(first).chain(some)),
                    None => right.0.paths((right.1, cv.1)),
                }
            }),
        ),
        ("!last_or_null", vec![fun()].into(), Native::<Kind>::new(last_or_null)),
        ("!assign", vec![fun(), Bind::Var(())].into(), Native::<Kind>::new(assign)),
        ("!modify", vec![fun(), fun()].into(), Native::<Kind>::new(modify)),
        (
            "!depth",
            Vec::new().into(),
            Native::<Kind>::new(|cv: Call<'_>| bome(crate::depth::checked(cv.1))).with_paths(|cv| {
                match crate::depth::checked(()) {
                    Ok(()) => Box::new(std::iter::once(Ok(cv.1))),
                    Err(error) => Box::new(std::iter::once(Err(error.into()))),
                }
            }),
        ),
    ];
    // Filters of jaq that support paths.
    filters.extend(jaq_core::funs::<Kind>().filter_map(|(name, arguments, native)| match name {
        "path" | "first" => Some((name, arguments, native)),
        "skip" if arguments.len() == 2 => Some((name, arguments, native)),
        "limit" => Some(("limit_to", arguments, native)),
        _ => None,
    }));
    filters
}

/// The last output of a filter, or null without output.
fn last_or_null<'a>(mut cv: Call<'a>) -> ValXs<'a, Val> {
    let (step, context) = cv.0.pop_fun();
    let mut last = Val::Null;
    for value in step.run((context, cv.1)) {
        match value {
            Ok(value) => last = value,
            Err(error) => return Box::new(std::iter::once(Err(error))),
        }
    }
    answer(Ok(last))
}

/// `paths = $value`
fn assign<'a>(mut cv: Call<'a>) -> ValXs<'a, Val> {
    let value = cv.0.pop_var();
    match paths_of(&mut cv) {
        Ok(paths) => answer(
            paths
                .into_iter()
                .try_fold(cv.1, |whole, path| set_path(whole, path.as_array().unwrap_or_default(), value.clone())),
        ),
        Err(error) => Box::new(std::iter::once(Err(error))),
    }
}

/// `paths |= change`
fn modify<'a>(mut cv: Call<'a>) -> ValXs<'a, Val> {
    let (change, context) = cv.0.pop_fun();
    let paths = match paths_of(&mut cv) {
        Ok(paths) => paths,
        Err(error) => return Box::new(std::iter::once(Err(error))),
    };
    let mut whole = cv.1;
    let mut dropped = Vec::new();
    for path in paths {
        // An exception in the update leaves through this variable, because an update itself returns only errors.
        let mut thrown = None;
        let result = change_path(whole, path.as_array().unwrap_or_default(), |inner| {
            match change.run((context.clone(), inner)).next() {
                Some(Ok(new)) => Ok(new),
                Some(Err(error)) => {
                    thrown = Some(error);
                    Ok(Val::Null)
                }
                None => {
                    dropped.push(path.clone());
                    Ok(Val::Null)
                }
            }
        });
        if let Some(error) = thrown {
            return Box::new(std::iter::once(Err(error)));
        }
        whole = match result {
            Ok(whole) => whole,
            Err(error) => return answer(Err(error)),
        };
    }
    answer(delete_paths(whole, dropped))
}

/// `left // right`: the truthy outputs of the left side, including errors, or else the right side.
fn alternative_values<'a>(mut cv: Call<'a>) -> ValXs<'a, Val> {
    let (right, left) = (cv.0.pop_fun(), cv.0.pop_fun());
    let mut some = left.0.run((left.1, cv.1.clone())).filter(|value| value.as_ref().map_or(true, Val::truth));
    match some.next() {
        Some(first) => Box::new(std::iter::once(first).chain(some)),
        None => right.0.run((right.1, cv.1)),
    }
}

/// All paths of the argument filter.
fn paths_of<'a>(cv: &mut Call<'a>) -> Result<Vec<Val>, Exn<'a, Val>> {
    let (filter, context) = cv.0.pop_fun();
    let found = filter.paths((context, (cv.1.clone(), Default::default())));
    found
        .map(|found| {
            let (_, path) = found?;
            let mut steps: Vec<Val> = path.iter().cloned().collect();
            steps.reverse();
            Ok(Val::array(steps))
        })
        .collect()
}
