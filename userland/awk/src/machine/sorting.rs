//! Sorted arrays: `asort`, `asorti` and `PROCINFO["sorted_in"]`.

use std::cmp::Ordering;
use std::rc::Rc;

use super::{Machine, Outcome, Stop, fatal};
use crate::array::{Array, Handle, Key};
use crate::text::Text;
use crate::value::{Kind, Value};

/// An element while it is sorted.
#[derive(Clone, Debug)]
struct Element {
    key: Key,
    text: Text,
    value: Value,
}

/// The order for a name like `@val_num_desc`.
#[derive(Clone, Copy, Debug)]
struct Order {
    by: By,
    descending: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    IndexText,
    IndexNumber,
    ValueText,
    ValueNumber,
    ValueType,
}

impl Order {
    fn named(name: &[u8]) -> Option<Self> {
        let name = std::str::from_utf8(name).ok()?.strip_prefix('@')?;
        let (kind, direction) = name.rsplit_once('_')?;
        let by = match kind {
            "ind_str" => By::IndexText,
            "ind_num" => By::IndexNumber,
            "val_str" => By::ValueText,
            "val_num" => By::ValueNumber,
            "val_type" => By::ValueType,
            _ => return None,
        };
        match direction {
            "asc" => Some(Self { by, descending: false }),
            "desc" => Some(Self { by, descending: true }),
            _ => None,
        }
    }
}

impl Machine {
    /// The subscripts of an array in loop order.
    pub(super) fn keys_in_order(&mut self, handle: &Handle) -> Outcome<Vec<Key>> {
        let how = match self.global("PROCINFO") {
            Value::Array(procinfo) => procinfo.borrow().get(&Key::of_bytes(b"sorted_in")).cloned(),
            _ => None,
        };
        let how = how.map(|how| self.text_of(&how)).filter(|how| !how.is_empty() && how.bytes() != b"@unsorted");
        match how {
            None => Ok(handle.borrow().keys()),
            Some(how) => {
                let sorted = self.sorted(handle, &how, "sorted_in")?;
                Ok(sorted.into_iter().map(|element| element.key).collect())
            }
        }
    }

    fn sorted(&mut self, handle: &Handle, how: &Text, _what: &str) -> Outcome<Vec<Element>> {
        let mut elements = Vec::with_capacity(handle.borrow().len());
        handle.borrow().each(&mut |key, value| {
            elements.push(Element { text: key.text(), key, value: value.clone() });
        });
        if how.bytes() == b"@unsorted" {
            return Ok(elements);
        }
        if let Some(order) = Order::named(how.bytes()) {
            elements.sort_by(|left, right| {
                let found = self.order(order.by, left, right);
                if order.descending { found.reverse() } else { found }
            });
            return Ok(elements);
        }
        let shown = String::from_utf8_lossy(how.bytes()).into_owned();
        if how.bytes().first() == Some(&b'@') {
            return fatal(format!("`{shown}' is invalid as a function name"));
        }
        let Some(function) = self.program.functions.iter().position(|known| known.name == how.bytes()) else {
            return fatal(format!("sort comparison function `{shown}' is not defined"));
        };
        self.sort_by_function(elements, function as u32)
    }

    fn sort_by_function(&mut self, elements: Vec<Element>, function: u32) -> Outcome<Vec<Element>> {
        let mut trouble: Option<Stop> = None;
        let mut elements = elements;
        merge_sort(&mut elements, &mut |left, right| {
            if trouble.is_some() {
                return Ordering::Equal;
            }
            let side = |element: &Element| {
                let key = match &element.key {
                    Key::Integer(number) => Value::Number(f64::from(*number)),
                    Key::Text(text) => Value::Text(text.clone()),
                };
                [key, element.value.clone()]
            };
            let arguments = side(left).into_iter().chain(side(right)).collect();
            match self.call_now(function, arguments) {
                Ok(result) => result.number().partial_cmp(&0.0).unwrap_or(Ordering::Equal),
                Err(stop) => {
                    trouble = Some(stop);
                    Ordering::Equal
                }
            }
        });
        match trouble {
            Some(stop) => Err(stop),
            None => Ok(elements),
        }
    }

    fn order(&self, by: By, left: &Element, right: &Element) -> Ordering {
        let texts = || self.order_texts(&left.text, &right.text);
        match by {
            By::IndexText => texts(),
            By::IndexNumber => {
                let number = |element: &Element| crate::number::value_of(element.text.bytes());
                numbers(number(left), number(right)).then_with(texts)
            }
            By::ValueText => match arrays(&left.value, &right.value) {
                Some(order) => order.then_with(texts),
                None => self.order_texts(&self.text_of(&left.value), &self.text_of(&right.value)).then_with(texts),
            },
            By::ValueNumber => match arrays(&left.value, &right.value) {
                Some(order) => order.then_with(texts),
                None => numbers(left.value.number(), right.value.number())
                    .then_with(|| self.order_texts(&self.text_of(&left.value), &self.text_of(&right.value)))
                    .then_with(texts),
            },
            By::ValueType => self.order_by_type(&left.value, &right.value).then_with(texts),
        }
    }

    /// Numbers, then texts, then arrays.
    fn order_by_type(&self, left: &Value, right: &Value) -> Ordering {
        if let Some(order) = arrays(left, right) {
            return order;
        }
        let number = |value: &Value| match value.kind() {
            Kind::Number(number) => Some(number),
            Kind::Unset => Some(0.0),
            Kind::Text => None,
        };
        match (number(left), number(right)) {
            (Some(left), Some(right)) => numbers(left, right),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => self.order_texts(&self.text_of(left), &self.text_of(right)),
        }
    }

    pub(super) fn sort_array(&mut self, by_index: bool, count: usize) -> Outcome<()> {
        let name = if by_index { "asorti" } else { "asort" };
        let how = if count == 3 { self.pop_text() } else { Text::default() };
        let how = match (how.is_empty(), by_index) {
            (false, _) => how,
            (true, false) => Text::new(b"@val_type_asc"),
            (true, true) => Text::new(b"@ind_str_asc"),
        };
        let array_of = |value: Value, which: &str| match value {
            Value::Array(handle) => Ok(handle),
            _ => fatal(format!("{name}: {which} argument is not an array")),
        };
        let target = if count >= 2 { Some(array_of(self.pop(), "second")?) } else { None };
        let source = array_of(self.pop(), "first")?;
        let sorted = self.sorted(&source, &how, name)?;
        let total = sorted.len();
        let mut result = Array::Empty;
        for (element, at) in sorted.into_iter().zip(1..) {
            let value = match (by_index, element.value) {
                (true, _) => Value::Text(element.text),
                (false, Value::Array(inner)) => Value::Array(Rc::new(inner.borrow().deep_copy().into())),
                (false, value) => value,
            };
            result.set(&Key::Integer(at), value);
        }
        *target.unwrap_or(source).borrow_mut() = result;
        self.push(Value::Number(total as f64));
        Ok(())
    }
}

/// Compares numbers; NaN comes last.
fn numbers(left: f64, right: f64) -> Ordering {
    left.partial_cmp(&right).unwrap_or_else(|| left.is_nan().cmp(&right.is_nan()))
}

/// Orders arrays after all other values; `None` if neither value is an array.
fn arrays(left: &Value, right: &Value) -> Option<Ordering> {
    let is_array = |value: &Value| matches!(value, Value::Array(_));
    match (is_array(left), is_array(right)) {
        (false, false) => None,
        (left, right) => Some(left.cmp(&right)),
    }
}

/// Sorts with a comparison that may be inconsistent. The sort of the standard library may panic on one.
fn merge_sort(elements: &mut Vec<Element>, compare: &mut dyn FnMut(&Element, &Element) -> Ordering) {
    let mut width = 1;
    while width < elements.len() {
        let mut merged = Vec::with_capacity(elements.len());
        for pair in elements.chunks(width * 2) {
            let (left, right) = pair.split_at(width.min(pair.len()));
            let (mut left, mut right) = (left.iter().peekable(), right.iter().peekable());
            loop {
                let take_right = match (left.peek(), right.peek()) {
                    (Some(one), Some(other)) => compare(one, other).is_gt(),
                    (Some(_), None) => false,
                    (None, Some(_)) => true,
                    (None, None) => break,
                };
                merged.extend(if take_right { right.next() } else { left.next() }.cloned());
            }
        }
        *elements = merged;
        width *= 2;
    }
}
