//! Differences between the reference implementations of the protocol.

use crate::error::{FileError, FileErrorCode};
use crate::glob::GlobRules;

/// Rules that a backend follows where Deep Agents for JavaScript and for Python differ.
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
    /// The Python standard tests (`langchain-tests` 1.1.9), which still require rules of Deep Agents 0.6.
    LangchainTests,
}

impl Dialect {
    /// All dialects.
    pub const ALL: [Self; 3] = [Self::Js, Self::Python, Self::LangchainTests];

    /// Returns a stable name for other languages and for command lines.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Js => "js",
            Self::Python => "python",
            Self::LangchainTests => "langchain-tests",
        }
    }

    /// Returns the number of lines that `read` returns without a limit: 500 in JavaScript, 2,000 in Python.
    pub fn read_limit(self) -> u64 {
        match self {
            Self::Js => 500,
            Self::Python | Self::LangchainTests => 2000,
        }
    }

    /// Returns the maximum size of a binary file that `read` returns, in bytes: the limit of the JavaScript tool, and of Python's
    /// preview.
    pub fn binary_bytes(self) -> u64 {
        match self {
            Self::Js => 10 << 20,
            Self::Python | Self::LangchainTests => 512_000,
        }
    }

    /// Returns whether `read` converts CRLF to LF. `edit` reverses it.
    pub fn reads_crlf_as_lf(self) -> bool {
        self != Self::Js
    }

    /// Returns whether a page omits the newline that separates it from the next one, so that pages joined by LF are the file. In
    /// JavaScript the concatenated pages are the file.
    pub fn omits_page_separator(self) -> bool {
        self != Self::Js
    }

    /// Returns the error of `read` for a failure in the sandbox. Python uses the error code as the message, like its own
    /// sandboxes.
    pub fn read_error(self, path: &[u8], error: FileError) -> FileError {
        let reason = match (self, error.code) {
            (Self::Js, _) => return error,
            (_, FileErrorCode::IsDirectory | FileErrorCode::NotARegularFile) => "not_a_file",
            (_, code @ (FileErrorCode::FileNotFound | FileErrorCode::PermissionDenied)) => code.as_str(),
            _ => return error,
        };
        FileError::new(error.code, format!("File '{}': {reason}", String::from_utf8_lossy(path)))
    }

    /// Returns whether `write` replaces an existing file.
    pub fn write_replaces(self) -> bool {
        self != Self::LangchainTests
    }

    /// Returns whether `ls` of a missing directory is an empty list instead of an error.
    pub fn missing_directory_is_empty(self) -> bool {
        self == Self::Js
    }

    /// Returns whether `edit` with an empty old string fills an empty file.
    pub fn edit_fills_empty_file(self) -> bool {
        self == Self::Js
    }

    /// Returns whether `grep` skips directories named `.git`.
    pub fn grep_skips_git(self) -> bool {
        self == Self::Python
    }

    /// Returns whether `glob` returns paths relative to the searched directory. Results of a search at the root are absolute in
    /// every dialect: the JavaScript tool searches there if the model names no directory, and it promises absolute paths; the
    /// next tool would resolve `workspace/a` differently.
    pub fn glob_is_relative(self) -> bool {
        self != Self::Python
    }

    /// Returns whether `glob` returns directories too.
    pub fn glob_finds_directories(self) -> bool {
        self != Self::Python
    }

    /// Returns the pattern rules of `glob`.
    pub fn glob_rules(self) -> GlobRules {
        GlobRules {
            bare_at_any_depth: self == Self::Python,
            star_matches_dot: self == Self::Js,
            finds_directories: self.glob_finds_directories(),
        }
    }
}
