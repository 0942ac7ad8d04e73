//! Wheels that were decided on: which file, and what it must hash to.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::PackError;
use crate::fetch;
use crate::pack::Wheel;

/// A wheel, known by its hash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pin {
    /// The project's name, as the file has it.
    pub project: String,
    /// Its version.
    pub version: String,
    /// The file's name.
    pub file: String,
    /// SHA-256 of the file, in hexadecimal digits.
    pub sha256: String,
}

impl Pin {
    /// What a wheel that was fetched is to be from now on.
    pub(crate) fn of(path: &Path) -> Result<Self, PackError> {
        let file = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let mut parts = file.split('-').map(str::to_owned);
        let (Some(project), Some(version)) = (parts.next(), parts.next()) else {
            return Err(PackError::new(format!("{file}: this is no name of a wheel")));
        };
        let sha256 = fetch::hash(path).map_err(|error| PackError::file(path, &error))?;
        Ok(Self { project, version, file, sha256 })
    }
}

impl From<&Wheel> for Pin {
    fn from(wheel: &Wheel) -> Self {
        let Wheel { project, version, file, sha256 } = *wheel;
        Self { project: project.into(), version: version.into(), file: file.into(), sha256: sha256.into() }
    }
}

/// What was decided when packages were first added to a pack, so that adding them again adds the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Lock {
    /// What was asked for.
    pub(crate) with: Vec<String>,
    /// What that came to.
    pub(crate) wheels: Vec<Pin>,
}

impl Lock {
    /// The one in this file, if it is of the same wish. A file that cannot be read is none.
    pub(crate) fn read(path: &Path, with: &[String]) -> Option<Self> {
        let lock: Self = serde_json::from_slice(&std::fs::read(path).ok()?).ok()?;
        (lock.with == with).then_some(lock)
    }

    pub(crate) fn write(&self, path: &Path) -> Result<(), PackError> {
        let text = serde_json::to_vec_pretty(self).map_err(|error| PackError::new(error.to_string()))?;
        std::fs::write(path, text).map_err(|error| PackError::file(path, &error))
    }
}
