//! Processes that are live, counted.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::ticker::Ticking;

/// How many processes of all sandboxes an engine has.
#[derive(Clone, Debug, Default)]
pub(crate) struct Population(Arc<AtomicU64>);

impl Population {
    pub(crate) fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// One more, until what is returned is dropped. The epochs of its engine pass meanwhile.
    pub(crate) fn admit(&self, ticking: Ticking) -> Living {
        self.0.fetch_add(1, Ordering::Relaxed);
        Living { population: self.clone(), _ticking: ticking }
    }
}

/// While it lives, a process does.
#[derive(Debug)]
pub(crate) struct Living {
    population: Population,
    _ticking: Ticking,
}

impl Drop for Living {
    fn drop(&mut self) {
        self.population.0.fetch_sub(1, Ordering::Relaxed);
    }
}
