//! Cassettes in files.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tidebox_core::layer::{Cassette, Matching, RecordMode, RecordReplay, Redaction};
use tidebox_core::{Error, ErrorKind, Result, SandboxBackend, SandboxProvider};

use crate::atomic_file;

/// A cassette in a file, with its record mode.
///
/// ```no_run
/// use std::sync::Arc;
/// use tidebox::layer::RecordMode;
/// use tidebox::{CassetteFile, ExecuteRequest, SandboxBackend};
///
/// # async fn example() -> tidebox::Result<()> {
/// let file = CassetteFile::open("tests/cassettes/build.json", RecordMode::Missing)?;
/// // The live sandbox is created only when a request has to be recorded.
/// let sandbox = file.backend(|| async { Ok(Arc::new(tidebox::sandbox()?.build()?) as Arc<dyn SandboxBackend>) }).await?;
/// sandbox.execute(ExecuteRequest::new("make")).await?;
/// file.save()?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct CassetteFile {
    path: PathBuf,
    record_replay: RecordReplay,
}

impl CassetteFile {
    /// Opens the cassette at `path`. It may be missing with [`RecordMode::Missing`] and [`RecordMode::Always`].
    ///
    /// # Errors
    /// [`ErrorKind::Storage`] if the file cannot be read; [`ErrorKind::InvalidRequest`] with the line if it is not a cassette.
    /// With [`RecordMode::Always`] the file is not read.
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
        Ok(Self { path, record_replay: RecordReplay::new(mode, cassette) })
    }

    /// Sets how repeated requests are matched. Default [`Matching::InOrder`].
    #[must_use]
    pub fn matching(mut self, matching: Matching) -> Self {
        self.record_replay = self.record_replay.matching(matching);
        self
    }

    /// Sets the redaction of secrets. Default: none.
    #[must_use]
    pub fn redaction(mut self, redaction: Redaction) -> Self {
        self.record_replay = self.record_replay.redaction(redaction);
        self
    }

    /// Returns the recorded or replayed backend; see [`RecordReplay::backend`].
    ///
    /// # Errors
    /// Those of [`RecordReplay::backend`].
    pub async fn backend<F>(&self, live: impl Fn() -> F + Send + Sync + 'static) -> Result<Arc<dyn SandboxBackend>>
    where
        F: Future<Output = Result<Arc<dyn SandboxBackend>>> + Send + 'static,
    {
        self.record_replay.backend(live).await
    }

    /// Returns the recorded or replayed provider; see [`RecordReplay::provider`].
    ///
    /// # Errors
    /// Those of [`RecordReplay::provider`].
    pub async fn provider<F>(&self, live: impl FnOnce() -> F) -> Result<Arc<dyn SandboxProvider>>
    where
        F: Future<Output = Result<Arc<dyn SandboxProvider>>>,
    {
        self.record_replay.provider(live).await
    }

    /// Writes the file if something was recorded, and returns whether it was written. Creates a missing directory. The file is
    /// replaced atomically.
    ///
    /// # Errors
    /// [`ErrorKind::Storage`] if it cannot be written.
    pub fn save(&self) -> Result<bool> {
        if !self.record_replay.is_changed() {
            return Ok(false);
        }
        let text = self.record_replay.cassette().to_text()?;
        let dir = self.path.parent().filter(|dir| !dir.as_os_str().is_empty());
        dir.map_or(Ok(()), std::fs::create_dir_all)
            .and_then(|()| atomic_file::replace(&self.path, text.as_bytes()))
            .map_err(|error| failed("write cassette", &self.path, "check that the directory is writable", error))?;
        Ok(true)
    }

    /// Returns the recorded requests that were not replayed, one line each.
    pub fn unused(&self) -> Vec<String> {
        self.record_replay.unused()
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

fn failed(operation: &'static str, path: &Path, hint: &str, error: io::Error) -> Error {
    let message = format!("{}: {error}; {hint}", path.display());
    Error::new(ErrorKind::Storage, operation, message).with_source(error)
}
