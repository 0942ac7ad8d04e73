//! Differences between two snapshots.

use std::ops::ControlFlow;

use tidebox_core::FileKind;
use tidebox_kernel::fs::{Contents, DiffEntry, Kind};

use super::{Snapshot, unified};

/// Maximum bytes of a file that is compared line by line.
const TEXT_BYTES: u64 = 1 << 20;

/// Maximum bytes of all files that are compared line by line, both sides together. Further changes are reported without
/// lines.
const ALL_TEXT_BYTES: u64 = 32 << 20;

/// Maximum work for comparing lines, about a second.
const MAX_DIFF_WORK: u64 = 1_500_000_000;

/// Maximum reported changes, and bytes of their paths together. Deeply nested directories can give a small tree
/// gigabytes of paths.
const CHANGES: usize = 200_000;
const PATH_BYTES: usize = 64 << 20;

/// Changes between two snapshots, in path order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SnapshotDiff {
    /// Every path that was added, changed or removed; a directory comes before its entries. A moved file is removed at
    /// one path and added at another; a file that became a link or a directory is removed and added at the same path.
    /// Times, owners and names of the same inode are not compared.
    pub changes: Vec<Change>,
    /// True if the list is truncated: more than 200,000 changes or 64 MiB of paths.
    pub truncated: bool,
}

/// A change at one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Absolute path. Not necessarily UTF-8.
    pub path: Vec<u8>,
    /// The entry before; `None` if it was added.
    pub before: Option<DiffSide>,
    /// The entry after; `None` if it was removed.
    pub after: Option<DiffSide>,
    /// The change of its content.
    pub content: ContentChange,
}

/// A snapshot's entry at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiffSide {
    /// File, directory, symbolic link or something else.
    pub kind: FileKind,
    /// The twelve mode bits.
    pub mode: u32,
    /// Bytes of a file or of a link's target.
    pub size: u64,
}

/// The change of an entry's content.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ContentChange {
    /// Unchanged: the mode changed, or it is a directory.
    None,
    /// Hunks of the unified format. The target of a symbolic link is compared as a text of one line without a line end,
    /// as git does. Empty for an empty file that was added or removed.
    Text(Vec<u8>),
    /// One side contains a NUL byte.
    Binary,
    /// One side is longer than 1 MiB, 32 MiB of text were already compared, or comparing the many similar lines would
    /// take seconds.
    TooLarge,
}

impl Snapshot {
    /// Compares two snapshots, which may come from different sandboxes. Shared parts are recognised without being read,
    /// so a few changes in a large tree cost one lookup per name and work for the changes.
    pub fn diff(before: &Self, after: &Self) -> SnapshotDiff {
        let mut diff = SnapshotDiff::default();
        let (mut budget, mut path_bytes) = (Budget { bytes: ALL_TEXT_BYTES, work: MAX_DIFF_WORK }, PATH_BYTES);
        let mut one = |path: &[u8], before: Option<DiffEntry>, after: Option<DiffEntry>| {
            match path_bytes.checked_sub(path.len()) {
                Some(left) if diff.changes.len() < CHANGES => path_bytes = left,
                _ => {
                    diff.truncated = true;
                    return ControlFlow::Break(());
                }
            }
            let content = content(before.as_ref(), after.as_ref(), &mut budget);
            let (before, after) = (before.as_ref().map(side), after.as_ref().map(side));
            diff.changes.push(Change { path: path.to_vec(), before, after, content });
            ControlFlow::Continue(())
        };
        // The flag carries the same information as the break.
        let _ = before.files.visit_changes(&after.files, &mut |path, before, after| match (before, after) {
            (Some(before), Some(after)) if before.stat.kind != after.stat.kind => {
                one(path, Some(before), None)?;
                one(path, None, Some(after))
            }
            (before, after) => one(path, before, after),
        });
        diff
    }

    /// Calls `visit` with the path of every regular file of `after` that `before` lacks or has with other content, in path order,
    /// until it returns `Break`. No content is compared line by line, so it is cheap after every command.
    pub fn visit_changed_files(before: &Self, after: &Self, visit: &mut dyn FnMut(&[u8]) -> ControlFlow<()>) {
        let is_file = |entry: &DiffEntry| entry.stat.kind == Kind::File;
        // The caller already knows if it ended the visit.
        let _ = before.files.visit_changes(&after.files, &mut |path, old, new| match (old, new.filter(is_file)) {
            (_, None) => ControlFlow::Continue(()),
            (Some(old), Some(new)) if is_file(&old) && has_same_content(&old, &new) => ControlFlow::Continue(()),
            (_, Some(_)) => visit(path),
        });
    }
}

fn has_same_content(one: &DiffEntry, two: &DiffEntry) -> bool {
    matches!((&one.contents, &two.contents), (Some(one), Some(two)) if one.reads_like(two))
}

fn side(entry: &DiffEntry) -> DiffSide {
    let kind = match entry.stat.kind {
        Kind::File => FileKind::File,
        Kind::Dir => FileKind::Directory,
        Kind::Symlink => FileKind::Symlink,
        Kind::Device(_) | Kind::Fifo => FileKind::Other,
    };
    DiffSide { kind, mode: entry.stat.mode, size: if kind == FileKind::Directory { 0 } else { entry.stat.size } }
}

/// Remaining limits for comparing text.
struct Budget {
    bytes: u64,
    work: u64,
}

fn content(before: Option<&DiffEntry>, after: Option<&DiffEntry>, budget: &mut Budget) -> ContentChange {
    let has_content =
        |entry: Option<&DiffEntry>| entry.is_some_and(|entry| entry.contents.is_some() || entry.target.is_some());
    if !has_content(before) && !has_content(after) {
        return ContentChange::None;
    }
    if let (Some(DiffEntry { contents: Some(one), .. }), Some(DiffEntry { contents: Some(two), .. })) = (before, after)
        && one.reads_like(two)
    {
        return ContentChange::None;
    }
    let size = |entry: Option<&DiffEntry>| entry.filter(|_| has_content(entry)).map_or(0, |entry| entry.stat.size);
    let (old, new) = (size(before), size(after));
    if old.max(new) > TEXT_BYTES || old + new > budget.bytes {
        return ContentChange::TooLarge;
    }
    budget.bytes -= old + new;
    let (old, new) = (bytes(before), bytes(after));
    if old.contains(&0) || new.contains(&0) {
        return ContentChange::Binary;
    }
    unified::hunks(&old, &new, &mut budget.work).map_or(ContentChange::TooLarge, ContentChange::Text)
}

fn bytes(entry: Option<&DiffEntry>) -> Vec<u8> {
    let Some(entry) = entry else { return Vec::new() };
    match &entry.target {
        Some(target) => target.to_vec(),
        None => entry.contents.as_ref().map(Contents::to_vec).unwrap_or_default(),
    }
}

impl SnapshotDiff {
    /// Returns whether nothing changed.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Formats all changes as one patch in git's format, with paths relative to `/`, for `git apply` and `patch -p1`.
    /// Directories are not included; binary and too large files are only reported as different.
    pub fn to_patch(&self) -> Vec<u8> {
        let mut patch = Vec::new();
        for change in &self.changes {
            change.write_patch(&mut patch);
        }
        patch
    }
}

impl Change {
    fn write_patch(&self, patch: &mut Vec<u8>) {
        let before = self.before.and_then(|side| git_mode(&side));
        let after = self.after.and_then(|side| git_mode(&side));
        let (old, new) = (quoted(b'a', &self.path), quoted(b'b', &self.path));
        let mut say = |parts: &[&[u8]]| patch.extend_from_slice(&parts.concat());
        match (before, after) {
            (None, None) => return,
            (Some(before), Some(after)) => {
                say(&[b"diff --git ", &old, b" ", &new, b"\n"]);
                if before != after {
                    say(&[format!("old mode {before:o}\nnew mode {after:o}\n").as_bytes()]);
                }
            }
            (None, Some(after)) => {
                say(&[b"diff --git ", &old, b" ", &new, format!("\nnew file mode {after:o}\n").as_bytes()]);
            }
            (Some(before), None) => {
                say(&[b"diff --git ", &old, b" ", &new, format!("\ndeleted file mode {before:o}\n").as_bytes()]);
            }
        }
        let old = if before.is_some() { old } else { b"/dev/null".to_vec() };
        let new = if after.is_some() { new } else { b"/dev/null".to_vec() };
        // As git does: a tab ends a name that contains a space, or `patch` takes the rest for a time.
        let end = |name: &[u8]| if name.contains(&b' ') && !name.starts_with(b"\"") { &b"\t\n"[..] } else { b"\n" };
        match &self.content {
            ContentChange::None => {}
            ContentChange::Text(hunks) if hunks.is_empty() => {}
            ContentChange::Text(hunks) => {
                say(&[b"--- ", &old, end(&old), b"+++ ", &new, end(&new), hunks]);
            }
            ContentChange::Binary | ContentChange::TooLarge => {
                say(&[b"Binary files ", &old, b" and ", &new, b" differ\n"]);
            }
        }
    }
}

/// Returns kind and mode in git's notation; `None` for kinds that git does not store.
fn git_mode(side: &DiffSide) -> Option<u32> {
    match side.kind {
        FileKind::File if side.mode & 0o100 != 0 => Some(0o100_755),
        FileKind::File => Some(0o100_644),
        FileKind::Symlink => Some(0o120_000),
        _ => None,
    }
}

/// Formats a path with the prefix `a/` or `b/`, quoted as git does if it has bytes that a header line cannot contain.
fn quoted(side: u8, path: &[u8]) -> Vec<u8> {
    let mut name = vec![side];
    name.extend_from_slice(path);
    let plain = |byte: &u8| (0x20..0x7f).contains(byte) && *byte != b'"' && *byte != b'\\';
    if name.iter().all(plain) {
        return name;
    }
    let mut quoted = vec![b'"'];
    for byte in name {
        match byte {
            b'"' | b'\\' => quoted.extend_from_slice(&[b'\\', byte]),
            _ if plain(&byte) => quoted.push(byte),
            _ => quoted.extend_from_slice(format!("\\{byte:03o}").as_bytes()),
        }
    }
    quoted.push(b'"');
    quoted
}
