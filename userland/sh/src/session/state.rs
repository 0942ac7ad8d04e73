//! The state of a session as bytes. Values are written as they are, not as text to be read by the parser, so that every
//! byte and every attribute comes back, and hostile bytes can do no more than be refused.

use std::collections::BTreeMap;

use crate::ir::Bytes;
use crate::jobs::StoredJob;
use crate::vars::{Assoc, Value, Var};

/// The header of a state: a magic and a version.
const START: &[u8] = b"tbsh\x02";

/// The difference from a new shell.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct State {
    /// The working directory.
    pub(super) dir: Option<Bytes>,
    /// Variables of a new shell that the session removed.
    pub(super) removed: Vec<Bytes>,
    pub(super) variables: Vec<(Bytes, Var)>,
    /// Functions from the environment of a new shell that the session removed.
    pub(super) removed_functions: Vec<Bytes>,
    pub(super) functions: Vec<StoredFunction>,
    pub(super) aliases: Vec<(Bytes, Bytes)>,
    pub(super) dir_stack: Vec<Bytes>,
    pub(super) jobs: Vec<StoredJob>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct StoredFunction {
    pub(super) name: Bytes,
    pub(super) text: Bytes,
    pub(super) source: Bytes,
    pub(super) line: u32,
    pub(super) extglob: bool,
    pub(super) exported: bool,
}

impl State {
    /// Encodes the state; empty for a session without changes.
    pub(crate) fn encode(&self) -> Bytes {
        if *self == Self::default() {
            return Bytes::new();
        }
        let mut out = Writer(START.to_vec());
        out.list(self.dir.as_slice(), |out, dir| out.bytes(dir));
        out.list(&self.removed, |out, name| out.bytes(name));
        out.list(&self.variables, |out, (name, var)| {
            out.bytes(name);
            out.var(var);
        });
        out.list(&self.removed_functions, |out, name| out.bytes(name));
        out.list(&self.functions, |out, function| {
            out.bytes(&function.name);
            out.bytes(&function.text);
            out.bytes(&function.source);
            out.number(u64::from(function.line));
            out.number(u64::from(function.extglob) | u64::from(function.exported) << 1);
        });
        out.list(&self.aliases, |out, (name, value)| {
            out.bytes(name);
            out.bytes(value);
        });
        out.list(&self.dir_stack, |out, dir| out.bytes(dir));
        out.list(&self.jobs, |out, job| {
            out.number(u64::from(job.number) << 1 | u64::from(job.grouped));
            out.list(&job.pids, |out, pid| out.number(u64::from(*pid)));
            out.bytes(&job.text);
        });
        out.0
    }

    /// `None` for bytes that [`Self::encode`] does not write.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        if bytes.is_empty() {
            return Some(Self::default());
        }
        let mut from = Reader(bytes.strip_prefix(START)?);
        let dir = from.list(Reader::bytes)?;
        let state = Self {
            removed: from.list(Reader::bytes)?,
            variables: from.list(|from| Some((from.name()?, from.var()?)))?,
            removed_functions: from.list(Reader::bytes)?,
            functions: from.list(|from| {
                let (name, text, source) = (from.bytes()?, from.bytes()?, from.bytes()?);
                let (line, flags) = (u32::try_from(from.number()?).ok()?, from.number()?);
                Some(StoredFunction { name, text, source, line, extglob: flags & 1 != 0, exported: flags & 2 != 0 })
            })?,
            aliases: from.list(|from| Some((from.bytes()?, from.bytes()?)))?,
            dir_stack: from.list(Reader::bytes)?,
            jobs: from.list(|from| {
                let head = from.number()?;
                let pids = from.list(|from| u32::try_from(from.number()?).ok())?;
                let number = u32::try_from(head >> 1).ok()?;
                Some(StoredJob { number, pids, text: from.bytes()?, grouped: head & 1 != 0 })
            })?,
            dir: dir.into_iter().next(),
        };
        from.0.is_empty().then_some(state)
    }
}

struct Writer(Bytes);

impl Writer {
    /// Seven bits at a time, the lowest first: most numbers are lengths below 128.
    fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push((number & 0x7f) as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn list<T>(&mut self, items: &[T], mut each: impl FnMut(&mut Self, &T)) {
        self.number(items.len() as u64);
        for item in items {
            each(self, item);
        }
    }

    fn var(&mut self, var: &Var) {
        self.number(u64::from(var.flags));
        match &var.value {
            Value::Unset => self.number(0),
            Value::Text(text) => {
                self.number(1);
                self.bytes(text);
            }
            Value::Indexed(map) => {
                self.number(2);
                self.number(map.len() as u64);
                for (index, value) in map {
                    self.number(*index);
                    self.bytes(value);
                }
            }
            Value::Assoc(map) => {
                self.number(3);
                self.list(&map.in_order_of_insertion(), |out, (key, value)| {
                    out.bytes(key);
                    out.bytes(value);
                });
            }
        }
    }
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let (byte, rest) = self.0.split_first()?;
            self.0 = rest;
            number |= u64::from(byte & 0x7f).checked_shl(shift)?;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    fn bytes(&mut self) -> Option<Bytes> {
        let len = usize::try_from(self.number()?).ok()?;
        let (bytes, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(bytes.to_vec())
    }

    /// The name of a variable.
    fn name(&mut self) -> Option<Bytes> {
        let name = self.bytes()?;
        let good = !name.is_empty() && crate::parse::token::name_len(&name) == name.len();
        good.then_some(name)
    }

    /// Reads a list. Each item has at least one byte, so a wrong count fails at the end of the bytes and costs no memory.
    fn list<T>(&mut self, mut each: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let count = self.number()?;
        let mut items = Vec::new();
        for _ in 0..count {
            items.push(each(self)?);
        }
        Some(items)
    }

    fn var(&mut self) -> Option<Var> {
        let flags = u16::try_from(self.number()?).ok()?;
        let value = match self.number()? {
            0 => Value::Unset,
            1 => Value::Text(self.bytes()?),
            2 => {
                let pairs = self.list(|from| Some((from.number()?, from.bytes()?)))?;
                Value::Indexed(BTreeMap::from_iter(pairs))
            }
            3 => {
                let mut map = Assoc::default();
                for (key, value) in self.list(|from| Some((from.bytes()?, from.bytes()?)))? {
                    map.insert(key, value);
                }
                Value::Assoc(map)
            }
            _ => return None,
        };
        Some(Var { value, flags })
    }
}
