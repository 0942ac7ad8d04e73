//! Recording of parsed rules.

use std::rc::Rc;

use crate::Make;
use crate::failure::Stop;
use crate::file::{Dependency, FileId, Location, Recipe};
use crate::pattern::Pattern;
use crate::variable::{Origin, Variable};
use crate::words::words;

/// A parsed rule.
#[derive(Debug, Default)]
pub(crate) struct Rule {
    pub(crate) targets: Vec<Vec<u8>>,
    pub(crate) double_colon: bool,
    /// `&:`: one run of the recipe makes all targets.
    pub(crate) grouped: bool,
    pub(crate) static_pattern: Option<Pattern>,
    /// Expanded once.
    pub(crate) prerequisites: Vec<u8>,
    pub(crate) location: Option<Location>,
    pub(crate) lines: Option<Vec<(usize, Vec<u8>)>>,
}

/// A rule whose targets are patterns.
#[derive(Debug)]
pub(crate) struct PatternRule {
    pub(crate) targets: Vec<Pattern>,
    /// Names with a `%`, and whether they are order-only (after `|`).
    pub(crate) prerequisites: Vec<(Vec<u8>, bool)>,
    pub(crate) recipe: Option<Rc<Recipe>>,
    /// Double colon: the prerequisites must exist and cannot be made by a pattern themselves.
    pub(crate) terminal: bool,
    /// A search with this rule is in progress.
    pub(crate) in_use: bool,
}

impl Rule {
    /// Adds a recipe line, without its tab.
    pub(crate) fn add_line(&mut self, number: usize, line: Vec<u8>) {
        self.lines.get_or_insert_default().push((number, line));
    }
}

/// Parses prerequisites: names, and whether they are order-only (after `|`).
pub(crate) fn prerequisites(text: &[u8]) -> Vec<(Vec<u8>, bool)> {
    let bar = text.iter().position(|byte| *byte == b'|').unwrap_or(text.len());
    let normal = words(text.get(..bar).unwrap_or_default()).map(|word| (word.to_vec(), false));
    let ordered = words(text.get(bar + 1..).unwrap_or_default()).map(|word| (word.to_vec(), true));
    normal.chain(ordered).collect()
}

impl Make {
    /// Records a rule.
    pub(crate) fn record(&mut self, mut rule: Rule) -> Result<(), Stop> {
        for target in &rule.targets {
            match target.as_slice() {
                b".SECONDEXPANSION" => {
                    self.location.clone_from(&rule.location);
                    return Err(self.unsupported(target));
                }
                b".ONESHELL" => self.one_shell = true,
                b".POSIX" => self.posix = true,
                _ => {}
            }
        }
        let recipe = rule.lines.take().map(|lines| Rc::new(Recipe { location: rule.location.clone(), lines }));
        let outside = std::mem::replace(&mut self.location, rule.location.clone());
        let patterns: Vec<Pattern> = rule.targets.iter().map(|target| Pattern::parse(target)).collect();
        let done = if rule.static_pattern.is_none() && patterns.iter().any(Pattern::has_percent) {
            if patterns.iter().all(Pattern::has_percent) {
                self.record_pattern_rule(&rule, patterns, recipe);
                Ok(())
            } else {
                // Report the error; the line still applies to the plain targets.
                self.warn("*** mixed implicit and normal rules: deprecated syntax");
                let (implicit, plain): (Vec<Pattern>, Vec<Pattern>) =
                    patterns.into_iter().partition(Pattern::has_percent);
                self.record_pattern_rule(&rule, implicit, recipe.clone());
                rule.targets = plain.into_iter().map(|plain| plain.prefix).collect();
                self.record_targets(&rule, recipe)
            }
        } else {
            self.record_targets(&rule, recipe)
        };
        self.location = outside;
        done
    }

    fn record_pattern_rule(&mut self, rule: &Rule, targets: Vec<Pattern>, recipe: Option<Rc<Recipe>>) {
        let prerequisites = prerequisites(&rule.prerequisites);
        let added = PatternRule { targets, prerequisites, recipe, terminal: rule.double_colon, in_use: false };
        self.add_pattern_rule(added, true);
    }

    /// Adds a pattern rule. It replaces one with the same targets and prerequisites, unless that one takes precedence.
    pub(crate) fn add_pattern_rule(&mut self, added: PatternRule, replace: bool) {
        let same = |known: &PatternRule| known.targets == added.targets && known.prerequisites == added.prerequisites;
        match self.pattern_rules.iter().position(same) {
            Some(_) if !replace => return,
            Some(at) => {
                self.pattern_rules.remove(at);
            }
            None => {}
        }
        self.pattern_rules.push(added);
    }

    fn record_targets(&mut self, rule: &Rule, recipe: Option<Rc<Recipe>>) -> Result<(), Stop> {
        let listed = prerequisites(&rule.prerequisites);
        let mut group = Vec::new();
        for (at, target) in rule.targets.iter().enumerate() {
            let name = String::from_utf8_lossy(target).into_owned();
            if target == b".SUFFIXES" && listed.is_empty() {
                let file = self.files.enter(target);
                self.files.get_mut(file).dependencies.clear();
                self.suffixes_cleared = true;
                continue;
            }
            let mut stem = None;
            if let Some(pattern) = &rule.static_pattern {
                match pattern.stem(target).filter(|_| pattern.has_percent()) {
                    Some(found) => stem = Some(found.to_vec()),
                    None => {
                        self.warn(&format!("target '{name}' doesn't match the target pattern"));
                        continue;
                    }
                }
            }
            if rule.targets.iter().take(at).any(|before| before == target) {
                self.warn(&format!("target '{name}' given more than once in the same rule"));
                continue;
            }
            let file = self.target_of(target, rule.double_colon, &name)?;
            self.give_recipe(file, recipe.as_ref(), rule.double_colon, &name);
            let names = listed.iter().map(|(name, ordered)| match &stem {
                Some(stem) => (Pattern::parse(name).fill(stem), *ordered),
                None => (name.clone(), *ordered),
            });
            let names: Vec<(Vec<u8>, bool)> = names.collect();
            self.give_dependencies(file, &names, recipe.is_some());
            if stem.is_some() {
                self.files.get_mut(file).stem = stem;
            }
            group.push(file);
            self.maybe_default_goal(target);
        }
        if rule.grouped && recipe.is_some() {
            for file in &group {
                let others = group.iter().copied().filter(|other| other != file).collect();
                self.files.get_mut(*file).also_makes = others;
            }
        }
        Ok(())
    }

    /// The file entry that a rule for this target extends.
    fn target_of(&mut self, target: &[u8], double_colon: bool, name: &str) -> Result<FileId, Stop> {
        let file = self.files.enter(target);
        let known = self.files.get(file);
        if known.is_target && known.double_colon.is_some() != double_colon {
            return Err(self.fatal(format!("target file '{name}' has both : and :: entries")));
        }
        if double_colon {
            let further = if known.is_target { Some(self.files.add(target)) } else { None };
            let first = self.files.get_mut(file);
            first.is_target = true;
            first.explicit = true;
            first.double_colon.get_or_insert_default().extend(further);
            if let Some(further) = further {
                let rule = self.files.get_mut(further);
                (rule.is_target, rule.explicit) = (true, true);
                return Ok(further);
            }
            return Ok(file);
        }
        let known = self.files.get_mut(file);
        (known.is_target, known.explicit) = (true, true);
        Ok(file)
    }

    fn give_recipe(&mut self, file: FileId, recipe: Option<&Rc<Recipe>>, double_colon: bool, name: &str) {
        let Some(recipe) = recipe else { return };
        let old = self.files.get(file).recipe.clone();
        if let Some(location) = old.and_then(|old| old.location.clone()).filter(|_| !double_colon) {
            let here = self.location.clone();
            let first = recipe.lines.first().map_or(0, |(line, _)| *line);
            self.location = here.clone().map(|here| Location { line: first, ..here });
            self.warn(&format!("warning: overriding recipe for target '{name}'"));
            let first = self.files.get(file).recipe.as_ref().and_then(|old| old.lines.first().map(|(line, _)| *line));
            self.location = Some(Location { line: first.unwrap_or(location.line), ..location });
            self.warn(&format!("warning: ignoring old recipe for target '{name}'"));
            self.location = here;
        }
        self.files.get_mut(file).recipe = Some(Rc::clone(recipe));
    }

    /// Adds prerequisites; those of a rule with a recipe come first.
    pub(crate) fn give_dependencies(&mut self, file: FileId, names: &[(Vec<u8>, bool)], first: bool) {
        let mut added = Vec::new();
        for (word, order_only) in names {
            for name in self.files_matching(word, false) {
                let file = self.files.enter(&name);
                self.files.get_mut(file).explicit = true;
                added.push(Dependency { file, order_only: *order_only, changed: false });
            }
        }
        let known = &mut self.files.get_mut(file).dependencies;
        if first {
            added.append(known);
            *known = added;
        } else {
            known.append(&mut added);
        }
    }

    /// The first target is the default goal.
    fn maybe_default_goal(&mut self, target: &[u8]) {
        let goal = self.globals.get(b".DEFAULT_GOAL".as_slice()).is_some_and(|goal| !goal.value.is_empty());
        if goal || (target.starts_with(b".") && !target.contains(&b'/')) {
            return;
        }
        self.globals.insert(b".DEFAULT_GOAL".to_vec(), Variable::new(target, false, Origin::File));
    }
}
