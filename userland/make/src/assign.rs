//! Variable assignments: parsing and execution.

use crate::Make;
use crate::failure::Stop;
use crate::file::FileId;
use crate::pattern::Pattern;
use crate::variable::{Export, Origin, Scope, Variable, store};
use crate::words::{first_word, is_blank, reference_length, trim, trim_end, trim_start};

/// Kind of assignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    /// `=`
    Recursive,
    /// `:=` or `::=`
    Simple,
    /// `+=`
    Append,
    /// `?=`
    Conditional,
    /// `!=`
    Shell,
}

/// Modifiers before an assignment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Modifiers {
    pub(crate) export: Option<bool>,
    pub(crate) overrides: bool,
}

/// A line that assigns or defines a variable.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Definition<'t> {
    Assign {
        name: &'t [u8],
        operator: Operator,
        value: &'t [u8],
    },
    /// `define`, with the text after it.
    Define(&'t [u8]),
    /// `undefine` and `private`, which are not supported.
    Unsupported(&'t [u8]),
}

/// A pattern-specific variable.
#[derive(Clone, Debug)]
pub(crate) struct PatternVariable {
    pattern: Pattern,
    name: Vec<u8>,
    variable: Variable,
}

/// The parts of `name op value`; `None` if the text is not an assignment.
pub(crate) fn assignment(text: &[u8]) -> Option<(&[u8], Operator, &[u8])> {
    let text = trim_start(text);
    let mut at = 0;
    let mut blank = false;
    loop {
        let byte = *text.get(at)?;
        let behind = text.get(at + 1..).unwrap_or_default();
        let found = match (byte, behind) {
            (b'#', _) => return None,
            (b'$', _) => {
                at += reference_length(text.get(at..).unwrap_or_default());
                continue;
            }
            (byte, _) if is_blank(byte) => {
                blank = true;
                at += 1;
                continue;
            }
            (b'=', _) => Some((Operator::Recursive, 1)),
            (b':', [b'=', ..]) => Some((Operator::Simple, 2)),
            (b':', [b':', b'=', ..]) => Some((Operator::Simple, 3)),
            (b'+', [b'=', ..]) => Some((Operator::Append, 2)),
            (b'?', [b'=', ..]) => Some((Operator::Conditional, 2)),
            (b'!', [b'=', ..]) => Some((Operator::Shell, 2)),
            (b':', _) => return None,
            _ => None,
        };
        if let Some((operator, length)) = found {
            let name = trim_end(text.get(..at).unwrap_or_default());
            return Some((name, operator, trim_start(text.get(at + length..).unwrap_or_default())));
        }
        if blank {
            return None;
        }
        at += 1;
    }
}

/// Parses a line that assigns or defines; `None` for other lines.
pub(crate) fn definition(text: &[u8], of_target: bool) -> Option<(Modifiers, Definition<'_>)> {
    let mut rest = trim_start(text);
    let mut modifiers = Modifiers::default();
    loop {
        if let Some((name, operator, value)) = assignment(rest) {
            return Some((modifiers, Definition::Assign { name, operator, value }));
        }
        let (word, behind) = first_word(rest);
        match word {
            b"export" => modifiers.export = Some(true),
            b"unexport" => modifiers.export = Some(false),
            b"override" => modifiers.overrides = true,
            b"private" => return Some((modifiers, Definition::Unsupported(word))),
            b"define" if !of_target => return Some((modifiers, Definition::Define(behind))),
            b"undefine" if !of_target => return Some((modifiers, Definition::Unsupported(word))),
            _ => return None,
        }
        rest = behind;
        if rest.is_empty() {
            return None;
        }
    }
}

impl Make {
    /// Executes an assignment to a global variable. Expands `name`.
    pub(crate) fn assign(
        &mut self,
        name: &[u8],
        operator: Operator,
        value: &[u8],
        modifiers: Modifiers,
        origin: Origin,
    ) -> Result<(), Stop> {
        let name = self.variable_name(name)?;
        let origin = if modifiers.overrides { Origin::Override } else { origin };
        let known =
            self.globals.get(&name).map(|variable| (variable.recursive, variable.value.clone(), variable.origin));
        let (value, recursive) = match (operator, known) {
            (Operator::Conditional, Some(_)) => {
                self.mark(&name, modifiers);
                return Ok(());
            }
            (Operator::Recursive | Operator::Conditional, _) => (value.to_vec(), true),
            (Operator::Simple, _) => (self.expand(value)?, false),
            (Operator::Shell, _) => {
                let command = self.expand(value)?;
                let mut out = Vec::new();
                self.shell(&command, &mut out)?;
                (out, true)
            }
            (Operator::Append, None) => (value.to_vec(), true),
            (Operator::Append, Some((recursive, mut old, _))) => {
                let more = if recursive { value.to_vec() } else { self.expand(value)? };
                if !old.is_empty() && !more.is_empty() {
                    old.push(b' ');
                }
                old.extend_from_slice(&more);
                (old, recursive)
            }
        };
        let variable = Variable { location: self.location.clone(), ..Variable::new(value, recursive, origin) };
        self.set_global(&name, variable);
        self.mark(&name, modifiers);
        self.variable_was_set(&name);
        Ok(())
    }

    fn variable_name(&mut self, name: &[u8]) -> Result<Vec<u8>, Stop> {
        let name = trim(&self.expand(name)?).to_vec();
        if name.is_empty() { Err(self.fatal("empty variable name".to_owned())) } else { Ok(name) }
    }

    /// Records whether a variable is exported.
    fn mark(&mut self, name: &[u8], modifiers: Modifiers) {
        if let (Some(export), Some(variable)) = (modifiers.export, self.globals.get_mut(name)) {
            variable.export = if export { Export::Yes } else { Export::No };
        }
    }

    /// Variables with an effect on make itself.
    fn variable_was_set(&mut self, name: &[u8]) {
        match name {
            b".RECIPEPREFIX" => {
                let value = self.globals.get(name).and_then(|variable| variable.value.first().copied());
                self.recipe_prefix = value.unwrap_or(b'\t');
            }
            b"MAKEFLAGS" => self.flags_changed = true,
            _ => {}
        }
    }

    /// `target ...: name = value`
    pub(crate) fn assign_for_targets(
        &mut self,
        targets: &[Vec<u8>],
        (name, operator, value): (&[u8], Operator, &[u8]),
        modifiers: Modifiers,
    ) -> Result<(), Stop> {
        let name = self.variable_name(name)?;
        let origin = if modifiers.overrides { Origin::Override } else { Origin::File };
        for target in targets {
            let pattern = Pattern::parse(target);
            let file = (!pattern.has_percent()).then(|| self.files.enter(target));
            let outside = self.target;
            self.target = file.or(outside);
            let made = self.target_variable(file, &name, operator, value);
            self.target = outside;
            let Some(made) = made? else { continue };
            let export = match modifiers.export {
                None => Export::Default,
                Some(true) => Export::Yes,
                Some(false) => Export::No,
            };
            let location = self.location.clone();
            let mut variable = Variable { origin, export, location, ..made };
            // Command line assignments apply to all targets.
            let stronger = self.globals.get(&name).filter(|global| global.origin > origin);
            if let Some(global) = stronger.filter(|global| global.origin != Origin::Automatic) {
                variable = Variable { export, ..global.clone() };
            }
            match file {
                Some(file) => put(&mut self.files.get_mut(file).variables, &name, variable),
                None => self.add_pattern_variable(PatternVariable { pattern, name: name.clone(), variable }),
            }
        }
        Ok(())
    }

    /// The variable that an assignment creates for a target; `None` if the target already has one.
    fn target_variable(
        &mut self,
        file: Option<FileId>,
        name: &[u8],
        operator: Operator,
        value: &[u8],
    ) -> Result<Option<Variable>, Stop> {
        let variable = match operator {
            Operator::Conditional if self.find_variable(name, None).is_some() => return Ok(None),
            Operator::Recursive | Operator::Conditional => Variable::new(value, true, Origin::File),
            Operator::Simple => Variable::new(self.expand(value)?, false, Origin::File),
            Operator::Shell => {
                let command = self.expand(value)?;
                let mut out = Vec::new();
                self.shell(&command, &mut out)?;
                Variable::new(out, true, Origin::File)
            }
            Operator::Append => {
                let own =
                    file.and_then(|file| self.files.get(file).variables.get(name)).is_some_and(|own| !own.recursive);
                let outer = self.globals.get(name).is_some_and(|outer| !outer.recursive);
                if own || outer {
                    Variable { append: true, ..Variable::new(self.expand(value)?, false, Origin::File) }
                } else {
                    Variable { append: true, ..Variable::new(value, true, Origin::File) }
                }
            }
        };
        Ok(Some(variable))
    }

    /// Apply shorter patterns first: longer ones are more specific and override them.
    fn add_pattern_variable(&mut self, added: PatternVariable) {
        let length = |known: &PatternVariable| known.pattern.text().len();
        let at = self.pattern_variables.partition_point(|known| length(known) <= length(&added));
        self.pattern_variables.insert(at, added);
    }

    /// Gives a target the variables of all matching patterns.
    pub(crate) fn know_pattern_variables(&mut self, file: FileId) {
        if std::mem::replace(&mut self.files.get_mut(file).pattern_variables_known, true) {
            return;
        }
        let name = self.files.get(file).name.clone();
        for known in &self.pattern_variables {
            if known.pattern.stem(&name).is_some_and(|stem| !stem.is_empty()) {
                put(&mut self.files.get_mut(file).pattern_variables, &known.name, known.variable.clone());
            }
        }
    }

    /// `export` and `unexport` without an assignment.
    pub(crate) fn export_names(&mut self, names: &[u8], export: bool) -> Result<(), Stop> {
        if names.is_empty() {
            self.export_all = export;
            return Ok(());
        }
        let names = self.expand(names)?;
        for name in crate::words::words(&names) {
            let origin = Origin::File;
            let variable =
                self.globals.entry(name.to_vec()).or_insert_with(|| Variable::new(Vec::new(), false, origin));
            variable.export = if export { Export::Yes } else { Export::No };
        }
        Ok(())
    }
}

/// Stores a target-specific variable. Appended text joins the target's own value.
fn put(scope: &mut Scope, name: &[u8], variable: Variable) {
    if variable.append
        && let Some(known) = scope.get_mut(name)
    {
        if !known.value.is_empty() && !variable.value.is_empty() {
            known.value.push(b' ');
        }
        known.value.extend_from_slice(&variable.value);
        return;
    }
    store(scope, name, variable);
}

#[cfg(test)]
mod tests {
    use super::{Operator, assignment};

    #[test]
    fn assignments_are_not_rules() {
        assert_eq!(assignment(b"a = b"), Some((b"a".as_slice(), Operator::Recursive, b"b".as_slice())));
        assert_eq!(assignment(b"a:=b"), Some((b"a".as_slice(), Operator::Simple, b"b".as_slice())));
        assert_eq!(assignment(b"a ::= b"), Some((b"a".as_slice(), Operator::Simple, b"b".as_slice())));
        assert_eq!(assignment(b"$(x y) += b "), Some((b"$(x y)".as_slice(), Operator::Append, b"b ".as_slice())));
        assert_eq!(assignment(b"a: b=c"), None);
        assert_eq!(assignment(b"a b = c"), None);
        assert_eq!(assignment(b"a?b=c"), Some((b"a?b".as_slice(), Operator::Recursive, b"c".as_slice())));
    }
}
