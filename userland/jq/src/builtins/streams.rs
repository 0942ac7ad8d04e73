//! Values as streams of events.

use super::{Entry, plain};
use crate::value::{Result, Val};

pub(super) const FILTERS: &[Entry] = &[plain!("events", events)];

/// The leaves of a value with their paths, and the ends of its arrays and objects.
#[expect(clippy::unnecessary_wraps, reason = "one form for all filters")]
fn events(value: Val) -> Result {
    let mut found = Vec::new();
    // Pending events, the next one last: a value, or a closing event.
    let mut waiting = vec![(Vec::new(), Some(value))];
    while let Some((path, value)) = waiting.pop() {
        let Some(value) = value else {
            found.push(Val::array(vec![Val::array(path)]));
            continue;
        };
        let entries: Vec<(Val, Val)> = match &value {
            Val::Array(array) => array.0.iter().enumerate().map(|(at, item)| (Val::count(at), item.clone())).collect(),
            Val::Object(object) => {
                object.0.iter().map(|(key, value)| (Val::String(std::rc::Rc::clone(key)), value.clone())).collect()
            }
            _ => Vec::new(),
        };
        let below = |key: &Val| path.iter().chain(std::iter::once(key)).cloned().collect::<Vec<_>>();
        match entries.last() {
            Some((last, _)) => {
                waiting.push((below(last), None));
                waiting.extend(entries.iter().rev().map(|(key, value)| (below(key), Some(value.clone()))));
            }
            None => found.push(Val::array(vec![Val::array(path), value])),
        }
    }
    Ok(Val::array(found))
}
