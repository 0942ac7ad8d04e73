//! Implicit rule search for a target without a recipe.

use std::rc::Rc;

use crate::Make;
use crate::failure::Stop;
use crate::file::{Dependency, FileId, Recipe};
use crate::pattern::Pattern;

/// Maximum length of a chain of implicit rules.
const MAX_CHAIN: usize = 100;

/// A rule that matches a name.
#[derive(Debug)]
struct Candidate {
    rule: usize,
    /// Index of the matching target.
    target: usize,
    stem: Vec<u8>,
    /// The directory was removed before matching.
    folded: bool,
}

/// An implicit rule that makes a target.
#[derive(Debug)]
pub(crate) struct ImplicitRule {
    stem: Vec<u8>,
    recipe: Rc<Recipe>,
    needs: Vec<Need>,
    also: Vec<Vec<u8>>,
}

/// A prerequisite from a rule.
#[derive(Debug)]
struct Need {
    name: Vec<u8>,
    order_only: bool,
    /// The rule for it, if it neither exists nor is mentioned.
    way: Option<ImplicitRule>,
    /// It is named explicitly in the rule, without a `%`.
    named: bool,
}

impl Make {
    /// Finds a rule for a target and gives the target its prerequisites and recipe.
    pub(crate) fn try_implicit_rule(&mut self, file: FileId) -> Result<(), Stop> {
        if std::mem::replace(&mut self.files.get_mut(file).tried_implicit, true) {
            return Ok(());
        }
        let name = self.files.get(file).name.clone();
        if let Some(way) = self.search(&name, Some(file), 0)? {
            self.take(file, way);
        }
        Ok(())
    }

    fn take(&mut self, file: FileId, way: ImplicitRule) {
        let mut dependencies = Vec::with_capacity(way.needs.len());
        for need in way.needs {
            let known = self.files.find(&need.name);
            let needed = self.files.enter(&need.name);
            if let Some(way) = need.way {
                self.take(needed, way);
                let made = self.files.get_mut(needed);
                made.tried_implicit = true;
                if !made.explicit && !need.named {
                    made.intermediate = true;
                }
            }
            if need.named || known.is_some_and(|known| self.files.get(known).explicit) {
                self.files.get_mut(needed).explicit = true;
            }
            dependencies.push(Dependency { file: needed, order_only: need.order_only, changed: false });
        }
        let mut also = Vec::new();
        for name in &way.also {
            let other = self.files.enter(name);
            also.push(other);
        }
        for other in &also {
            let file = self.files.get_mut(*other);
            file.tried_implicit = true;
            file.is_target = true;
        }
        let taken = self.files.get_mut(file);
        dependencies.append(&mut taken.dependencies);
        taken.dependencies = dependencies;
        taken.recipe = Some(way.recipe);
        taken.stem = Some(way.stem);
        taken.also_makes.extend(also);
        taken.is_target = true;
    }

    /// The rules that match a name, shortest stems first.
    fn candidates(&self, name: &[u8], depth: usize) -> Vec<Candidate> {
        let slash = name.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
        let (folder, base) = (name.get(..slash).unwrap_or_default(), name.get(slash..).unwrap_or_default());
        let mut found = Vec::new();
        let mut specific = false;
        for (at, rule) in self.pattern_rules.iter().enumerate() {
            if rule.in_use || rule.recipe.is_none() {
                continue;
            }
            for (which, target) in rule.targets.iter().enumerate() {
                let anything = target.prefix.is_empty() && target.suffix.as_deref() == Some(b"");
                if anything && !rule.terminal && depth > 0 {
                    continue;
                }
                let whole = target.prefix.contains(&b'/') || target.suffix.as_ref().is_some_and(|s| s.contains(&b'/'));
                let folded = !folder.is_empty() && !whole;
                let Some(stem) = target.stem(if folded { base } else { name }) else {
                    continue;
                };
                if stem.is_empty() {
                    continue;
                }
                specific |= !anything;
                found.push((
                    anything && !rule.terminal,
                    Candidate { rule: at, target: which, stem: stem.to_vec(), folded },
                ));
            }
        }
        // A name that matches a specific rule is not made by a match-anything rule.
        found.retain(|(anything, _)| !(*anything && specific));
        let mut found: Vec<Candidate> = found.into_iter().map(|(_, candidate)| candidate).collect();
        found.sort_by_key(|candidate| candidate.stem.len());
        found
    }

    /// Finds a way to make `name`.
    fn search(&mut self, name: &[u8], file: Option<FileId>, depth: usize) -> Result<Option<ImplicitRule>, Stop> {
        if depth >= MAX_CHAIN || name.ends_with(b"/") {
            return Ok(None);
        }
        let candidates = self.candidates(name, depth);
        for chained in [false, true] {
            for candidate in &candidates {
                if let Some(way) = self.try_candidate(name, file, candidate, chained, depth)? {
                    return Ok(Some(way));
                }
            }
        }
        Ok(None)
    }

    fn try_candidate(
        &mut self,
        name: &[u8],
        file: Option<FileId>,
        candidate: &Candidate,
        chained: bool,
        depth: usize,
    ) -> Result<Option<ImplicitRule>, Stop> {
        let Some(rule) = self.pattern_rules.get_mut(candidate.rule).filter(|rule| !rule.in_use) else {
            return Ok(None);
        };
        // A rule without prerequisites cannot be chained, and the first pass has already tried it.
        let (terminal, Some(recipe)) = (rule.terminal, rule.recipe.clone()) else {
            return Ok(None);
        };
        if terminal && chained {
            return Ok(None);
        }
        rule.in_use = true;
        let needs = self.needs_of(name, file, candidate, chained, terminal, depth);
        if let Some(rule) = self.pattern_rules.get_mut(candidate.rule) {
            rule.in_use = false;
        }
        let Some(needs) = needs? else {
            return Ok(None);
        };
        let slash = name.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
        let folder = if candidate.folded { name.get(..slash).unwrap_or_default() } else { b"" };
        let others = self.pattern_rules.get(candidate.rule).map(|rule| rule.targets.as_slice()).unwrap_or_default();
        let others = others.iter().enumerate().filter(|(at, _)| *at != candidate.target);
        let also = others.map(|(_, target)| [folder, &target.fill(&candidate.stem)].concat()).collect();
        let stem = [folder, &candidate.stem].concat();
        Ok(Some(ImplicitRule { stem, recipe, needs, also }))
    }

    /// The prerequisites of a rule for a name, if all of them exist or can be made.
    fn needs_of(
        &mut self,
        name: &[u8],
        file: Option<FileId>,
        candidate: &Candidate,
        chained: bool,
        terminal: bool,
        depth: usize,
    ) -> Result<Option<Vec<Need>>, Stop> {
        let slash = name.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
        let folder = if candidate.folded { name.get(..slash).unwrap_or_default() } else { b"" };
        let mut needs = Vec::new();
        let wanted = self.pattern_rules.get(candidate.rule).map(|rule| rule.prerequisites.clone());
        for (word, order_only) in wanted.unwrap_or_default() {
            let pattern = Pattern::parse(&word);
            let named = !pattern.has_percent();
            let needed = match named {
                true => vec![pattern.prefix],
                false => vec![[folder, &pattern.fill(&candidate.stem)].concat()],
            };
            let needed: Vec<Vec<u8>> = needed.iter().flat_map(|need| self.files_matching(need, false)).collect();
            for need in needed {
                if need == name {
                    return Ok(None);
                }
                let mut way = None;
                let own = file.is_some_and(|file| {
                    let listed = &self.files.get(file).dependencies;
                    listed.iter().any(|known| self.files.get(known.file).name == need)
                });
                if !own && !self.ought_to_exist(&need) {
                    if terminal || !chained {
                        return Ok(None);
                    }
                    way = self.search(&need, None, depth + 1)?;
                    if way.is_none() {
                        return Ok(None);
                    }
                }
                needs.push(Need { name: need, order_only, way, named });
            }
        }
        Ok(Some(needs))
    }

    /// Returns whether a file exists, or is a target or prerequisite.
    fn ought_to_exist(&mut self, name: &[u8]) -> bool {
        let named = self.files.find(name).is_some_and(|file| {
            let file = self.files.get(file);
            file.is_target || file.explicit
        });
        named || tidebox_rt::stat(name, true).is_ok() || self.search_vpath(name).is_some()
    }
}
