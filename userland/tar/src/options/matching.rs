//! Options for matching names with members and files.

use super::flags::Flag;

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
    pub(super) fn set(&mut self, id: Flag) -> bool {
        match id {
            Flag::Recursion | Flag::NoRecursion => self.recursive = id == Flag::Recursion,
            Flag::Wildcards | Flag::NoWildcards => self.wildcards = Some(id == Flag::Wildcards),
            Flag::Anchored | Flag::NoAnchored => self.anchored = Some(id == Flag::Anchored),
            Flag::IgnoreCase | Flag::NoIgnoreCase => self.ignore_case = id == Flag::IgnoreCase,
            Flag::WildcardsMatchSlash | Flag::NoWildcardsMatchSlash => {
                self.slash_is_plain = id == Flag::WildcardsMatchSlash;
            }
            _ => return false,
        }
        true
    }
}
