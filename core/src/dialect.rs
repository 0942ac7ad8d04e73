//! Where the reference implementations of the protocol differ.

use crate::error::{FileError, FileErrorCode};
use crate::glob::GlobRules;

/// Whose rules a backend follows where Deep Agents for JavaScript and for Python disagree.
///
/// A value and not a build option, so that one process can serve both. The default is [`Dialect::Js`], the more lenient.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Dialect {
    /// Deep Agents for JavaScript 1.14 and its standard tests.
    #[default]
    Js,
    /// Deep Agents for Python 0.7.
    Python,
    /// The Python standard tests (`langchain-tests` 1.1.9), which still ask for rules of Deep Agents 0.6.
    LangchainTests,
}

impl Dialect {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Js, Self::Python, Self::LangchainTests];

    /// A stable name for other languages and for command lines.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Js => "js",
            Self::Python => "python",
            Self::LangchainTests => "langchain-tests",
        }
    }

    /// Lines that `read` returns when the caller names no limit: 500 in JavaScript, 2,000 in Python.
    pub fn read_limit(self) -> u64 {
        match self {
            Self::Js => 500,
            Self::Python | Self::LangchainTests => 2000,
        }
    }

    /// The largest binary file that `read` returns, in bytes: what the tool of JavaScript accepts, and what Python
    /// previews.
    pub fn binary_bytes(self) -> u64 {
        match self {
            Self::Js => 10 << 20,
            Self::Python | Self::LangchainTests => 512_000,
        }
    }

    /// Whether `read` turns CRLF into LF. `edit` undoes it.
    pub fn reads_crlf_as_lf(self) -> bool {
        self != Self::Js
    }

    /// Whether a page leaves out the line end that separates it from the next one, so that pages joined by LF are the
    /// file. In JavaScript pages put together are the file.
    pub fn line_ends_separate_pages(self) -> bool {
        self != Self::Js
    }

    /// What `read` says when the sandbox refuses. Python names the reason's code, as its own sandboxes do.
    pub fn read_refusal(self, path: &[u8], error: FileError) -> FileError {
        let reason = match (self, error.code) {
            (Self::Js, _) => return error,
            (_, FileErrorCode::IsDirectory | FileErrorCode::NotARegularFile) => "not_a_file",
            (_, code @ (FileErrorCode::FileNotFound | FileErrorCode::PermissionDenied)) => code.as_str(),
            _ => return error,
        };
        FileError::new(error.code, format!("File '{}': {reason}", String::from_utf8_lossy(path)))
    }

    /// Whether `write` replaces a file that is there.
    pub fn write_replaces(self) -> bool {
        self != Self::LangchainTests
    }

    /// Whether `ls` of a directory that is not there is an empty list instead of an error.
    pub fn missing_directory_is_empty(self) -> bool {
        self == Self::Js
    }

    /// Whether `edit` with an empty old string fills an empty file.
    pub fn edit_fills_empty_file(self) -> bool {
        self == Self::Js
    }

    /// Whether `grep` passes over directories called `.git`.
    pub fn grep_skips_git(self) -> bool {
        self == Self::Python
    }

    /// Whether `glob` returns paths relative to where it searched. Those of a search at the root are absolute in every
    /// dialect: the JavaScript tool searches there when the model names no directory and promises absolute paths, and
    /// `workspace/a` would mean something else to the next tool.
    pub fn glob_is_relative(self) -> bool {
        self != Self::Python
    }

    /// Whether `glob` returns directories too.
    pub fn glob_finds_directories(self) -> bool {
        self != Self::Python
    }

    /// How `glob` reads a pattern.
    pub fn glob_rules(self) -> GlobRules {
        GlobRules {
            bare_at_any_depth: self == Self::Python,
            star_matches_dot: self == Self::Js,
            finds_directories: self.glob_finds_directories(),
        }
    }
}
