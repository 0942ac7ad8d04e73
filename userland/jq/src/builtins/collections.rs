//! Arrays and objects.

use std::cmp::Ordering;
use std::rc::Rc;

use super::{Entry, plain, unary};
use crate::value::{Map, Result, Val, delete_paths, fault, set_path};

pub(super) const FILTERS: &[Entry] = &[
    plain!("length", length),
    plain!("utf8bytelength", utf8_bytes),
    plain!("keys", keys),
    plain!("keys_unsorted", keys_unsorted),
    unary!("has", has),
    unary!("contains", contains),
    plain!("add", add),
    plain!("sort", sort),
    unary!("sort_by_keys", sort_by_keys),
    unary!("group_by_keys", group_by_keys),
    plain!("unique", unique),
    plain!("min", min),
    plain!("max", max),
    unary!("min_by_keys", min_by_keys),
    unary!("max_by_keys", max_by_keys),
    plain!("reverse", reverse),
    plain!("transpose", transpose),
    unary!("flatten_to", flatten),
    plain!("from_entries", from_entries),
    super::binary!("setpath", set_at),
    unary!("delpaths", delete),
    plain!("type", kind),
    ("path_steps", 1, |mut cv| {
        let path = cv.0.pop_var();
        match path {
            Val::Array(_) => Box::new(path.into_items().into_iter().map(Ok)),
            _ => super::answer(Err(fault("Path must be specified as an array"))),
        }
    }),
];

#[expect(clippy::unnecessary_wraps, reason = "one form for all filters")]
fn kind(value: Val) -> Result {
    Ok(Val::text(value.kind()))
}

fn length(value: Val) -> Result {
    Ok(match value {
        Val::Null => Val::count(0),
        Val::Number(number) => Val::number(number.value().abs()),
        Val::String(text) => Val::count(text.chars().count()),
        Val::Array(array) => Val::count(array.0.len()),
        Val::Object(object) => Val::count(object.0.len()),
        Val::Bool(_) => return Err(fault(format!("{} has no length", value.described()))),
    })
}

fn utf8_bytes(value: Val) -> Result {
    match value.as_str() {
        Some(text) => Ok(Val::count(text.len())),
        None => Err(fault(format!("{} only strings have UTF-8 byte length", value.described()))),
    }
}

fn keys_unsorted(value: Val) -> Result {
    match &value {
        Val::Array(array) => Ok((0..array.0.len()).map(Val::count).collect()),
        Val::Object(object) => Ok(object.0.keys().map(|key| Val::String(Rc::clone(key))).collect()),
        value => Err(fault(format!("{} has no keys", value.described()))),
    }
}

fn keys(value: Val) -> Result {
    let mut keys = keys_unsorted(value)?.into_items();
    keys.sort_by(Val::order);
    Ok(Val::array(keys))
}

fn has(value: Val, key: Val) -> Result {
    match (&value, &key) {
        (Val::Object(object), Val::String(key)) => Ok(Val::Bool(object.0.contains_key(key))),
        (Val::Array(array), Val::Number(index)) => {
            let len = Val::count(array.0.len()).as_f64().unwrap_or(0.0);
            Ok(Val::Bool(index.value() >= 0.0 && index.value() < len))
        }
        _ => Err(fault(format!("Cannot check whether {} has a {} key", value.kind(), key.kind()))),
    }
}

fn contains(value: Val, part: Val) -> Result {
    holds(&value, &part).map(Val::Bool)
}

fn holds(value: &Val, part: &Val) -> Result<bool> {
    match (value, part) {
        (Val::Object(object), Val::Object(part)) => {
            for (key, part) in &part.0 {
                match object.0.get(key) {
                    Some(value) if holds(value, part)? => {}
                    _ => return Ok(false),
                }
            }
            Ok(true)
        }
        (Val::Array(array), Val::Array(part)) => {
            for part in &part.0 {
                let mut found = false;
                for value in &array.0 {
                    if value.kind() == part.kind() && holds(value, part)? {
                        found = true;
                        break;
                    }
                }
                if !found {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        (Val::String(text), Val::String(part)) => Ok(text.contains(&**part)),
        (value, part) if value.kind() == part.kind() => Ok(value == part),
        (value, part) => {
            Err(fault(format!("{} and {} cannot have their containment checked", value.described(), part.described())))
        }
    }
}

fn add(value: Val) -> Result {
    let items = match value {
        array @ Val::Array(_) => array.into_items(),
        object @ Val::Object(_) => object.into_map().into_values().collect(),
        value => return Err(cannot_iterate(&value)),
    };
    if let Some(text) = joined_strings(&items) {
        return Ok(text);
    }
    items.into_iter().try_fold(Val::Null, |sum, item| sum + item)
}

/// Concatenates strings with one allocation.
fn joined_strings(items: &[Val]) -> Option<Val> {
    let texts: Option<Vec<&str>> = items.iter().map(Val::as_str).collect();
    texts.filter(|texts| !texts.is_empty()).map(|texts| Val::from(texts.concat()))
}

pub(super) fn cannot_iterate(value: &Val) -> jaq_core::Error<Val> {
    fault(format!("Cannot iterate over {}", value.described()))
}

fn sortable(value: Val) -> Result<Vec<Val>> {
    match value {
        Val::Array(_) => Ok(value.into_items()),
        value => Err(fault(format!("{} cannot be sorted, as it is not an array", value.described()))),
    }
}

fn sort(value: Val) -> Result {
    let mut items = sortable(value)?;
    items.sort_by(Val::order);
    Ok(Val::array(items))
}

/// The items with their keys, in the order of the keys.
fn sorted_by(value: Val, keys: Val) -> Result<Vec<(Val, Val)>> {
    if value.as_array().is_none() {
        let (value, keys) = (value.described(), keys.described());
        return Err(fault(format!("{value} and {keys} cannot be sorted, as they are not both arrays")));
    }
    let mut pairs: Vec<_> = keys.into_items().into_iter().zip(value.into_items()).collect();
    pairs.sort_by(|left, right| left.0.order(&right.0));
    Ok(pairs)
}

fn sort_by_keys(value: Val, keys: Val) -> Result {
    Ok(sorted_by(value, keys)?.into_iter().map(|(_, item)| item).collect())
}

fn group_by_keys(value: Val, keys: Val) -> Result {
    let mut groups: Vec<(Val, Vec<Val>)> = Vec::new();
    for (key, item) in sorted_by(value, keys)? {
        match groups.last_mut() {
            Some((last, group)) if *last == key => group.push(item),
            _ => groups.push((key, vec![item])),
        }
    }
    Ok(groups.into_iter().map(|(_, group)| Val::array(group)).collect())
}

fn unique(value: Val) -> Result {
    let mut items = sort(value)?.into_items();
    items.dedup();
    Ok(Val::array(items))
}

fn extreme(value: Val, keys: Option<Val>, wanted: Ordering) -> Result {
    let items = match value {
        Val::Array(_) => value.into_items(),
        value => {
            let keys = keys.unwrap_or_else(|| value.clone());
            let what = format!("{} and {} cannot be iterated over", value.described(), keys.described());
            return Err(fault(what));
        }
    };
    let keys = keys.map_or_else(|| items.clone(), Val::into_items);
    let mut best: Option<(Val, Val)> = None;
    for (key, item) in keys.into_iter().zip(items) {
        // Among equal values, `min` takes the first and `max` the last.
        let better = best.as_ref().is_none_or(|(best, _)| {
            let order = key.order(best);
            order == wanted || (order.is_eq() && wanted.is_gt())
        });
        if better {
            best = Some((key, item));
        }
    }
    Ok(best.map_or(Val::Null, |(_, item)| item))
}

fn min(value: Val) -> Result {
    extreme(value, None, Ordering::Less)
}

fn max(value: Val) -> Result {
    extreme(value, None, Ordering::Greater)
}

fn min_by_keys(value: Val, keys: Val) -> Result {
    extreme(value, Some(keys), Ordering::Less)
}

fn max_by_keys(value: Val, keys: Val) -> Result {
    extreme(value, Some(keys), Ordering::Greater)
}

fn reverse(value: Val) -> Result {
    match value {
        Val::Null => Ok(Val::array(Vec::new())),
        Val::String(text) => Ok(Val::from(text.chars().rev().collect::<String>())),
        array @ Val::Array(_) => {
            let mut items = array.into_items();
            items.reverse();
            Ok(Val::array(items))
        }
        Val::Object(object) if object.0.is_empty() => Ok(Val::array(Vec::new())),
        Val::Object(_) => Err(fault("Cannot index object with number")),
        value => Err(fault(format!("Cannot index {} with number", value.kind()))),
    }
}

fn transpose(value: Val) -> Result {
    let rows = match value {
        Val::Array(_) => value.into_items(),
        value => return Err(cannot_iterate(&value)),
    };
    let mut width = 0;
    for row in &rows {
        width = match row {
            Val::Array(row) => width.max(row.0.len()),
            Val::Null => width,
            row => return Err(fault(format!("Cannot index {} with number", row.kind()))),
        };
    }
    let cell = |row: &Val, at: usize| row.as_array().and_then(|row| row.get(at)).cloned().unwrap_or(Val::Null);
    Ok((0..width).map(|at| rows.iter().map(|row| cell(row, at)).collect::<Val>()).collect())
}

fn flatten(value: Val, depth: Val) -> Result {
    let depth = depth.as_f64().ok_or_else(|| fault("flatten depth must be a number"))?;
    let items = match value {
        array @ Val::Array(_) => array.into_items(),
        object @ Val::Object(_) => object.into_map().into_values().collect(),
        value => return Err(cannot_iterate(&value)),
    };
    let mut flat = Vec::new();
    // Pending values, the next one last.
    let mut waiting: Vec<(Val, f64)> = items.into_iter().rev().map(|item| (item, depth)).collect();
    while let Some((item, depth)) = waiting.pop() {
        match item {
            Val::Array(_) if depth != 0.0 => {
                waiting.extend(item.into_items().into_iter().rev().map(|item| (item, depth - 1.0)));
            }
            item => flat.push(item),
        }
    }
    Ok(Val::array(flat))
}

fn from_entries(value: Val) -> Result {
    let entries = match value {
        array @ Val::Array(_) => array.into_items(),
        object @ Val::Object(_) => object.into_map().into_values().collect(),
        value => return Err(cannot_iterate(&value)),
    };
    let mut map = Map::new();
    for entry in entries {
        let key = first_of(&entry, &["key", "k", "name", "Name", "Key", "K"], |key| {
            !matches!(key, Val::Null | Val::Bool(false))
        })?;
        let key = match key {
            Some(Val::String(key)) => key,
            Some(Val::Null) | None => {
                if first_of(&entry, &["key", "k"], |key| matches!(key, Val::Bool(_)))?.is_some() {
                    Rc::from("false")
                } else {
                    Rc::from("null")
                }
            }
            Some(key @ (Val::Bool(_) | Val::Number(_))) => Rc::from(key.json()),
            Some(key) => return Err(fault(format!("Cannot use {} as object key", key.described()))),
        };
        let value =
            first_of(&entry, &["value", "v", "Value", "V"], |value| !matches!(value, Val::Null | Val::Bool(false)))?;
        let value = match value {
            Some(value) => value,
            // A falsy value is used only if no other value exists.
            None => first_of(&entry, &["value", "v", "Value", "V"], |value| matches!(value, Val::Bool(_)))?
                .unwrap_or(Val::Null),
        };
        map.insert(key, value);
    }
    Ok(Val::object(map))
}

/// The first requested field.
fn first_of(entry: &Val, names: &[&str], wanted: impl Fn(&Val) -> bool) -> Result<Option<Val>> {
    for name in names {
        let value = entry.get(&Val::text(name))?;
        if wanted(&value) {
            return Ok(Some(value));
        }
    }
    Ok(None)
}

fn set_at(value: Val, path: Val, new: Val) -> Result {
    match path.as_array() {
        Some(path) => set_path(value, path, new),
        None => Err(fault("Path must be specified as an array")),
    }
}

fn delete(value: Val, paths: Val) -> Result {
    match paths {
        Val::Array(_) => delete_paths(value, paths.into_items()),
        _ => Err(fault("Paths must be specified as an array")),
    }
}
