//! `$@`, `$<` and the other variables of a recipe.

use std::collections::HashSet;

use crate::Make;
use crate::file::{Age, FileId};
use crate::variable::{Origin, Variable};
use crate::words::joined;

impl Make {
    /// Sets the automatic variables of a target before its recipe runs.
    pub(crate) fn set_automatic_variables(&mut self, file: FileId) {
        let target = self.files.get(file);
        let name = target.real_name().to_vec();
        let stem = target.stem.clone().unwrap_or_else(|| self.stem_by_suffix(&target.name));
        let (mut first, mut all, mut once, mut newer, mut ordered) =
            (None, Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut seen = HashSet::new();
        let normal: HashSet<FileId> =
            target.dependencies.iter().filter(|known| !known.order_only).map(|known| known.file).collect();
        for dependency in &target.dependencies {
            let name = self.files.get(dependency.file).real_name().to_vec();
            if dependency.order_only {
                if !normal.contains(&dependency.file) && seen.insert(dependency.file) {
                    ordered.push(name);
                }
                continue;
            }
            first.get_or_insert_with(|| name.clone());
            all.push(name.clone());
            if seen.insert(dependency.file) {
                if dependency.changed || self.options.always_make {
                    newer.push(name.clone());
                }
                once.push(name);
            }
        }
        let list = |names: &[Vec<u8>]| joined(names.iter().map(Vec::as_slice));
        let values = [
            (b"@", name),
            (b"%", Vec::new()),
            (b"*", stem),
            (b"<", first.unwrap_or_default()),
            (b"^", list(&once)),
            (b"+", list(&all)),
            (b"?", list(&newer)),
            (b"|", list(&ordered)),
        ];
        let variables = &mut self.files.get_mut(file).variables;
        for (name, value) in values {
            variables.insert(name.to_vec(), Variable::new(value, false, Origin::Automatic));
        }
    }

    /// The stem of a target with an explicit rule: its name without a known suffix.
    fn stem_by_suffix(&self, name: &[u8]) -> Vec<u8> {
        let own = self.files.find(b".SUFFIXES").map(|file| self.files.get(file).dependencies.as_slice());
        let own = own.unwrap_or_default().iter().map(|known| self.files.get(known.file).name.as_slice());
        let builtin = if self.suffixes_cleared { "" } else { crate::builtin::SUFFIXES };
        own.chain(builtin.split(' ').map(str::as_bytes))
            .filter(|suffix| !suffix.is_empty())
            .find_map(|suffix| name.strip_suffix(suffix))
            .unwrap_or_default()
            .to_vec()
    }

    /// Modification time of a file, following symbolic links.
    pub(crate) fn age(&mut self, file: FileId) -> Age {
        let known = self.files.get(file);
        if let Some(age) = known.age {
            return age;
        }
        if known.phony {
            return Age::Missing;
        }
        let name = known.name.clone();
        let mut age = age_of(&name);
        if age == Age::Missing
            && let Some(found) = self.search_vpath(&name)
        {
            age = age_of(&found);
            self.files.get_mut(file).found_at = Some(found);
        }
        if let Age::At(time) = age {
            self.look_at_clock(&name, time);
        }
        self.files.get_mut(file).age = Some(age);
        age
    }

    /// With a file from the future, timestamps cannot be compared reliably.
    fn look_at_clock(&mut self, name: &[u8], time: u64) {
        let ahead = time.saturating_sub(tidebox_rt::realtime_ns());
        // A file written while make runs may be slightly ahead.
        if ahead > 1_000_000_000 && !self.clock_skew {
            self.clock_skew = true;
            let seconds = ahead as f64 / 1e9;
            let shown = if seconds >= 100.0 { format!("{seconds:.0}") } else { two_digits(seconds) };
            let name = String::from_utf8_lossy(name).into_owned();
            self.error(&format!("Warning: File '{name}' has modification time {shown} s in the future"));
        }
    }
}

/// Formats a number with two significant digits.
fn two_digits(seconds: f64) -> String {
    if seconds >= 10.0 { format!("{seconds:.0}") } else { format!("{seconds:.1}") }
}

/// Modification time of the file with that name.
fn age_of(name: &[u8]) -> Age {
    match tidebox_rt::stat(name, true) {
        Ok(stat) => Age::At(stat.mtime_ns),
        Err(_) => Age::Missing,
    }
}
