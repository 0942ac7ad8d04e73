//! Updating of targets.

use crate::Make;
use crate::failure::{Stop, TROUBLE};
use crate::file::{Age, FileId, Progress};

/// Maximum depth of the dependency graph.
const MAX_CHAIN: usize = 1500;

/// Result of updating a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Outcome {
    Fine,
    /// `-q`: the target is out of date.
    Question,
    Failed,
}

impl Outcome {
    fn of(progress: Progress) -> Self {
        match progress {
            Progress::Failed => Self::Failed,
            Progress::Question => Self::Question,
            Progress::Waiting | Progress::Updating | Progress::Done => Self::Fine,
        }
    }
}

/// Summary of a target's prerequisites.
#[derive(Debug)]
struct PrerequisiteSummary {
    must_make: bool,
    outcome: Outcome,
}

impl Make {
    /// Updates the goals in order. Returns the exit code.
    pub(crate) fn make_goals(&mut self, goals: &[Vec<u8>]) -> Result<i32, Stop> {
        let mut worst = Outcome::Fine;
        for goal in goals {
            let file = self.files.enter(goal);
            let before = self.commands_started;
            let outcome = self.update(file, 0)?;
            worst = worst.max(outcome);
            let quiet = self.options.silent || self.options.question;
            if outcome == Outcome::Fine && self.commands_started == before && !quiet {
                let target = self.files.get(file);
                let name = String::from_utf8_lossy(&target.name).into_owned();
                let line = match target.phony || target.recipe.is_none() {
                    true => format!("{}: Nothing to be done for '{name}'.\n", self.called()),
                    false => format!("{}: '{name}' is up to date.\n", self.called()),
                };
                self.print(line.as_bytes());
            }
            if outcome == Outcome::Failed && !self.options.keep_going {
                break;
            }
        }
        Ok(match worst {
            Outcome::Fine => 0,
            Outcome::Question => 1,
            Outcome::Failed => TROUBLE,
        })
    }

    /// Updates a target by all of its rules.
    pub(crate) fn update(&mut self, file: FileId, depth: usize) -> Result<Outcome, Stop> {
        if depth > MAX_CHAIN {
            return Err(self.fatal_nowhere(&format!("targets depend on each other in chains longer than {MAX_CHAIN}")));
        }
        let further = self.files.get(file).double_colon.clone().unwrap_or_default();
        let parent = self.files.get(file).parent;
        let mut worst = self.update_rule(file, depth)?;
        for rule in further {
            if worst == Outcome::Failed && !self.options.keep_going {
                break;
            }
            self.files.get_mut(rule).parent = parent;
            self.files.get_mut(rule).double_colon.get_or_insert_default();
            worst = worst.max(self.update_rule(rule, depth)?);
            // Dependents use the state of the first rule.
            if self.files.get(rule).ran {
                self.files.get_mut(file).age = self.files.get(rule).age;
            }
        }
        Ok(worst)
    }

    fn update_rule(&mut self, file: FileId, depth: usize) -> Result<Outcome, Stop> {
        match self.files.get(file).progress {
            Progress::Waiting => {}
            Progress::Failed => {
                if !self.files.get(file).reported {
                    self.no_rule(file);
                }
                return Ok(Outcome::Failed);
            }
            done => return Ok(Outcome::of(done)),
        }
        self.files.get_mut(file).progress = Progress::Updating;
        self.know_pattern_variables(file);
        let this_age = self.age(file);
        let missing = this_age == Age::Missing;
        self.find_recipe(file)?;
        let mut verdict = PrerequisiteSummary { must_make: missing, outcome: Outcome::Fine };
        self.look_at_dependencies(file, this_age, depth, &mut verdict)?;
        if verdict.must_make || self.options.always_make {
            self.make_intermediates(file, depth, &mut verdict)?;
        }
        if verdict.outcome != Outcome::Fine {
            self.finish(file, verdict.outcome);
            if depth == 0 && self.options.keep_going && !self.options.just_print && !self.options.question {
                let name = String::from_utf8_lossy(&self.files.get(file).name).into_owned();
                self.error(&format!("Target '{name}' not remade because of errors."));
            }
            return Ok(verdict.outcome);
        }
        if !self.must_make(file, this_age, verdict.must_make) {
            self.finish(file, Outcome::Fine);
            return Ok(Outcome::Fine);
        }
        // It is created under its own name, wherever `VPATH` found the old one.
        self.files.get_mut(file).found_at = None;
        self.remake(file)
    }

    /// Searches an implicit rule for a target without a recipe.
    fn find_recipe(&mut self, file: FileId) -> Result<(), Stop> {
        let target = self.files.get(file);
        if !target.phony && target.recipe.is_none() && !target.tried_implicit {
            self.try_implicit_rule(file)?;
        }
        let target = self.files.get(file);
        if target.recipe.is_none() && !target.is_target {
            let recipe = self.default_recipe();
            self.files.get_mut(file).recipe = recipe;
        }
        Ok(())
    }

    /// Updates the prerequisites that are not intermediate files.
    fn look_at_dependencies(
        &mut self,
        file: FileId,
        this_age: Age,
        depth: usize,
        verdict: &mut PrerequisiteSummary,
    ) -> Result<(), Stop> {
        let mut at = 0;
        while let Some(dependency) = self.files.get(file).dependencies.get(at).cloned() {
            let needed = dependency.file;
            if self.is_circular(file, needed) {
                self.files.get_mut(file).dependencies.remove(at);
                continue;
            }
            let before = self.age(needed);
            self.files.get_mut(needed).parent = Some(file);
            let mut must_make = verdict.must_make;
            let outcome = self.check(needed, depth, this_age, &mut must_make)?;
            verdict.outcome = verdict.outcome.max(outcome);
            if !dependency.order_only {
                verdict.must_make = must_make;
            }
            self.note_change(file, at, before);
            if verdict.outcome == Outcome::Failed && !self.options.keep_going {
                break;
            }
            at += 1;
        }
        Ok(())
    }

    fn is_circular(&mut self, file: FileId, needed: FileId) -> bool {
        if self.files.get(needed).progress != Progress::Updating && needed != file {
            return false;
        }
        let name = |file: FileId| String::from_utf8_lossy(&self.files.get(file).name).into_owned();
        let line = format!("Circular {} <- {} dependency dropped.", name(file), name(needed));
        self.error(&line);
        true
    }

    /// Records whether a prerequisite has changed since the given modification time.
    fn note_change(&mut self, file: FileId, at: usize, before: Age) {
        let Some(needed) = self.files.get(file).dependencies.get(at).map(|dependency| dependency.file) else {
            return;
        };
        let after = self.age(needed);
        let target = self.files.get_mut(file);
        let always = target.phony && target.recipe.is_some();
        if let Some(dependency) = target.dependencies.get_mut(at) {
            dependency.changed = always || after != before;
        }
    }

    /// Updates the intermediate files among the prerequisites.
    fn make_intermediates(
        &mut self,
        file: FileId,
        depth: usize,
        verdict: &mut PrerequisiteSummary,
    ) -> Result<(), Stop> {
        let dependencies = self.files.get(file).dependencies.clone();
        for (at, dependency) in dependencies.iter().enumerate() {
            if verdict.outcome == Outcome::Failed && !self.options.keep_going {
                break;
            }
            if !self.is_intermediate(dependency.file) {
                continue;
            }
            let before = self.age(dependency.file);
            self.files.get_mut(dependency.file).parent = Some(file);
            verdict.outcome = verdict.outcome.max(self.update(dependency.file, depth + 1)?);
            self.note_change(file, at, before);
        }
        Ok(())
    }

    fn is_intermediate(&self, file: FileId) -> bool {
        self.files.get(file).intermediate
    }

    /// Updates one prerequisite. Returns whether its target must be rebuilt.
    fn check(&mut self, needed: FileId, depth: usize, this_age: Age, must_make: &mut bool) -> Result<Outcome, Stop> {
        if self.files.get(needed).phony || !self.is_intermediate(needed) {
            let outcome = self.update(needed, depth + 1)?;
            let age = self.age(needed);
            *must_make |= age == Age::Missing || age > this_age;
            return Ok(outcome);
        }
        let age = self.age(needed);
        if age != Age::Missing && age > this_age {
            *must_make = true;
            return Ok(Outcome::Fine);
        }
        // A missing intermediate file is made only if something it depends on is newer.
        if depth > MAX_CHAIN {
            return Ok(Outcome::Fine);
        }
        let progress = std::mem::replace(&mut self.files.get_mut(needed).progress, Progress::Updating);
        self.find_recipe(needed)?;
        let mut worst = Outcome::Fine;
        let mut at = 0;
        while let Some(dependency) = self.files.get(needed).dependencies.get(at).cloned() {
            if self.is_circular(needed, dependency.file) {
                self.files.get_mut(needed).dependencies.remove(at);
                continue;
            }
            self.files.get_mut(dependency.file).parent = Some(needed);
            let mut wanted = *must_make;
            worst = worst.max(self.check(dependency.file, depth + 1, this_age, &mut wanted)?);
            if !dependency.order_only {
                *must_make = wanted;
            }
            if worst == Outcome::Failed && !self.options.keep_going {
                break;
            }
            at += 1;
        }
        self.files.get_mut(needed).progress = progress;
        Ok(worst)
    }

    /// Returns whether a target must be rebuilt, and marks the newer prerequisites.
    fn must_make(&mut self, file: FileId, this_age: Age, wanted: bool) -> bool {
        let missing = this_age == Age::Missing;
        let (mut must_make, mut dependencies_changed) = (wanted, false);
        for at in 0..self.files.get(file).dependencies.len() {
            let Some(dependency) = self.files.get(file).dependencies.get(at).cloned() else { break };
            let age = self.age(dependency.file);
            if !dependency.order_only {
                must_make |= age == Age::Missing && !self.is_intermediate(dependency.file);
                dependencies_changed |= dependency.changed;
            }
            if let Some(dependency) = self.files.get_mut(file).dependencies.get_mut(at) {
                dependency.changed |= missing || age > this_age;
            }
        }
        let target = self.files.get(file);
        if target.double_colon.is_some() && target.dependencies.is_empty() {
            return true;
        }
        let bare = target.recipe.is_none();
        if !missing && target.is_target && !dependencies_changed && bare && !self.options.always_make {
            return false;
        }
        must_make || (!bare && self.options.always_make)
    }

    fn remake(&mut self, file: FileId) -> Result<Outcome, Stop> {
        let target = self.files.get(file);
        let outcome = if let Some(recipe) = target.recipe.clone() {
            self.run_recipe(file, &recipe)?
        } else if target.phony || target.is_target {
            Outcome::Fine
        } else {
            self.no_rule(file);
            Outcome::Failed
        };
        self.finish_made(file, outcome);
        Ok(outcome)
    }

    /// An up-to-date target.
    fn finish(&mut self, file: FileId, outcome: Outcome) {
        let target = self.files.get_mut(file);
        target.progress = match outcome {
            Outcome::Fine => Progress::Done,
            Outcome::Question => Progress::Question,
            Outcome::Failed => {
                target.reported = true;
                Progress::Failed
            }
        };
    }

    /// A target that was made, or that has no recipe.
    fn finish_made(&mut self, file: FileId, outcome: Outcome) {
        self.finish(file, outcome);
        let target = self.files.get(file);
        let ran = target.ran;
        if !target.phony && (ran || target.recipe.is_none()) && outcome != Outcome::Failed {
            let pretended = self.options.just_print || self.options.question;
            let new = target.recipe.is_none() || (pretended && !self.only_recursive(file));
            let age = if new { Some(Age::New) } else { None };
            self.files.get_mut(file).age = age;
            if age.is_none() && self.age(file) == Age::Missing {
                // A target that its recipe did not create still counts as made.
                self.files.get_mut(file).age = Some(Age::New);
            }
        }
        let also = self.files.get(file).also_makes.clone();
        let progress = self.files.get(file).progress;
        for other in also.into_iter().filter(|_| ran) {
            let other = self.files.get_mut(other);
            (other.progress, other.reported, other.ran, other.age) = (progress, true, true, None);
        }
    }

    /// Reports a missing rule for a required file.
    fn no_rule(&mut self, file: FileId) {
        let target = self.files.get(file);
        let name = String::from_utf8_lossy(&target.name).into_owned();
        let needed = target.parent.map(|parent| String::from_utf8_lossy(&self.files.get(parent).name).into_owned());
        self.files.get_mut(file).reported = true;
        if self.rebuilding && self.files.get(file).dont_care {
            self.files.get_mut(file).reported = false;
            return;
        }
        let needed = needed.map(|parent| format!(", needed by '{parent}'")).unwrap_or_default();
        let end = if self.options.keep_going { "." } else { ".  Stop." };
        self.error(&format!("*** No rule to make target '{name}'{needed}{end}"));
    }

    /// Removes intermediate files.
    pub(crate) fn remove_intermediates(&mut self) {
        if self.options.question || self.all_secondary {
            return;
        }
        let mut removed: Vec<Vec<u8>> = Vec::new();
        for id in self.files.ids().collect::<Vec<_>>() {
            let file = self.files.get(id);
            let kept = file.precious || file.secondary || !file.intermediate || !file.ran;
            let precious = self.is_precious(&file.name);
            if kept || precious || self.options.goals.contains(&file.name) {
                continue;
            }
            if self.options.just_print || tidebox_rt::unlink(&file.name).is_ok() {
                removed.push(file.name.clone());
            }
        }
        if !removed.is_empty() && !self.options.silent {
            let line = [b"rm ", crate::words::joined(removed.iter().map(Vec::as_slice)).as_slice(), b"\n"].concat();
            self.print(&line);
        }
    }

    /// Returns whether a pattern of `.PRECIOUS` matches.
    fn is_precious(&self, name: &[u8]) -> bool {
        let listed = self.files.find(b".PRECIOUS").map(|file| self.files.get(file).dependencies.as_slice());
        listed.unwrap_or_default().iter().any(|known| {
            let pattern = crate::pattern::Pattern::parse(&self.files.get(known.file).name);
            pattern.has_percent() && pattern.stem(name).is_some()
        })
    }
}
