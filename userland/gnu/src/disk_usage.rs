//! Storage limit and usage of a sandbox's files.

use std::collections::BTreeSet;

use tidebox_rt::FileKind;

/// Maximum depth of nested directories.
const MAX_DEPTH: usize = 1000;

/// Storage, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiskUsage {
    /// Limit of the sandbox.
    pub total: u64,
    /// Bytes used by its files.
    pub used: u64,
    /// Number of files, directories and links.
    pub files: u64,
}

impl DiskUsage {
    /// Counts everything on the device of the sandbox's working files. Programs are part of the sandbox and are not counted.
    pub fn measure() -> Self {
        let device = tidebox_rt::stat(b"/tmp", true).map(|stat| stat.dev).unwrap_or_default();
        let mut room = Self::default();
        let (mut open, mut linked) = (vec![(b"/".to_vec(), 0)], BTreeSet::new());
        while let Some((folder, depth)) = open.pop() {
            for entry in tidebox_rt::read_dir(&folder).unwrap_or_default() {
                let slash: &[u8] = if folder.ends_with(b"/") { b"" } else { b"/" };
                let path = [folder.as_slice(), slash, &entry.name].concat();
                if matches!(path.as_slice(), b"/bin" | b"/usr" | b"/proc" | b"/dev" | b"/etc" | b"/lib") {
                    continue;
                }
                let Ok(stat) = tidebox_rt::stat(&path, false) else {
                    continue;
                };
                // Count hard links to one file once.
                let again = stat.nlink > 1 && stat.kind() != FileKind::Dir && !linked.insert(stat.ino);
                if stat.dev != device || again {
                    continue;
                }
                room.files += 1;
                match stat.kind() {
                    FileKind::Dir if depth < MAX_DEPTH => open.push((path, depth + 1)),
                    FileKind::File => room.used = room.used.saturating_add(stat.size),
                    _ => {}
                }
            }
        }
        room.total = tidebox_rt::limits().map_or(0, |limits| limits.file_bytes).max(room.used);
        room
    }
}
