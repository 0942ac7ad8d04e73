//! Wall clocks of the nodes, by libfaketime. Monotonic clocks stay right: leases count on them.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;

/// Libraries of Debian's package `faketime`.
const LIBRARIES: [&str; 2] =
    ["/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1", "/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1"];

/// The clocks of all nodes, if libfaketime is installed.
#[derive(Debug)]
pub(super) struct Clocks {
    dir: PathBuf,
    library: Option<&'static str>,
}

impl Clocks {
    pub(super) fn new(dir: &Path) -> Self {
        let library = LIBRARIES.into_iter().find(|library| Path::new(library).exists());
        if library.is_none() {
            println!("clocks: not changed, because Debian's package faketime is not installed");
        }
        Self { dir: dir.to_owned(), library }
    }

    pub(super) fn can_jump(&self) -> bool {
        self.library.is_some()
    }

    fn file(&self, node: usize) -> PathBuf {
        self.dir.join(format!("clock-{node}"))
    }

    /// Returns the environment variables of a node.
    pub(super) fn variables(&self, node: usize) -> Result<Vec<(String, String)>> {
        let Some(library) = self.library else { return Ok(Vec::new()) };
        if !self.file(node).exists() {
            self.set(node, 0)?;
        }
        let file = self.file(node).display().to_string();
        let variables = [
            ("LD_PRELOAD", library),
            ("FAKETIME_TIMESTAMP_FILE", &file),
            ("FAKETIME_CACHE_DURATION", "1"),
            ("FAKETIME_DONT_FAKE_MONOTONIC", "1"),
        ];
        Ok(variables.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec())
    }

    /// Sets the difference of a node's clock to the right time, in seconds.
    pub(super) fn set(&self, node: usize, seconds: i64) -> Result<()> {
        let next = self.dir.join("clock-next");
        fs::write(&next, format!("{seconds:+}\n"))?;
        Ok(fs::rename(next, self.file(node))?)
    }
}
