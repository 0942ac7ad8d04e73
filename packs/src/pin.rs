//! Pinned wheels: the file and its hash.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::PackError;
use crate::fetch;
use crate::pack::Wheel;

/// A wheel, identified by its hash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PinnedWheel {
    /// Name of the project, as in the file name.
    pub project: String,
    /// Its version.
    pub version: String,
    /// The file's name.
    pub file: String,
    /// SHA-256 of the file, in hexadecimal digits.
    pub sha256: String,
}

impl PinnedWheel {
    /// Pins a downloaded wheel.
    pub(crate) fn from_file(path: &Path) -> Result<Self, PackError> {
        let file = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let mut parts = file.split('-').map(str::to_owned);
        let (Some(project), Some(version)) = (parts.next(), parts.next()) else {
            return Err(PackError::new(format!("{file}: not a wheel file name")));
        };
        let sha256 = fetch::hash(path).map_err(|error| PackError::file(path, &error))?;
        Ok(Self { project, version, file, sha256 })
    }
}

impl From<&Wheel> for PinnedWheel {
    fn from(wheel: &Wheel) -> Self {
        let Wheel { project, version, file, sha256 } = *wheel;
        Self { project: project.into(), version: version.into(), file: file.into(), sha256: sha256.into() }
    }
}

/// The resolved wheels of packages that were added to a pack, so that adding them again selects the same versions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LockFile {
    /// The requested packages.
    #[serde(rename = "with")]
    pub(crate) extra_packages: Vec<String>,
    /// The resolved wheels.
    pub(crate) wheels: Vec<PinnedWheel>,
}

impl LockFile {
    /// Reads the lock file if it is for the same request. An unreadable file counts as missing.
    pub(crate) fn read(path: &Path, extra_packages: &[String]) -> Option<Self> {
        let lock: Self = serde_json::from_slice(&std::fs::read(path).ok()?).ok()?;
        (lock.extra_packages == extra_packages).then_some(lock)
    }

    pub(crate) fn write(&self, path: &Path) -> Result<(), PackError> {
        let text = serde_json::to_vec_pretty(self).map_err(|error| PackError::new(error.to_string()))?;
        std::fs::write(path, text).map_err(|error| PackError::file(path, &error))
    }
}
