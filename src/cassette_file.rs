//! Cassettes in files.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tidebox_core::layer::{Cassette, Deck, Matching, RecordMode, Redaction};
use tidebox_core::{Error, ErrorKind, Result, SandboxBackend, SandboxProvider};

use crate::atomic_file;

/// A cassette in a file, and when to record onto it.
///
/// ```no_run
/// use std::sync::Arc;
/// use tidebox::layer::RecordMode;
/// use tidebox::{CassetteFile, ExecuteRequest, SandboxBackend};
///
/// # async fn example() -> tidebox::Result<()> {
/// let file = CassetteFile::open("tests/cassettes/build.json", RecordMode::Missing)?;
/// // The live sandbox is made only when something has to be recorded.
/// let sandbox = file.backend(|| async { Ok(Arc::new(tidebox::sandbox()?.build()?) as Arc<dyn SandboxBackend>) }).await?;
/// sandbox.execute(ExecuteRequest::new("make")).await?;
/// file.save()?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct CassetteFile {
    path: PathBuf,
    deck: Deck,
}

impl CassetteFile {
    /// Opens the cassette at `path`; with [`RecordMode::Missing`] and [`RecordMode::Always`] it need not be there.
    ///
    /// # Errors
    /// [`ErrorKind::Storage`] when the file cannot be read; [`ErrorKind::InvalidRequest`] when it is no cassette, with the
    /// line. A cassette that is recorded anew is not read.
    pub fn open(path: impl Into<PathBuf>, mode: RecordMode) -> Result<Self> {
        let path = path.into();
        let cassette = match mode {
            RecordMode::Always => None,
            RecordMode::Never => Some(load(&path)?),
            RecordMode::Missing => match load(&path) {
                Err(error) if is_absent(&error) => None,
                loaded => Some(loaded?),
            },
        };
        Ok(Self { path, deck: Deck::new(mode, cassette) })
    }

    /// Which recording answers a repeated request. Default [`Matching::InOrder`].
    #[must_use]
    pub fn matching(mut self, matching: Matching) -> Self {
        self.deck = self.deck.matching(matching);
        self
    }

    /// Keeps secrets out of the file. Default: nothing is replaced.
    #[must_use]
    pub fn redaction(mut self, redaction: Redaction) -> Self {
        self.deck = self.deck.redaction(redaction);
        self
    }

    /// The recorded or replayed backend, see [`Deck::backend`].
    ///
    /// # Errors
    /// Those of [`Deck::backend`].
    pub async fn backend<F>(&self, live: impl Fn() -> F + Send + Sync + 'static) -> Result<Arc<dyn SandboxBackend>>
    where
        F: Future<Output = Result<Arc<dyn SandboxBackend>>> + Send + 'static,
    {
        self.deck.backend(live).await
    }

    /// The recorded or replayed provider, see [`Deck::provider`].
    ///
    /// # Errors
    /// Those of [`Deck::provider`].
    pub async fn provider<F>(&self, live: impl FnOnce() -> F) -> Result<Arc<dyn SandboxProvider>>
    where
        F: Future<Output = Result<Arc<dyn SandboxProvider>>>,
    {
        self.deck.provider(live).await
    }

    /// Writes the file when something was recorded, and answers whether. The folder is made when it is missing. A crash
    /// leaves the old file or the new one, never half of one.
    ///
    /// # Errors
    /// [`ErrorKind::Storage`] when it cannot be written.
    pub fn save(&self) -> Result<bool> {
        if !self.deck.is_changed() {
            return Ok(false);
        }
        let text = self.deck.cassette().to_text()?;
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        folder
            .map_or(Ok(()), std::fs::create_dir_all)
            .and_then(|()| atomic_file::replace(&self.path, text.as_bytes()))
            .map_err(|error| failed("write cassette", &self.path, "is the folder writable?", error))?;
        Ok(true)
    }

    /// What was recorded before and has not been asked for, one line each.
    pub fn unused(&self) -> Vec<String> {
        self.deck.unused()
    }
}

fn load(path: &Path) -> Result<Cassette> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        failed("read cassette", path, "record it first, with RecordMode::Missing or RecordMode::Always", error)
    })?;
    Cassette::parse(&text).map_err(|error| error.with_context("file", path.display().to_string()))
}

fn is_absent(error: &Error) -> bool {
    let source = std::error::Error::source(error).and_then(|source| source.downcast_ref::<io::Error>());
    source.is_some_and(|source| source.kind() == io::ErrorKind::NotFound)
}

fn failed(operation: &'static str, path: &Path, advice: &str, error: io::Error) -> Error {
    let message = format!("{}: {error}; {advice}", path.display());
    Error::new(ErrorKind::Storage, operation, message).with_source(error)
}
