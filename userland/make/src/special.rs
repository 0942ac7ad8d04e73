//! Special targets, processed after all makefiles are read.

use std::rc::Rc;

use crate::Make;
use crate::builtin::SUFFIXES;
use crate::file::{Age, FileId, Recipe};
use crate::pattern::Pattern;
use crate::rule::PatternRule;

impl Make {
    /// The prerequisites of a special target, or `None` if it is not defined.
    fn listed(&self, name: &[u8]) -> Option<Vec<FileId>> {
        let file = self.files.get(self.files.find(name)?);
        file.is_target.then(|| file.dependencies.iter().map(|dependency| dependency.file).collect())
    }

    /// Applies the special targets.
    pub(crate) fn know_special_targets(&mut self) {
        for file in self.listed(b".PHONY").unwrap_or_default() {
            let file = self.files.get_mut(file);
            file.phony = true;
            file.is_target = true;
            file.age = Some(Age::Missing);
        }
        for file in self.listed(b".PRECIOUS").unwrap_or_default() {
            self.files.get_mut(file).precious = true;
        }
        for file in self.listed(b".INTERMEDIATE").unwrap_or_default() {
            self.files.get_mut(file).intermediate = true;
        }
        match self.listed(b".SECONDARY") {
            Some(files) if files.is_empty() => self.all_secondary = true,
            files => {
                for file in files.unwrap_or_default() {
                    let file = self.files.get_mut(file);
                    (file.intermediate, file.secondary) = (true, true);
                }
            }
        }
        match self.listed(b".SILENT") {
            Some(files) if files.is_empty() => self.options.silent = true,
            files => files.unwrap_or_default().into_iter().for_each(|file| self.files.get_mut(file).silent = true),
        }
        match self.listed(b".IGNORE") {
            Some(files) if files.is_empty() => self.options.ignore_errors = true,
            files => {
                files.unwrap_or_default().into_iter().for_each(|file| self.files.get_mut(file).ignore_errors = true);
            }
        }
        self.delete_on_error |= self.listed(b".DELETE_ON_ERROR").is_some();
        self.export_all |= self.listed(b".EXPORT_ALL_VARIABLES").is_some();
    }

    /// The suffixes of `.SUFFIXES`, in order.
    fn suffixes(&self) -> Vec<Vec<u8>> {
        let own = self.listed(b".SUFFIXES").unwrap_or_default();
        let mut all: Vec<Vec<u8>> = match self.suffixes_cleared || self.options.no_builtin_rules {
            true => Vec::new(),
            false => SUFFIXES.split(' ').map(|suffix| suffix.as_bytes().to_vec()).collect(),
        };
        all.extend(own.iter().map(|file| self.files.get(*file).name.clone()));
        all
    }

    /// Converts suffix rules like `.c.o` to pattern rules.
    pub(crate) fn convert_suffix_rules(&mut self) {
        let suffixes = self.suffixes();
        let mut rules: Vec<(Vec<u8>, Vec<u8>, Rc<Recipe>)> = Vec::new();
        let recipe_of = |name: &[u8]| {
            let file = self.files.get(self.files.find(name)?);
            file.recipe.clone().filter(|_| file.dependencies.is_empty())
        };
        for from in &suffixes {
            if let Some(recipe) = recipe_of(from) {
                rules.push((Vec::new(), from.clone(), recipe));
            }
            for to in &suffixes {
                if let Some(recipe) = recipe_of(&[from.as_slice(), to].concat()) {
                    rules.push((to.clone(), from.clone(), recipe));
                }
            }
        }
        for (to, from, recipe) in rules {
            let target = Pattern { prefix: Vec::new(), suffix: Some(to) };
            let prerequisites = vec![([b"%", from.as_slice()].concat(), false)];
            let (targets, recipe) = (vec![target], Some(recipe));
            let rule = PatternRule { targets, prerequisites, recipe, terminal: false, in_use: false };
            self.add_pattern_rule(rule, false);
        }
    }

    /// The recipe of `.DEFAULT`.
    pub(crate) fn default_recipe(&self) -> Option<Rc<Recipe>> {
        self.files.find(b".DEFAULT").and_then(|file| self.files.get(file).recipe.clone())
    }
}
