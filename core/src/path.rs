//! Paths inside a sandbox.

use std::borrow::Cow;
use std::fmt;

use crate::error::{FileError, FileErrorCode};

/// An absolute path inside a sandbox, parsed once on input: bytes without NUL, one slash between names, no `.`, no trailing
/// slash.
///
/// `..` is kept, because only the sandbox can resolve it: after a symbolic link it is not the textual parent. It cannot leave the
/// sandbox, whose root is its own parent.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SandboxPath(Vec<u8>);

impl SandboxPath {
    /// The root directory.
    pub fn root() -> Self {
        Self(b"/".to_vec())
    }

    /// Parses an absolute path.
    ///
    /// # Errors
    /// [`FileErrorCode::InvalidPath`] if it is empty, relative, or contains a NUL byte.
    pub fn parse(path: impl AsRef<[u8]>) -> Result<Self, FileError> {
        let path = path.as_ref();
        if path.first() != Some(&b'/') {
            return Err(invalid(path, if path.is_empty() { "it is empty" } else { "it must start with '/'" }));
        }
        Self::normal(path, b"")
    }

    /// Parses an absolute path, or one relative to `self`.
    ///
    /// # Errors
    /// [`FileErrorCode::InvalidPath`] if it is empty or contains a NUL byte.
    pub fn resolve(&self, path: impl AsRef<[u8]>) -> Result<Self, FileError> {
        let path = path.as_ref();
        match path.first() {
            None => Err(invalid(path, "it is empty")),
            Some(b'/') => Self::normal(path, b""),
            Some(_) => Self::normal(path, &self.0),
        }
    }

    fn normal(path: &[u8], base: &[u8]) -> Result<Self, FileError> {
        if path.contains(&0) {
            return Err(invalid(path, "it contains a NUL byte"));
        }
        let mut normal = Vec::with_capacity(base.len() + path.len() + 1);
        let names = |bytes| <[u8]>::split(bytes, |byte| *byte == b'/').filter(|name| !matches!(*name, b"" | b"."));
        for name in names(base).chain(names(path)) {
            normal.push(b'/');
            normal.extend_from_slice(name);
        }
        if normal.is_empty() {
            normal.push(b'/');
        }
        Ok(Self(normal))
    }

    /// Returns the path's bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns the path as text, with U+FFFD for invalid UTF-8.
    pub fn to_text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.0)
    }

    /// Returns this path joined with a name.
    #[must_use]
    pub fn join(&self, name: &[u8]) -> Vec<u8> {
        let mut joined = Vec::with_capacity(self.0.len() + name.len() + 1);
        joined.extend_from_slice(&self.0);
        if joined.last() != Some(&b'/') {
            joined.push(b'/');
        }
        joined.extend_from_slice(name);
        joined
    }

    /// Returns the parent directory, `None` for the root.
    pub fn parent(&self) -> Option<Self> {
        let slash = self.0.iter().rposition(|byte| *byte == b'/')?;
        match (self.0.get(..slash)?, self.0.len()) {
            (_, 1) => None,
            (b"", _) => Some(Self::root()),
            (above, _) => Some(Self(above.to_vec())),
        }
    }

    /// Returns the last name, empty for the root.
    pub fn name(&self) -> &[u8] {
        self.0.rsplit(|byte| *byte == b'/').next().unwrap_or_default()
    }
}

fn invalid(path: &[u8], why: &str) -> FileError {
    FileError::new(FileErrorCode::InvalidPath, format!("Invalid path '{}': {why}", String::from_utf8_lossy(path)))
}

impl fmt::Display for SandboxPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_text())
    }
}

impl fmt::Debug for SandboxPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SandboxPath({:?})", self.to_text())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slashes_and_dots_collapse_and_parents_stay() {
        let path = SandboxPath::parse("//a/./b//../c/").unwrap();
        assert_eq!(path.as_bytes(), b"/a/b/../c");
        assert_eq!(SandboxPath::parse("/./").unwrap(), SandboxPath::root());
    }

    #[test]
    fn relative_empty_and_nul_paths_are_invalid() {
        for bad in ["", "a", "./a", "../a", "/a\0b"] {
            assert_eq!(SandboxPath::parse(bad).unwrap_err().code, FileErrorCode::InvalidPath, "{bad:?}");
        }
    }

    #[test]
    fn a_relative_path_is_resolved_against_its_base() {
        let base = SandboxPath::parse("/workspace").unwrap();
        assert_eq!(base.resolve("./a/../b").unwrap().as_bytes(), b"/workspace/a/../b");
        assert_eq!(base.resolve("/etc").unwrap().as_bytes(), b"/etc");
        assert!(base.resolve("").is_err());
    }

    #[test]
    fn non_utf8_bytes_are_kept() {
        let path = SandboxPath::parse(b"/a\xff b\n'\"").unwrap();
        assert_eq!(path.as_bytes(), b"/a\xff b\n'\"");
        assert_eq!(path.name(), b"a\xff b\n'\"");
    }

    #[test]
    fn the_root_has_no_parent() {
        let path = SandboxPath::parse("/a/b").unwrap();
        let parent = path.parent().unwrap();
        assert_eq!(parent.as_bytes(), b"/a");
        assert_eq!(parent.parent(), Some(SandboxPath::root()));
        assert_eq!(SandboxPath::root().parent(), None);
        assert_eq!(SandboxPath::root().name(), b"");
        assert_eq!(SandboxPath::root().join(b"x"), b"/x");
    }
}
