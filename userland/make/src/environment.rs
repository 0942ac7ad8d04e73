//! Environment of recipe commands.

use std::collections::BTreeMap;

use crate::Make;
use crate::failure::Stop;
use crate::variable::{Export, Origin, Variable};

impl Make {
    /// The environment of a recipe line of the current target.
    pub(super) fn environment(&mut self) -> Result<Vec<Vec<u8>>, Stop> {
        let mut names: BTreeMap<Vec<u8>, bool> = BTreeMap::new();
        for place in self.places() {
            let Some(scope) = self.scope(place) else { continue };
            for (name, variable) in scope {
                if !names.contains_key(name) {
                    names.insert(name.clone(), self.is_exported(name, variable));
                }
            }
        }
        let mut environment = Vec::new();
        for (name, _) in names.into_iter().filter(|(_, exported)| *exported) {
            let value = match name.as_slice() {
                b"MAKELEVEL" => (self.level + 1).to_string().into_bytes(),
                b"SHELL" if self.globals.get(&name).is_some_and(|shell| shell.export != Export::Yes) => continue,
                _ => self.value(&name)?,
            };
            environment.push([name.as_slice(), b"=", &value].concat());
        }
        if let Some(shell) = &self.outer_shell {
            environment.push([b"SHELL=", shell.as_slice()].concat());
        }
        Ok(environment)
    }

    /// Returns whether a variable is exported.
    fn is_exported(&self, name: &[u8], variable: &Variable) -> bool {
        if matches!(name, b"MAKELEVEL" | b"MAKEFLAGS") {
            return variable.export != Export::No;
        }
        let legal = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let target = name.iter().all(legal) && !name.first().is_some_and(u8::is_ascii_digit);
        // A target-specific variable is exported if the global one of the same name is.
        let global = self.globals.get(name);
        match variable.export {
            Export::Yes => true,
            Export::No => false,
            Export::Default => match global.map(|global| (global.export, global.origin)) {
                Some((Export::Yes, _)) => true,
                Some((Export::No, _)) => false,
                Some((_, Origin::Environment | Origin::EnvironmentOverride)) => true,
                _ => match variable.origin {
                    Origin::Default | Origin::Automatic => false,
                    Origin::Environment | Origin::EnvironmentOverride => true,
                    Origin::CommandLine => target,
                    Origin::File | Origin::Override => {
                        (self.export_all && target) || self.inherited_environment.contains(name)
                    }
                },
            },
        }
    }
}
