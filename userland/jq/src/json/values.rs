//! Builder of whole values from tokens.

use std::rc::Rc;

use super::read::Fault;
use crate::value::{Map, Val};

/// Maximum nesting of arrays and objects.
const MAX_DEPTH: usize = 10_000;

/// Builds whole values.
#[derive(Debug, Default)]
pub(super) struct Values {
    open: Vec<Open>,
    /// A complete value that was not taken yet.
    next: Option<Val>,
}

#[derive(Debug)]
enum Open {
    Array(Vec<Val>),
    Object(Map),
    /// An object, and the key of the next value.
    Key(Map, Rc<str>),
}

impl Values {
    pub(super) fn is_open(&self) -> bool {
        !self.open.is_empty()
    }

    pub(super) fn value(&mut self, value: Val) -> Result<(), Fault> {
        if self.next.is_some() {
            return Err("Expected separator between values");
        }
        self.next = Some(value);
        Ok(())
    }

    pub(super) fn take(&mut self) -> Option<Val> {
        if self.open.is_empty() { self.next.take() } else { None }
    }

    pub(super) fn structure(&mut self, byte: u8) -> Result<(), Fault> {
        match byte {
            b'[' | b'{' => {
                if self.open.len() >= MAX_DEPTH {
                    return Err("Exceeds depth limit for parsing");
                }
                if self.next.is_some() {
                    return Err("Expected separator between values");
                }
                self.open.push(if byte == b'[' { Open::Array(Vec::new()) } else { Open::Object(Map::new()) });
                Ok(())
            }
            b':' => self.colon(),
            b',' => self.comma(),
            b']' => self.close_array(),
            _ => self.close_object(),
        }
    }

    fn colon(&mut self) -> Result<(), Fault> {
        let Some(next) = &self.next else {
            return Err("Expected string key before ':'");
        };
        let Some(Open::Object(map)) = self.open.last_mut() else {
            return Err("':' not as part of an object");
        };
        let Val::String(key) = next else {
            return Err("Object keys must be strings");
        };
        let (map, key) = (std::mem::take(map), Rc::clone(key));
        self.next = None;
        if let Some(open) = self.open.last_mut() {
            *open = Open::Key(map, key);
        }
        Ok(())
    }

    fn comma(&mut self) -> Result<(), Fault> {
        let Some(next) = self.next.take() else {
            return Err("Expected value before ','");
        };
        match self.open.last_mut() {
            None => Err("',' not as part of an object or array"),
            Some(Open::Array(items)) => {
                items.push(next);
                Ok(())
            }
            Some(open @ Open::Key(..)) => {
                let ended = std::mem::replace(open, Open::Array(Vec::new()));
                if let Open::Key(mut map, key) = ended {
                    map.insert(key, next);
                    *open = Open::Object(map);
                }
                Ok(())
            }
            Some(Open::Object(_)) => Err("Objects must consist of key:value pairs"),
        }
    }

    fn close_array(&mut self) -> Result<(), Fault> {
        let Some(Open::Array(items)) = self.open.last_mut() else {
            return Err("Unmatched ']'");
        };
        match self.next.take() {
            Some(next) => items.push(next),
            None if !items.is_empty() => return Err("Expected another array element"),
            None => {}
        }
        let items = std::mem::take(items);
        self.open.pop();
        self.next = Some(Val::array(items));
        Ok(())
    }

    fn close_object(&mut self) -> Result<(), Fault> {
        let map = match (self.open.pop(), self.next.take()) {
            (Some(Open::Key(mut map, key)), Some(next)) => {
                map.insert(key, next);
                map
            }
            (None, _) => return Err("Unmatched '}'"),
            (Some(_), Some(_)) => return Err("Objects must consist of key:value pairs"),
            (Some(Open::Object(map)), None) if map.is_empty() => map,
            (Some(Open::Object(_)), None) => return Err("Expected another key-value pair"),
            (Some(_), None) => return Err("Unmatched '}'"),
        };
        self.next = Some(Val::object(map));
        Ok(())
    }
}
