//! Exhaustive search of the model tests: every run is a list of choices.

/// The choices of a run: the option taken and the number of options at each point.
#[derive(Debug, Default)]
pub(crate) struct Choices {
    taken: Vec<(usize, usize)>,
    at: usize,
}

impl Choices {
    /// Returns the option of this run at the next point, which has this many.
    pub(crate) fn choose(&mut self, options: usize) -> usize {
        if self.at == self.taken.len() {
            self.taken.push((0, options));
        }
        self.at += 1;
        self.taken[self.at - 1].0
    }

    /// Returns whether the run has passed all points of the run before.
    pub(crate) fn is_new(&self) -> bool {
        self.at == self.taken.len()
    }

    /// Goes to the next run. Returns false after the last one.
    pub(crate) fn advance(&mut self) -> bool {
        while let Some((option, options)) = self.taken.pop() {
            if option + 1 < options {
                self.taken.push((option + 1, options));
                self.at = 0;
                return true;
            }
        }
        false
    }
}
