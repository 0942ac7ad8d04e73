//! Variables: values, attributes, scopes.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasherDefault, Hasher};

use crate::ir::{Bytes, Name};

/// Exported to programs.
pub(crate) const EXPORT: u16 = 1;
/// Assignments fail.
pub(crate) const READONLY: u16 = 2;
/// Assigned text is evaluated.
pub(crate) const INTEGER: u16 = 4;
/// Assigned text becomes lower case.
pub(crate) const LOWER: u16 = 8;
/// Assigned text becomes upper case.
pub(crate) const UPPER: u16 = 16;
/// The value names another variable.
pub(crate) const NAMEREF: u16 = 32;
/// Made by `declare -a` or `-A`, perhaps without a value.
pub(crate) const TRACE: u16 = 64;

/// A hash without secrets: keys come from the script, which can only slow itself down, and a random seed would cost a
/// call at every start.
#[derive(Default)]
pub(crate) struct FnvHasher(u64);

impl Hasher for FnvHasher {
    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 29)
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    }

    fn write_usize(&mut self, value: usize) {
        self.0 = (self.0 ^ value as u64).wrapping_mul(0x100_0000_01b3) ^ 0xcbf2_9ce4_8422_2325;
    }
}

/// A map keyed by text of the script.
pub(crate) type Map<K, V> = HashMap<K, V, BuildHasherDefault<FnvHasher>>;

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Value {
    /// Declared without a value.
    #[default]
    Unset,
    Text(Bytes),
    Indexed(BTreeMap<u64, Bytes>),
    Assoc(Assoc),
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Var {
    pub(crate) value: Value,
    pub(crate) flags: u16,
}

impl Var {
    pub(crate) fn has(&self, flag: u16) -> bool {
        self.flags & flag != 0
    }

    /// What the name alone means: the text, or element 0 of an array.
    pub(crate) fn scalar(&self) -> Option<&Bytes> {
        match &self.value {
            Value::Unset => None,
            Value::Text(text) => Some(text),
            Value::Indexed(map) => map.get(&0),
            Value::Assoc(map) => map.get(b"0"),
        }
    }
}

/// An associative array. Its order is that of bash's hash table, because scripts print it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Assoc {
    map: HashMap<Bytes, (u64, Bytes), BuildHasherDefault<FnvHasher>>,
    inserted: u64,
}

impl Assoc {
    pub(crate) fn get(&self, key: &[u8]) -> Option<&Bytes> {
        self.map.get(key).map(|(_, value)| value)
    }

    pub(crate) fn insert(&mut self, key: Bytes, value: Bytes) {
        let seq = self.inserted;
        self.inserted += 1;
        self.map.entry(key).and_modify(|slot| slot.1.clone_from(&value)).or_insert((seq, value));
    }

    pub(crate) fn remove(&mut self, key: &[u8]) {
        self.map.remove(key);
    }

    pub(crate) fn clear(&mut self) {
        self.map.clear();
    }

    /// Keys and values, the oldest first: inserted again in this order they make the same array.
    pub(crate) fn in_order_of_insertion(&self) -> Vec<(&Bytes, &Bytes)> {
        let mut all: Vec<_> = self.map.iter().map(|(key, (seq, value))| (*seq, key, value)).collect();
        all.sort_by_key(|entry| entry.0);
        all.into_iter().map(|(_, key, value)| (key, value)).collect()
    }

    /// Keys and values in bash's order: by bucket of its FNV-1 hash, the newest of a bucket first.
    pub(crate) fn entries(&self) -> Vec<(&Bytes, &Bytes)> {
        let mut buckets = 1024_u32;
        while self.map.len() as u64 > u64::from(buckets) * 2 && buckets < 1 << 28 {
            buckets *= 4;
        }
        let mut all: Vec<_> = self
            .map
            .iter()
            .map(|(key, (seq, value))| ((bash_hash(key) & (buckets - 1), u64::MAX - seq), key, value))
            .collect();
        all.sort_by_key(|entry| entry.0);
        all.into_iter().map(|(_, key, value)| (key, value)).collect()
    }
}

fn bash_hash(key: &[u8]) -> u32 {
    key.iter().fold(2_166_136_261, |hash: u32, &byte| hash.wrapping_mul(16_777_619) ^ u32::from(byte))
}

/// A place in a variable.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Key {
    /// The variable itself.
    Whole,
    /// An element; negative counts from the end.
    Index(i64),
    Word(Bytes),
}

/// All variables. A function's locals replace the caller's here and are put back when it returns, so that finding a
/// variable never walks scopes.
#[derive(Debug, Default)]
pub(crate) struct Vars {
    map: Map<Name, Var>,
    /// For each call in progress, what its locals replaced.
    saved: Vec<Vec<(Name, Option<Var>)>>,
}

impl Vars {
    pub(crate) fn get(&self, name: &[u8]) -> Option<&Var> {
        self.map.get(name)
    }

    pub(crate) fn get_mut(&mut self, name: &[u8]) -> Option<&mut Var> {
        self.map.get_mut(name)
    }

    pub(crate) fn entry(&mut self, name: &Name) -> &mut Var {
        self.map.entry(Name::clone(name)).or_default()
    }

    pub(crate) fn insert(&mut self, name: Name, var: Var) {
        self.map.insert(name, var);
    }

    pub(crate) fn remove(&mut self, name: &[u8]) -> Option<Var> {
        self.map.remove(name)
    }

    /// All variables that are in force.
    pub(crate) fn all(&self) -> &Map<Name, Var> {
        &self.map
    }

    /// Ends every scope, so that what is left are the variables of the shell itself.
    pub(crate) fn leave_scopes(&mut self) {
        while !self.saved.is_empty() {
            self.pop_scope();
        }
    }

    /// All names, sorted.
    pub(crate) fn names(&self) -> Vec<Name> {
        let mut names: Vec<Name> = self.map.keys().map(Name::clone).collect();
        names.sort();
        names
    }

    /// `NAME=value` of everything exported.
    pub(crate) fn environment(&self) -> Vec<Bytes> {
        let mut lines = Vec::with_capacity(self.map.len());
        for (name, var) in &self.map {
            if var.has(EXPORT)
                && let Value::Text(text) = &var.value
            {
                let mut line = Vec::with_capacity(name.len() + text.len() + 1);
                line.extend_from_slice(name);
                line.push(b'=');
                line.extend_from_slice(text);
                lines.push(line);
            }
        }
        lines.sort();
        lines
    }

    /// Starts a scope, for a function's call or the assignments before a command.
    pub(crate) fn push_scope(&mut self) {
        self.saved.push(Vec::new());
    }

    /// Ends the newest scope and puts back what it replaced.
    pub(crate) fn pop_scope(&mut self) {
        for (name, var) in self.saved.pop().unwrap_or_default().into_iter().rev() {
            match var {
                Some(var) => self.map.insert(name, var),
                None => self.map.remove(&name),
            };
        }
    }

    /// Makes `name` local to the newest scope; says whether it was so already.
    pub(crate) fn make_local(&mut self, name: &Name) -> bool {
        let Some(scope) = self.saved.last_mut() else { return true };
        if scope.iter().any(|(saved, _)| saved == name) {
            return true;
        }
        scope.push((Name::clone(name), self.map.remove(name)));
        false
    }

    /// Names that the newest scope made local, sorted.
    pub(crate) fn locals(&self) -> Vec<Name> {
        let mut names: Vec<Name> = self
            .saved
            .last()
            .map(|scope| scope.iter().map(|(name, _)| Name::clone(name)).collect())
            .unwrap_or_default();
        names.sort();
        names
    }

    /// Follows references from `name` to the variable meant; a circle ends where it was noticed.
    pub(crate) fn resolve(&self, name: &[u8]) -> Option<Name> {
        let mut at: Option<Name> = None;
        for _ in 0..32 {
            let current: &[u8] = at.as_deref().unwrap_or(name);
            match self.map.get(current) {
                Some(var) if var.has(NAMEREF) => match &var.value {
                    Value::Text(target) if !target.is_empty() => at = Some(target.as_slice().into()),
                    _ => return at,
                },
                _ => return at,
            }
        }
        at
    }
}
