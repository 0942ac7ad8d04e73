//! Streaming events of a value: its leaves with their paths, and the ends of arrays and objects.

use std::collections::VecDeque;

use super::read::Fault;
use crate::value::Val;

/// The previous token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Last {
    #[default]
    None,
    OpenArray,
    OpenObject,
    Colon,
    Comma,
    Value,
}

/// Builds events.
#[derive(Debug, Default)]
pub(crate) struct Events {
    /// Current path: an index for an array, a key for an object, `null` or `true` if a key is expected.
    path: Vec<Val>,
    last: Last,
    next: Option<Val>,
    ready: VecDeque<Val>,
}

impl Events {
    pub(crate) fn is_open(&self) -> bool {
        !self.path.is_empty()
    }

    pub(crate) fn take(&mut self) -> Option<Val> {
        if self.path.is_empty()
            && let Some(next) = self.next.take()
        {
            self.ready.push_back(Val::array(vec![Val::array(Vec::new()), next]));
        }
        self.ready.pop_front()
    }

    pub(crate) fn value(&mut self, value: Val) -> Result<(), Fault> {
        if self.next.is_some() || self.last == Last::Value {
            return Err("Expected separator between values");
        }
        self.last = if self.path.is_empty() { Last::None } else { Last::Value };
        self.next = Some(value);
        Ok(())
    }

    pub(crate) fn structure(&mut self, byte: u8) -> Result<(), Fault> {
        match byte {
            b'[' | b'{' => self.open(byte == b'['),
            b':' => self.colon(),
            b',' => self.comma(),
            b']' => self.close_array(),
            _ => self.close_object(),
        }
    }

    fn leaf(&mut self, value: Val) {
        self.ready.push_back(Val::array(vec![Val::array(self.path.clone()), value]));
    }

    fn closing(&mut self) {
        self.ready.push_back(Val::array(vec![Val::array(self.path.clone())]));
    }

    fn set_key(&mut self, key: Val) {
        if let Some(last) = self.path.last_mut() {
            *last = key;
        }
    }

    fn open(&mut self, is_array: bool) -> Result<(), Fault> {
        if self.next.is_some() || self.last == Last::Value {
            return Err("Expected a separator between values");
        }
        self.path.push(if is_array { Val::count(0) } else { Val::Null });
        self.last = if is_array { Last::OpenArray } else { Last::OpenObject };
        Ok(())
    }

    fn colon(&mut self) -> Result<(), Fault> {
        if matches!(self.path.last(), None | Some(Val::Number(_))) {
            return Err("':' not as part of an object");
        }
        let key = match (self.next.take(), self.last) {
            (None, _) | (_, Last::None) => return Err("Expected string key before ':'"),
            (Some(key @ Val::String(_)), Last::Value) => key,
            (Some(Val::String(_)), _) => return Err("':' should follow a key"),
            (Some(_), _) => return Err("Object keys must be strings"),
        };
        self.last = Last::Colon;
        self.set_key(key);
        Ok(())
    }

    fn comma(&mut self) -> Result<(), Fault> {
        if self.last != Last::Value {
            return Err("Expected value before ','");
        }
        let key = match self.path.last() {
            None => return Err("',' not as part of an object or array"),
            Some(Val::Number(index)) => Val::number(index.value() + 1.0),
            Some(Val::String(_)) => Val::Bool(true),
            Some(_) => return Err("Objects must consist of key:value pairs"),
        };
        if let Some(next) = self.next.take() {
            self.leaf(next);
        }
        self.set_key(key);
        self.last = Last::Comma;
        Ok(())
    }

    fn close_array(&mut self) -> Result<(), Fault> {
        if self.path.is_empty() {
            return Err("Unmatched ']' at the top-level");
        }
        if self.last == Last::Comma {
            return Err("Expected another array element");
        }
        if !matches!(self.path.last(), Some(Val::Number(_))) {
            return Err("Unmatched ']' in the middle of an object");
        }
        self.close(Last::OpenArray, Val::array(Vec::new()));
        Ok(())
    }

    fn close_object(&mut self) -> Result<(), Fault> {
        if self.path.is_empty() {
            return Err("Unmatched '}' at the top-level");
        }
        match self.last {
            Last::Comma => return Err("Expected another key:value pair"),
            Last::Colon => return Err("Missing value in key:value pair"),
            _ => {}
        }
        match self.path.last() {
            Some(Val::Number(_)) => return Err("Unmatched '}' in the middle of an array"),
            Some(Val::String(_)) => {}
            _ if self.next.is_some() => return Err("Objects must consist of key:value pairs"),
            _ => {}
        }
        self.close(Last::OpenObject, Val::object(crate::value::Map::new()));
        Ok(())
    }

    fn close(&mut self, opened: Last, empty: Val) {
        let is_empty = self.last == opened;
        if let Some(next) = self.next.take() {
            self.leaf(next);
        }
        if !is_empty {
            self.closing();
        }
        self.path.pop();
        if is_empty {
            self.leaf(empty);
        }
        self.last = if self.path.is_empty() { Last::None } else { Last::Value };
    }
}
