//! All variables by name, and the variables that calls in progress have replaced.

use super::assoc::bash_hash;
use super::map::Map;
use super::{EXPORT, Lines, NAMEREF, NamerefTarget, Value, Var};
use crate::ir::{Bytes, Name};

/// Maximum number of references to references.
const MAX_REFERENCES: u32 = 9;

/// Initial capacity, so that an ordinary environment needs one allocation.
const INITIAL_CAPACITY: usize = 28;

/// Bytes reserved for the line with the path of the program.
const ROOM: usize = 64;

/// All variables. A function's locals replace the caller's here, which are restored when it returns, so that finding a
/// variable never walks scopes.
#[derive(Debug)]
pub(crate) struct Vars {
    map: Map<Name, Var>,
    /// The replaced variables of each call in progress, and of commands with assignments before them.
    saved: Vec<Scope>,
    /// Lines of the environment whose names no variable can have.
    passed: Vec<Bytes>,
}

/// Variables that come back when it ends.
#[derive(Debug, Default)]
struct Scope {
    replaced: Vec<(Name, Option<Var>)>,
    /// It is that of assignments before a command, and no function's.
    temporary: bool,
}

impl Default for Vars {
    fn default() -> Self {
        let map = Map::with_capacity_and_hasher(INITIAL_CAPACITY, std::hash::BuildHasherDefault::default());
        Self { map, saved: Vec::new(), passed: Vec::new() }
    }
}

impl Vars {
    /// The variables of callers that have this name, too.
    pub(crate) fn replaced<'a>(&'a self, name: &'a [u8]) -> impl Iterator<Item = &'a Var> {
        let replaced = self.saved.iter().flat_map(|scope| &scope.replaced);
        replaced.filter(move |(known, _)| **known == *name).filter_map(|(_, var)| var.as_ref())
    }

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

    /// Ends every scope, so that only global variables remain.
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

    /// `NAME=value` of all exported variables, in the order of bash: assignments of the command first, then locals,
    /// then the rest, each by bucket of its hash table. One more line fits without allocation.
    pub(crate) fn environment(&self) -> Lines {
        let order = |depth: usize, name: &[u8]| (depth, bash_hash(name) & 1023);
        let mut all = Vec::with_capacity(self.map.len() + self.passed.len());
        for (name, var) in &self.map {
            // Programs get the variable that a local without a value hides.
            let var = if var.value == Value::Unset { self.hidden(name).unwrap_or(var) } else { var };
            if var.has(EXPORT)
                && name.as_ref() != b"_"
                && let Value::Text(text) = &var.value
            {
                all.push((order(self.depth_of(name), name), [&name[..], b"=", text]));
            }
        }
        for line in &self.passed {
            let name = line.split(|&byte| byte == b'=').next().unwrap_or_default();
            all.push((order(self.saved.len(), name), [line, b"", b""]));
        }
        all.sort_unstable();
        let bytes = all.iter().flat_map(|(_, parts)| parts).map(|part| part.len()).sum::<usize>();
        let mut lines = Lines::with_capacity(all.len() + 1, bytes + ROOM);
        for (_, parts) in &all {
            lines.push(parts);
        }
        lines
    }

    /// The newest variable with a value that scopes have replaced.
    fn hidden(&self, name: &[u8]) -> Option<&Var> {
        let found = self.saved.iter().rev().flat_map(|scope| &scope.replaced).filter(|(saved, _)| &**saved == name);
        found.filter_map(|(_, var)| var.as_ref()).find(|var| var.value != Value::Unset)
    }

    /// Stores a line of the environment whose name is not a valid variable name, for programs.
    pub(crate) fn pass_on(&mut self, line: Bytes) {
        self.passed.push(line);
    }

    /// Exchanges the current variables with those that the newest scope replaced, as before that scope.
    pub(crate) fn swap_newest(&mut self) {
        let Some(scope) = self.saved.last_mut() else { return };
        for (name, var) in &mut scope.replaced {
            let outer = std::mem::replace(var, self.map.remove(name));
            if let Some(outer) = outer {
                self.map.insert(Name::clone(name), outer);
            }
        }
    }

    /// Returns whether the name is that of a variable outside all functions.
    pub(crate) fn is_global(&self, name: &[u8]) -> bool {
        let mut calls = self.saved.iter().filter(|scope| !scope.temporary);
        !calls.any(|scope| scope.replaced.iter().any(|(saved, _)| &**saved == name))
    }

    /// Keeps the value of a variable that was assigned only for the newest call.
    pub(crate) fn keep_temporary(&mut self, name: &[u8]) {
        let call = self.saved.iter().rposition(|scope| !scope.temporary);
        let temporary = call.and_then(|at| self.saved.get_mut(at.checked_sub(1)?)).filter(|scope| scope.temporary);
        if let Some(scope) = temporary {
            scope.replaced.retain(|(saved, _)| &**saved != name);
        }
    }

    /// Number of scopes within the one that a variable belongs to.
    fn depth_of(&self, name: &[u8]) -> usize {
        let scopes = self.saved.iter().rev();
        let at = scopes.clone().position(|scope| scope.replaced.iter().any(|(saved, _)| &**saved == name));
        at.unwrap_or_else(|| scopes.count())
    }

    /// Starts a scope, for a function's call.
    pub(crate) fn push_scope(&mut self) {
        self.saved.push(Scope::default());
    }

    /// Starts a scope for the assignments before a command.
    pub(crate) fn push_temporary(&mut self) {
        self.saved.push(Scope { temporary: true, ..Scope::default() });
    }

    /// Ends the newest scope and restores the replaced variables.
    pub(crate) fn pop_scope(&mut self) {
        for (name, var) in self.saved.pop().unwrap_or_default().replaced.into_iter().rev() {
            match var {
                Some(var) => self.map.insert(name, var),
                None => self.map.remove(&name),
            };
        }
    }

    /// Makes `name` belong to the newest scope of assignments before a command; its value stays for now.
    pub(crate) fn make_temporary(&mut self, name: &Name) {
        if let Some(scope) = self.saved.last_mut()
            && !scope.replaced.iter().any(|(saved, _)| saved == name)
        {
            scope.replaced.push((Name::clone(name), self.map.get(name).cloned()));
        }
    }

    /// Keeps the value of a variable that was assigned only for commands in progress.
    pub(crate) fn keep(&mut self, name: &[u8]) {
        for scope in self.saved.iter_mut().rev().take_while(|scope| scope.temporary) {
            scope.replaced.retain(|(saved, _)| &**saved != name);
        }
    }

    /// Makes `name` local to the newest call. Returns whether it already was.
    pub(crate) fn make_local(&mut self, name: &Name) -> bool {
        let mut temporary = None;
        for scope in self.saved.iter_mut().rev() {
            let at = scope.replaced.iter().position(|(saved, _)| saved == name);
            if scope.temporary {
                // The local variable replaces the temporary one.
                if let Some(at) = at {
                    temporary = Some(scope.replaced.remove(at).1);
                }
                continue;
            }
            if at.is_some() {
                return true;
            }
            match temporary {
                Some(old) => {
                    scope.replaced.push((Name::clone(name), old));
                    return true;
                }
                None => scope.replaced.push((Name::clone(name), self.map.remove(name))),
            }
            return false;
        }
        true
    }

    /// Names that the newest call made local, sorted.
    pub(crate) fn locals(&self) -> Vec<Name> {
        let scope = self.saved.iter().rev().find(|scope| !scope.temporary);
        let mut names: Vec<Name> =
            scope.map(|scope| scope.replaced.iter().map(|(name, _)| Name::clone(name)).collect()).unwrap_or_default();
        names.sort();
        names
    }

    /// Returns whether the name was assigned for the newest call only.
    pub(crate) fn is_call_temporary(&self, name: &[u8]) -> bool {
        let mut scopes = self.saved.iter().rev().skip_while(|scope| scope.temporary).skip(1);
        let temporary = scopes.next().filter(|scope| scope.temporary);
        temporary.is_some_and(|scope| scope.replaced.iter().any(|(saved, _)| &**saved == name))
    }

    /// Returns whether the name was assigned for the current command only.
    pub(crate) fn is_command_temporary(&self, name: &[u8]) -> bool {
        self.saved
            .last()
            .is_some_and(|scope| scope.temporary && scope.replaced.iter().any(|(saved, _)| &**saved == name))
            || self.is_call_temporary(name)
    }

    /// Returns whether the newest call has a local variable of this name.
    pub(crate) fn is_local(&self, name: &[u8]) -> bool {
        let scope = self.saved.iter().rev().find(|scope| !scope.temporary);
        scope.is_some_and(|scope| scope.replaced.iter().any(|(saved, _)| &**saved == name))
    }

    /// Returns whether a call or a command hides the global variable of this name.
    pub(crate) fn is_replaced(&self, name: &[u8]) -> bool {
        self.saved.iter().any(|scope| scope.replaced.iter().any(|(saved, _)| &**saved == name))
    }

    /// Restores the variable that the newest scope with `name` replaced, as `unset` does with a local of a caller.
    pub(crate) fn restore_outer(&mut self, name: &[u8]) -> bool {
        for scope in self.saved.iter_mut().rev() {
            let Some(at) = scope.replaced.iter().position(|(saved, _)| &**saved == name) else { continue };
            let (name, var) = scope.replaced.remove(at);
            match var {
                Some(var) => self.map.insert(name, var),
                None => self.map.remove(&name),
            };
            return true;
        }
        false
    }

    /// Exchanges the current variable with the global one if calls have made the name local. Returns whether they have.
    pub(crate) fn swap_global(&mut self, name: &[u8]) -> bool {
        for scope in &mut self.saved {
            if let Some((name, var)) = scope.replaced.iter_mut().find(|(saved, _)| &**saved == name) {
                let outer = std::mem::replace(var, self.map.remove(name));
                if let Some(outer) = outer {
                    self.map.insert(Name::clone(name), outer);
                }
                return true;
            }
        }
        false
    }

    /// Follows references from `name` to the target.
    pub(crate) fn resolve_nameref(&self, name: &[u8]) -> NamerefTarget {
        let mut at: Option<Name> = None;
        for _ in 0..MAX_REFERENCES {
            let current: &[u8] = at.as_deref().unwrap_or(name);
            let target = match self.map.get(current) {
                Some(var) if var.has(NAMEREF) => match &var.value {
                    Value::Text(target) if !target.is_empty() => target,
                    _ => return NamerefTarget::Nothing(current.into()),
                },
                _ => return at.map_or(NamerefTarget::Own, NamerefTarget::Variable),
            };
            if target == current
                && self.saved.iter().any(|scope| scope.replaced.iter().any(|(saved, _)| **saved == **target))
            {
                return NamerefTarget::Global(current.into());
            }
            if target == current || target == name {
                return NamerefTarget::Circle;
            }
            if let Some(bracket) = target.iter().position(|&b| b == b'[') {
                let subscript = target.get(bracket + 1..target.len() - 1).unwrap_or_default();
                return NamerefTarget::Element(target.get(..bracket).unwrap_or_default().into(), subscript.to_vec());
            }
            at = Some(target.as_slice().into());
        }
        NamerefTarget::Nothing(name.into())
    }

    /// The variable of this name outside all functions.
    pub(crate) fn global(&self, name: &[u8]) -> Option<&Var> {
        match self.saved.iter().flat_map(|scope| &scope.replaced).find(|(saved, _)| **saved == *name) {
            Some((_, var)) => var.as_ref(),
            None => self.map.get(name),
        }
    }
}
