//! What changed from one snapshot to another.

use std::ops::ControlFlow;

use tidebox_core::FileKind;
use tidebox_kernel::fs::{Contents, Entry, Kind};

use super::{Snapshot, unified};

/// Longest file that is compared line by line.
const TEXT_BYTES: u64 = 1 << 20;

/// Bytes of all files that are compared line by line, both sides together. Beyond it a change is told without its lines.
const ALL_TEXT_BYTES: u64 = 32 << 20;

/// What may be spent on finding lines, about a second.
const WORK: u64 = 1_500_000_000;

/// Changes that are told, and the bytes of their paths together. A guest can nest directories so deep that the paths of
/// a small tree are gigabytes.
const CHANGES: usize = 200_000;
const PATH_BYTES: usize = 64 << 20;

/// What changed between two snapshots, in the order of the paths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SnapshotDiff {
    /// Every path that was added, changed or removed; a directory comes before what is in it. A moved file is removed
    /// in one place and added in another; a file that became a link or a directory is removed and added in the same
    /// place. Times, owners and names of the same inode are not compared.
    pub changes: Vec<Change>,
    /// Whether there were more changes than are told here: 200,000, or 64 MiB of paths.
    pub truncated: bool,
}

/// What changed at one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Absolute path. Not necessarily UTF-8.
    pub path: Vec<u8>,
    /// What was there; `None` when it was added.
    pub before: Option<Side>,
    /// What is there now; `None` when it was removed.
    pub after: Option<Side>,
    /// How what it holds differs.
    pub content: ContentChange,
}

/// What a snapshot has at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Side {
    /// File, directory, symbolic link or something else.
    pub kind: FileKind,
    /// The twelve mode bits.
    pub mode: u32,
    /// Bytes of a file or of a link's target.
    pub size: u64,
}

/// How what a path holds differs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ContentChange {
    /// Not at all: the mode changed, or it is a directory.
    None,
    /// By these hunks of the unified format. The target of a symbolic link is compared as a text of one line without an
    /// end, as git does. Empty for an empty file that was added or removed.
    Text(Vec<u8>),
    /// One side contains a NUL byte.
    Binary,
    /// One side is longer than 1 MiB, 32 MiB of text were compared already, or the lines are so many and so alike that
    /// comparing them would take seconds.
    TooLarge,
}

impl Snapshot {
    /// What changed from `before` to `after`. The two may come from different sandboxes. What they share is recognised
    /// without being read, so a few changes in a large tree take a look at each name and work for the changes.
    pub fn diff(before: &Self, after: &Self) -> SnapshotDiff {
        let mut diff = SnapshotDiff::default();
        let (mut budget, mut path_bytes) = (Budget { bytes: ALL_TEXT_BYTES, work: WORK }, PATH_BYTES);
        let mut one = |path: &[u8], before: Option<Entry>, after: Option<Entry>| {
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
        // The flag says what a break would say.
        let _ = before.files.compare(&after.files, &mut |path, before, after| match (before, after) {
            (Some(before), Some(after)) if before.stat.kind != after.stat.kind => {
                one(path, Some(before), None)?;
                one(path, None, Some(after))
            }
            (before, after) => one(path, before, after),
        });
        diff
    }
}

fn side(entry: &Entry) -> Side {
    let kind = match entry.stat.kind {
        Kind::File => FileKind::File,
        Kind::Dir => FileKind::Directory,
        Kind::Symlink => FileKind::Symlink,
        Kind::Device(_) | Kind::Fifo => FileKind::Other,
    };
    Side { kind, mode: entry.stat.mode, size: if kind == FileKind::Directory { 0 } else { entry.stat.size } }
}

/// What is left for texts.
struct Budget {
    bytes: u64,
    work: u64,
}

fn content(before: Option<&Entry>, after: Option<&Entry>, budget: &mut Budget) -> ContentChange {
    let held = |entry: Option<&Entry>| entry.is_some_and(|entry| entry.contents.is_some() || entry.target.is_some());
    if !held(before) && !held(after) {
        return ContentChange::None;
    }
    if let (Some(Entry { contents: Some(one), .. }), Some(Entry { contents: Some(two), .. })) = (before, after)
        && one.reads_like(two)
    {
        return ContentChange::None;
    }
    let size = |entry: Option<&Entry>| entry.filter(|_| held(entry)).map_or(0, |entry| entry.stat.size);
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

fn bytes(entry: Option<&Entry>) -> Vec<u8> {
    let Some(entry) = entry else { return Vec::new() };
    match &entry.target {
        Some(target) => target.to_vec(),
        None => entry.contents.as_ref().map(Contents::to_vec).unwrap_or_default(),
    }
}

impl SnapshotDiff {
    /// Whether nothing changed.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// All changes as one patch in git's format, with paths relative to `/`: what `git apply` and `patch -p1` take.
    /// Directories are not in it, and of files that are binary or too large only that they differ.
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
        // As git does: a tab ends a name with a space in it, or `patch` takes the rest for a time.
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

/// Kind and mode as git writes them; `None` for what git does not keep.
fn git_mode(side: &Side) -> Option<u32> {
    match side.kind {
        FileKind::File if side.mode & 0o100 != 0 => Some(0o100_755),
        FileKind::File => Some(0o100_644),
        FileKind::Symlink => Some(0o120_000),
        _ => None,
    }
}

/// A path behind `a/` or `b/`, quoted as git does when it has bytes that a header line could not hold.
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
