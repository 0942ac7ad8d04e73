//! Reading, setting and deleting parts of a value.

use std::rc::Rc;

use super::{Result, Val, fault};

/// Maximum index of an assignment, because the array is filled with nulls up to it.
const MAX_INDEX: f64 = 536_870_911.0;

const BAD_BOUNDS: &str = "Start and end indices of an array slice must be numbers";

fn cannot_index(value: &Val, key: &Val) -> jaq_core::Error<Val> {
    match key {
        Val::String(key) => fault(format!("Cannot index {} with \"{key}\"", value.kind())),
        key => fault(format!("Cannot index {} with {}", value.kind(), key.kind())),
    }
}

/// Array index of a number: truncated, and negative numbers count from the end.
#[expect(clippy::cast_possible_truncation, reason = "saturates far beyond every array")]
fn position(index: f64, len: usize) -> Option<usize> {
    if index.is_nan() {
        return None;
    }
    let index = index.floor() as i64;
    let index = if index < 0 { index.saturating_add(i64::try_from(len).unwrap_or(i64::MAX)) } else { index };
    usize::try_from(index).ok()
}

/// The bounds of a slice: start rounded down, end rounded up, both within the length.
pub(crate) fn slice_bounds(from: Option<&Val>, to: Option<&Val>, len: usize) -> Result<(usize, usize)> {
    let read = |bound: Option<&Val>, otherwise: f64| match bound {
        None | Some(Val::Null) => Ok(otherwise),
        Some(Val::Number(number)) => Ok(number.value()),
        Some(_) => Err(fault(BAD_BOUNDS)),
    };
    #[expect(clippy::cast_precision_loss, reason = "nothing here has more than 2^53 parts")]
    let length = len as f64;
    let mut start = read(from, 0.0)?;
    let mut end = read(to, length)?;
    if start < 0.0 {
        start += length;
    }
    if end < 0.0 {
        end += length;
    }
    let start = if start.is_nan() { 0.0 } else { start.clamp(0.0, length).floor() };
    let end = if end.is_nan() { length } else { end.min(length).max(start).ceil() };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "both are within the length")]
    Ok((start as usize, end as usize))
}

fn slice_text(text: &str, start: usize, end: usize) -> &str {
    let offset = |chars: usize| text.char_indices().nth(chars).map_or(text.len(), |(at, _)| at);
    text.get(offset(start)..offset(end)).unwrap_or_default()
}

/// The bounds in an object used as an index.
fn bounds_of(key: &Val) -> Option<(Option<&Val>, Option<&Val>)> {
    match key {
        Val::Object(object) => Some((object.0.get("start"), object.0.get("end"))),
        _ => None,
    }
}

impl Val {
    /// `.[key]`
    pub(crate) fn get(&self, key: &Self) -> Result {
        match (self, key) {
            (Self::Object(object), Self::String(key)) => Ok(object.0.get(key).cloned().unwrap_or(Self::Null)),
            (Self::Array(array), Self::Number(index)) => {
                let at = position(index.value(), array.0.len());
                Ok(at.and_then(|at| array.0.get(at)).cloned().unwrap_or(Self::Null))
            }
            (Self::Array(_) | Self::Null | Self::String(_), Self::Object(_)) => {
                let (from, to) = bounds_of(key).unwrap_or((None, None));
                if !matches!(self, Self::Null) && from.is_none() && to.is_none() {
                    return Err(fault(BAD_BOUNDS));
                }
                self.get_slice(from, to)
            }
            (Self::Array(array), Self::Array(part)) => Ok(positions(&array.0, &part.0)),
            (Self::Null, Self::String(_) | Self::Number(_)) => Ok(Self::Null),
            _ => Err(cannot_index(self, key)),
        }
    }

    /// `.[from:to]`
    pub(crate) fn get_slice(&self, from: Option<&Self>, to: Option<&Self>) -> Result {
        match self {
            Self::Null => Ok(Self::Null),
            Self::Array(array) => {
                let (start, end) = slice_bounds(from, to, array.0.len())?;
                Ok(Self::array(array.0.get(start..end).unwrap_or_default().to_vec()))
            }
            Self::String(text) => {
                let bounds = slice_bounds(from, to, text.chars().count());
                let (start, end) =
                    bounds.map_err(|_| fault("Start and end indices of an string slice must be numbers"))?;
                Ok(Self::text(slice_text(text, start, end)))
            }
            _ => Err(fault(format!("Cannot index {} with object", self.kind()))),
        }
    }

    /// The value with `key` replaced.
    fn set(self, key: &Self, new: Self) -> Result {
        match (self, key) {
            (Self::Null, Self::String(_)) => Self::object(super::Map::new()).set(key, new),
            (Self::Null, Self::Number(_) | Self::Object(_)) => Self::array(Vec::new()).set(key, new),
            (Self::Object(mut object), Self::String(key)) => {
                Rc::make_mut(&mut object).0.insert(Rc::clone(key), new);
                Ok(Self::Object(object))
            }
            (Self::Array(mut array), Self::Number(index)) => {
                let index = index.value();
                let Some(at) = position(index, array.0.len()) else {
                    return Err(fault("Out of bounds negative array index"));
                };
                if index > MAX_INDEX {
                    return Err(fault("Array index too large"));
                }
                let items = &mut Rc::make_mut(&mut array).0;
                if at >= items.len() {
                    items.resize(at + 1, Self::Null);
                }
                if let Some(slot) = items.get_mut(at) {
                    *slot = new;
                }
                Ok(Self::Array(array))
            }
            (Self::Array(array), Self::Object(_)) => {
                let (from, to) = bounds_of(key).unwrap_or((None, None));
                let (start, end) = slice_bounds(from, to, array.0.len())?;
                if !matches!(new, Self::Array(_)) {
                    return Err(fault("A slice of an array can only be assigned another array"));
                }
                let mut items = Self::Array(array).into_items();
                items.splice(start..end, new.into_items());
                Ok(Self::array(items))
            }
            (value, key) => Err(fault(format!("Cannot update field at {} index of {}", key.kind(), value.kind()))),
        }
    }
}

/// Position of the first occurrence of a subarray.
fn positions(array: &[Val], part: &[Val]) -> Val {
    if part.is_empty() {
        return Val::array(Vec::new());
    }
    let at = array.windows(part.len()).enumerate().filter(|(_, window)| *window == part);
    Val::array(at.map(|(at, _)| Val::count(at)).collect())
}

/// Removes the value at `key`, so that it is not shared while it is changed.
fn take(value: &mut Val, key: &Val) -> Result {
    match (value, key) {
        (Val::Object(object), Val::String(key)) => {
            Ok(Rc::make_mut(object).0.get_mut(key).map_or(Val::Null, |slot| std::mem::replace(slot, Val::Null)))
        }
        (Val::Array(array), Val::Number(index)) => {
            let at = position(index.value(), array.0.len());
            let slot = at.and_then(|at| Rc::make_mut(array).0.get_mut(at));
            Ok(slot.map_or(Val::Null, |slot| std::mem::replace(slot, Val::Null)))
        }
        (value, key) => value.get(key),
    }
}

/// The value with a path replaced.
pub(crate) fn set_path(value: Val, path: &[Val], new: Val) -> Result {
    change_path(value, path, |_| Ok(new))
}

/// The value with an update at a path.
pub(crate) fn change_path(mut value: Val, path: &[Val], change: impl FnOnce(Val) -> Result) -> Result {
    // The containers on the path, for rebuilding.
    let mut around = Vec::with_capacity(path.len());
    for key in path {
        let inner = take(&mut value, key)?;
        around.push((std::mem::replace(&mut value, inner), key));
    }
    value = change(value)?;
    while let Some((outer, key)) = around.pop() {
        value = outer.set(key, value)?;
    }
    Ok(value)
}

/// The value without the given paths. All paths refer to the original value.
pub(crate) fn delete_paths(value: Val, mut paths: Vec<Val>) -> Result {
    paths.sort_by(Val::order);
    let mut steps = Vec::with_capacity(paths.len());
    for path in &paths {
        let not_a_path = || fault(format!("Path must be specified as array, not {}", path.kind()));
        steps.push(path.as_array().ok_or_else(not_a_path)?);
    }
    if steps.first().is_some_and(|first| first.is_empty()) {
        return Ok(Val::Null);
    }
    delete_sorted(value, &steps)
}

/// Paths with a common key are processed together; paths that end here are deleted together.
fn delete_sorted(mut value: Val, paths: &[&[Val]]) -> Result {
    let mut here = Vec::new();
    let mut rest = paths;
    while let Some((key, below)) = rest.first().and_then(|path| path.split_first()) {
        let same = rest.iter().take_while(|path| path.first() == Some(key)).count();
        let (group, others) = rest.split_at(same);
        rest = others;
        if below.is_empty() {
            here.push(key);
            continue;
        }
        let inner = value.get(key)?;
        if matches!(inner, Val::Null) {
            continue;
        }
        drop(inner);
        let group: Vec<&[Val]> = group.iter().filter_map(|path| path.get(1..)).collect();
        value = change_path(value, std::slice::from_ref(key), |inner| delete_sorted(inner, &group))?;
    }
    delete_keys(value, &here)
}

fn delete_keys(value: Val, keys: &[&Val]) -> Result {
    match value {
        value if keys.is_empty() || matches!(value, Val::Null) => Ok(value),
        Val::Object(mut object) => {
            for key in keys {
                let Val::String(key) = key else {
                    return Err(fault(format!("Cannot delete {} field of object", key.kind())));
                };
                Rc::make_mut(&mut object).0.shift_remove(key);
            }
            Ok(Val::Object(object))
        }
        array @ Val::Array(_) => delete_items(array.into_items(), keys),
        value => Err(fault(format!("Cannot delete fields from {}", value.kind()))),
    }
}

fn delete_items(items: Vec<Val>, keys: &[&Val]) -> Result {
    let len = items.len();
    let mut goes = vec![false; len];
    for key in keys {
        let range = match key {
            Val::Number(index) => match position(index.value(), len) {
                Some(at) => at..at.saturating_add(1),
                None => continue,
            },
            Val::Object(_) => {
                let (from, to) = bounds_of(key).unwrap_or((None, None));
                let (start, end) = slice_bounds(from, to, len)?;
                start..end
            }
            key => return Err(fault(format!("Cannot delete {} element of array", key.kind()))),
        };
        goes.iter_mut().take(range.end).skip(range.start).for_each(|goes| *goes = true);
    }
    Ok(items.into_iter().zip(goes).filter(|(_, goes)| !goes).map(|(item, _)| item).collect())
}

/// A key of an object under construction.
pub(crate) fn key_text(key: Val) -> Result<Rc<str>> {
    match key {
        Val::String(key) => Ok(key),
        key => Err(fault(format!("Cannot use {} as object key", key.described()))),
    }
}
