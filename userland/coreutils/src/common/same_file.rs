//! Detection of sources and targets that are the same file.

use tidebox_rt::{FileKind, Stat};

use crate::common::target::{same, same_entry};

/// Action for an existing target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExistingTargetAction {
    /// Replace the target. The source stays unchanged.
    Replace,
    /// The target is already the requested link.
    Done,
    /// Fail, because replacing the target would lose the source.
    Refuse,
}

/// Options that decide the action.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ReplaceOptions {
    /// Follow a symbolic link as source.
    pub(crate) follow: bool,
    /// Remove the source.
    pub(crate) moves: bool,
    /// Rename the existing target.
    pub(crate) backup: bool,
    /// Always remove the existing target.
    pub(crate) removes: bool,
    pub(crate) hard_link: bool,
    pub(crate) symbolic_link: bool,
}

/// Decides what happens to the target. If one of the files cannot be read, the later operation reports the error.
pub(crate) fn target_action(from: &[u8], to: &[u8], options: ReplaceOptions) -> ExistingTargetAction {
    let state = |path: &[u8], follow| tidebox_rt::stat(path, follow);
    let (Ok(source), Ok(target)) = (state(from, false), state(to, false)) else {
        return ExistingTargetAction::Replace;
    };
    let one_entry = || same_entry(from, to);
    let links = (source.kind() == FileKind::Symlink, target.kind() == FileKind::Symlink);
    let linked = same(&source, &target);
    let same_target = || match (state(from, true), state(to, true)) {
        (Ok(source), Ok(target)) => same(&source, &target),
        _ => false,
    };
    match (options.follow, links) {
        (false, (true, true)) => return two_links(linked, one_entry(), options),
        (true, _) if !same_target() => return ExistingTargetAction::Replace,
        // The content is read before the link is removed.
        (true, (true, true)) if options.removes => return ExistingTargetAction::Replace,
        _ => {}
    }
    if options.hard_link && !links.1 && (options.follow || linked) {
        return ExistingTargetAction::Done;
    }
    let unless = |lost: bool| if lost { ExistingTargetAction::Refuse } else { ExistingTargetAction::Replace };
    if options.backup {
        // A link would dangle after its target is renamed.
        return unless(if linked { one_entry() } else { options.follow && links.0 && !links.1 });
    }
    if options.removes {
        if links.1 {
            return ExistingTargetAction::Replace;
        }
        if linked && target.nlink > 1 && !one_entry() {
            return unless(options.symbolic_link);
        }
    }
    if options.moves && links.1 {
        return ExistingTargetAction::Replace;
    }
    if links == (false, false) {
        return unless(linked);
    }
    if options.moves && links.0 && target.nlink > 1 {
        return unless(leads_to(from, to));
    }
    if options.symbolic_link && links.1 {
        return ExistingTargetAction::Replace;
    }
    if !options.follow && !same_target() {
        return ExistingTargetAction::Replace;
    }
    match (options.hard_link, links.1) {
        (true, true) => ExistingTargetAction::Replace,
        (true, false) => ExistingTargetAction::Done,
        (false, _) => ExistingTargetAction::Refuse,
    }
}

/// Decides for two links that are not followed. Only the same link would be lost.
fn two_links(linked: bool, one_entry: bool, options: ReplaceOptions) -> ExistingTargetAction {
    match (one_entry, linked, options) {
        (true, ..) => ExistingTargetAction::Refuse,
        (_, true, ReplaceOptions { hard_link: true, .. }) => ExistingTargetAction::Done,
        (_, _, ReplaceOptions { backup: true, .. }) | (_, false, _) => ExistingTargetAction::Replace,
        (_, true, ReplaceOptions { moves: true, .. }) => ExistingTargetAction::Refuse,
        (_, true, _) => ExistingTargetAction::Done,
    }
}

/// Returns whether the link resolves to this directory entry, not to another hard link of the file.
fn leads_to(link: &[u8], entry: &[u8]) -> bool {
    std::fs::canonicalize(tidebox_rt::path_of_bytes(link))
        .is_ok_and(|path| same_entry(&path.into_os_string().into_encoded_bytes(), entry))
}

/// Directories seen in one run, to detect repeated operands.
#[derive(Debug, Default)]
pub(crate) struct SeenDirs(std::collections::HashSet<(u32, u64)>);

impl SeenDirs {
    /// Records a directory. Returns true if it was recorded before.
    pub(crate) fn is_repeated(&mut self, stat: &Stat) -> bool {
        stat.kind() == FileKind::Dir && !self.0.insert((stat.dev, stat.ino))
    }
}
