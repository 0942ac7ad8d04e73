//! How names are held against members and files.

use crate::flags::{
    ANCHORED, IGNORE_CASE, NO_ANCHORED, NO_IGNORE_CASE, NO_RECURSION, NO_SLASH, NO_WILDCARDS, RECURSION, SLASH,
    WILDCARDS,
};

/// How a name or pattern is read: as the options say that stand before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct How {
    /// What is in a folder belongs to it.
    pub(crate) recursive: bool,
    /// Whether `*`, `?` and `[` mean something, where that was said.
    pub(crate) wildcards: Option<bool>,
    /// Whether it must match from the beginning of a name and not only from behind one of its slashes, where that was said.
    pub(crate) anchored: Option<bool>,
    pub(crate) ignore_case: bool,
    /// `*` and `?` match a slash.
    pub(crate) slash_is_plain: bool,
}

impl Default for How {
    fn default() -> Self {
        Self { recursive: true, wildcards: None, anchored: None, ignore_case: false, slash_is_plain: true }
    }
}

impl How {
    /// Does what an option asks for; whether it is one of these.
    pub(super) fn set(&mut self, key: char) -> bool {
        match key {
            RECURSION | NO_RECURSION => self.recursive = key == RECURSION,
            WILDCARDS | NO_WILDCARDS => self.wildcards = Some(key == WILDCARDS),
            ANCHORED | NO_ANCHORED => self.anchored = Some(key == ANCHORED),
            IGNORE_CASE | NO_IGNORE_CASE => self.ignore_case = key == IGNORE_CASE,
            SLASH | NO_SLASH => self.slash_is_plain = key == SLASH,
            _ => return false,
        }
        true
    }
}
