//! Options for matching names with members and files.

use crate::flags::{
    ANCHORED, IGNORE_CASE, NO_ANCHORED, NO_IGNORE_CASE, NO_RECURSION, NO_SLASH, NO_WILDCARDS, RECURSION, SLASH,
    WILDCARDS,
};

/// Matching of a name or pattern, set by the options before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct How {
    /// A directory matches its content.
    pub(crate) recursive: bool,
    /// Wildcards enabled for `*`, `?` and `[`, if set explicitly.
    pub(crate) wildcards: Option<bool>,
    /// Anchored: must match from the start of a name and not only after one of its slashes, if set explicitly.
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
    /// Applies an option; returns whether it belongs to this group.
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
