//! Whether a source and what stands at its target are one file, and what follows from it.

use tidebox_rt::{FileKind, Stat};

use crate::common::target::{same, same_entry};

/// Action for an existing target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Replacing the target leaves the source as it is.
    Replace,
    /// The target is already what was asked for.
    Done,
    /// Replacing the target would lose the source.
    Refuse,
}

/// Options that decide the verdict.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Manner {
    /// A symbolic link as source stands for what it leads to.
    pub(crate) follow: bool,
    /// The source goes away.
    pub(crate) moves: bool,
    /// What is at the target gets another name.
    pub(crate) backup: bool,
    /// What is at the target is removed in any case.
    pub(crate) removes: bool,
    pub(crate) hard_link: bool,
    pub(crate) symbolic_link: bool,
}

/// Judges a source and a target. Where one of them cannot be looked at they are two files, and using them tells why.
pub(crate) fn judge(from: &[u8], to: &[u8], manner: Manner) -> Verdict {
    let state = |path: &[u8], follow| tidebox_rt::stat(path, follow);
    let (Ok(source), Ok(target)) = (state(from, false), state(to, false)) else {
        return Verdict::Replace;
    };
    let one_entry = || same_entry(from, to);
    let links = (source.kind() == FileKind::Symlink, target.kind() == FileKind::Symlink);
    let linked = same(&source, &target);
    let behind = || match (state(from, true), state(to, true)) {
        (Ok(source), Ok(target)) => same(&source, &target),
        _ => false,
    };
    match (manner.follow, links) {
        (false, (true, true)) => return two_links(linked, one_entry(), manner),
        (true, _) if !behind() => return Verdict::Replace,
        // The content is read before the link to it goes.
        (true, (true, true)) if manner.removes => return Verdict::Replace,
        _ => {}
    }
    if manner.hard_link && !links.1 && (manner.follow || linked) {
        return Verdict::Done;
    }
    let unless = |lost: bool| if lost { Verdict::Refuse } else { Verdict::Replace };
    if manner.backup {
        // A link would lead to nothing once its target has another name.
        return unless(if linked { one_entry() } else { manner.follow && links.0 && !links.1 });
    }
    if manner.removes {
        if links.1 {
            return Verdict::Replace;
        }
        if linked && target.nlink > 1 && !one_entry() {
            return unless(manner.symbolic_link);
        }
    }
    if manner.moves && links.1 {
        return Verdict::Replace;
    }
    if links == (false, false) {
        return unless(linked);
    }
    if manner.moves && links.0 && target.nlink > 1 {
        return unless(leads_to(from, to));
    }
    if manner.symbolic_link && links.1 {
        return Verdict::Replace;
    }
    if !manner.follow && !behind() {
        return Verdict::Replace;
    }
    match (manner.hard_link, links.1) {
        (true, true) => Verdict::Replace,
        (true, false) => Verdict::Done,
        (false, _) => Verdict::Refuse,
    }
}

/// Links that are copied or moved as such lose nothing unless they are one.
fn two_links(linked: bool, one_entry: bool, manner: Manner) -> Verdict {
    match (one_entry, linked, manner) {
        (true, ..) => Verdict::Refuse,
        (_, true, Manner { hard_link: true, .. }) => Verdict::Done,
        (_, _, Manner { backup: true, .. }) | (_, false, _) => Verdict::Replace,
        (_, true, Manner { moves: true, .. }) => Verdict::Refuse,
        (_, true, _) => Verdict::Done,
    }
}

/// Whether the link leads to this very entry, and not only to another name of its file.
fn leads_to(link: &[u8], entry: &[u8]) -> bool {
    std::fs::canonicalize(tidebox_rt::path_of_bytes(link))
        .is_ok_and(|path| same_entry(&path.into_os_string().into_encoded_bytes(), entry))
}

/// The folders and files that one run has met, to notice those that are named twice.
#[derive(Debug, Default)]
pub(crate) struct Met(std::collections::HashSet<(u32, u64)>);

impl Met {
    /// Notes a folder that was named; `true` when it was named before.
    pub(crate) fn again(&mut self, stat: &Stat) -> bool {
        stat.kind() == FileKind::Dir && !self.0.insert((stat.dev, stat.ino))
    }
}
