//! Comparison of values.

use std::cmp::Ordering;

use super::{Machine, Outcome, fatal};
use crate::code::Comparison;
use crate::text::Text;
use crate::value::{Kind, Value};

impl Machine {
    pub(super) fn compare(&mut self, comparison: Comparison) {
        let holds = self.holds(comparison);
        self.push(Value::truth(holds));
    }

    /// Pops the two topmost values and returns whether the comparison holds.
    #[inline]
    pub(super) fn holds(&mut self, comparison: Comparison) -> bool {
        if let [.., Value::Number(left), Value::Number(right)] = self.stack.as_slice() {
            let holds = compare_numbers(comparison, *left, *right);
            self.stack.truncate(self.stack.len() - 2);
            return holds;
        }
        self.holds_between_others(comparison)
    }

    fn holds_between_others(&mut self, comparison: Comparison) -> bool {
        let right = self.pop();
        let left = self.pop();
        match numeric(&left, &right) {
            Some((left, right)) => compare_numbers(comparison, left, right),
            None => {
                let order = self.compare_as_text(&left, &right);
                match comparison {
                    Comparison::Less => order.is_lt(),
                    Comparison::LessOrEqual => order.is_le(),
                    Comparison::Equal => order.is_eq(),
                    Comparison::NotEqual => order.is_ne(),
                    Comparison::Greater => order.is_gt(),
                    Comparison::GreaterOrEqual => order.is_ge(),
                }
            }
        }
    }

    fn compare_as_text(&self, left: &Value, right: &Value) -> Ordering {
        self.order_texts(&self.text_of(left), &self.text_of(right))
    }

    pub(super) fn order_texts(&self, left: &Text, right: &Text) -> Ordering {
        if !self.settings.ignore_case {
            return left.bytes().cmp(right.bytes());
        }
        let fold = |text: &Text| {
            let mut out = Vec::new();
            super::strings::change_case(text.bytes(), false, &mut out);
            out
        };
        fold(left).cmp(&fold(right))
    }

    /// Returns whether the value of a `switch`, which stays on the stack, matches a label.
    pub(super) fn case(&mut self) -> Outcome<()> {
        let label = self.pop();
        let value = self.stack.last().cloned().unwrap_or(Value::Unset);
        let fits = match (&label, value.kind()) {
            (Value::Regex(pattern), _) => {
                let pattern = self.constant_pattern(pattern);
                let text = self.text_of(&value);
                pattern.is_match(text.bytes()).or_else(fatal)?
            }
            (Value::Number(label), Kind::Number(number)) => *label == number,
            (Value::Number(label), Kind::Unset) => *label == 0.0,
            (Value::Number(_), Kind::Text) => false,
            (_, Kind::Number(_)) if matches!(value, Value::Number(_)) => false,
            _ => self.compare_as_text(&value, &label).is_eq(),
        };
        self.push(Value::truth(fits));
        Ok(())
    }
}

fn compare_numbers(comparison: Comparison, left: f64, right: f64) -> bool {
    match comparison {
        Comparison::Less => left < right,
        Comparison::LessOrEqual => left <= right,
        Comparison::Equal => left == right,
        Comparison::NotEqual => left != right,
        Comparison::Greater => left > right,
        Comparison::GreaterOrEqual => left >= right,
    }
}

/// Both values as numbers, if they compare numerically.
fn numeric(left: &Value, right: &Value) -> Option<(f64, f64)> {
    match (left.kind(), right.kind()) {
        (Kind::Number(left), Kind::Number(right)) => Some((left, right)),
        (Kind::Number(left), Kind::Unset) => Some((left, 0.0)),
        (Kind::Unset, Kind::Number(right)) => Some((0.0, right)),
        (Kind::Unset, Kind::Unset) => Some((0.0, 0.0)),
        _ => None,
    }
}
