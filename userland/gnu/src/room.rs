//! How much room the files of a sandbox have, and take.

use std::collections::BTreeSet;

use tidebox_rt::FileKind;

/// Folders within folders that are looked into.
const DEEPEST: usize = 1000;

/// Room for files, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Room {
    /// What the limits of the sandbox allow.
    pub total: u64,
    /// What its files take.
    pub used: u64,
    /// How many files, folders and links there are.
    pub files: u64,
}

impl Room {
    /// Adds up everything on the device of the sandbox's working files. Programs are part of the sandbox and count for nothing.
    pub fn of_sandbox() -> Self {
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
                // Of several names of one file one counts.
                let again = stat.nlink > 1 && stat.kind() != FileKind::Dir && !linked.insert(stat.ino);
                if stat.dev != device || again {
                    continue;
                }
                room.files += 1;
                match stat.kind() {
                    FileKind::Dir if depth < DEEPEST => open.push((path, depth + 1)),
                    FileKind::File => room.used = room.used.saturating_add(stat.size),
                    _ => {}
                }
            }
        }
        room.total = tidebox_rt::limits().map_or(0, |limits| limits.file_bytes).max(room.used);
        room
    }
}
