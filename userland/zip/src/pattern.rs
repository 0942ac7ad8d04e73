//! Selection of names.

use tidebox_gnu::glob::{self, Flags};

/// Returns whether any of the patterns matches. A star matches slashes, too.
pub(crate) fn any(patterns: &[Vec<u8>], name: &[u8], ignore_case: bool) -> bool {
    patterns.iter().any(|pattern| fits(pattern, name, ignore_case))
}

pub(crate) fn fits(pattern: &[u8], name: &[u8], ignore_case: bool) -> bool {
    glob::matches(pattern, name, Flags { ignore_case, pathname: false })
}

/// Include and exclude patterns, with match flags.
#[derive(Debug, Default)]
pub(crate) struct Selection {
    pub(crate) names: Vec<Vec<u8>>,
    pub(crate) not: Vec<Vec<u8>>,
    pub(crate) ignore_case: bool,
    met: Vec<bool>,
    met_not: Vec<bool>,
}

impl Selection {
    pub(crate) fn new(names: Vec<Vec<u8>>, not: Vec<Vec<u8>>, ignore_case: bool) -> Self {
        let (met, met_not) = (vec![false; names.len()], vec![false; not.len()]);
        Self { names, not, ignore_case, met, met_not }
    }

    pub(crate) fn takes(&mut self, name: &[u8]) -> bool {
        let mut found = self.names.is_empty();
        for (pattern, met) in self.names.iter().zip(&mut self.met) {
            if fits(pattern, name, self.ignore_case) {
                (*met, found) = (true, true);
                break;
            }
        }
        if !found {
            return false;
        }
        for (pattern, met) in self.not.iter().zip(&mut self.met_not) {
            if fits(pattern, name, self.ignore_case) {
                *met = true;
                return false;
            }
        }
        true
    }

    /// Returns the patterns that matched nothing: includes and excludes.
    pub(crate) fn unmet(&self) -> (Vec<&[u8]>, Vec<&[u8]>) {
        let of = |names: &'_ [Vec<u8>], met: &[bool]| -> Vec<usize> {
            (0..names.len()).filter(|at| met.get(*at) == Some(&false)).collect()
        };
        let names = of(&self.names, &self.met).into_iter().filter_map(|at| self.names.get(at)).map(Vec::as_slice);
        let not = of(&self.not, &self.met_not).into_iter().filter_map(|at| self.not.get(at)).map(Vec::as_slice);
        (names.collect(), not.collect())
    }
}
