//! `stat -f`: the state of the file system that a file is on.

use tidebox_gnu::disk_usage::DiskUsage;
use tidebox_rt::Stat;

/// What `stat -f` prints when nobody says otherwise.
pub(crate) const DEFAULT: &str = "  File: \"%n\"
    ID: %-8i Namelen: %-7l Type: %T
Block size: %-10s Fundamental block size: %S
Blocks: Total: %-10b Free: %-10f Available: %a
Inodes: Total: %-10c Free: %d
";

/// The same on one line.
pub(crate) const TERSE: &str = "%n %i %l %t %s %S %b %f %a %c %d\n";

/// Bytes of a block.
const BLOCK: u64 = 4096;

/// Bytes of the longest name.
const MAX_NAME: u64 = 255;

/// A file system.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FileSystem {
    room: DiskUsage,
}

impl FileSystem {
    pub(crate) fn now() -> Self {
        Self { room: DiskUsage::measure() }
    }

    /// The value of a letter; `None` when there is no such letter.
    pub(crate) fn value(&self, letter: u8, file: &[u8], stat: &Stat) -> Option<Vec<u8>> {
        let is_proc = tidebox_rt::stat(b"/proc", true).is_ok_and(|proc| proc.dev == stat.dev)
            && tidebox_rt::stat(b"/", true).is_ok_and(|root| root.dev != stat.dev);
        let room = if is_proc { DiskUsage::default() } else { self.room };
        let free = room.total - room.used;
        Some(
            match letter {
                b'n' => return Some(file.to_vec()),
                b'a' | b'f' => (free / BLOCK).to_string(),
                b'b' => (room.total / BLOCK).to_string(),
                // Nothing bounds the number of files but their bytes.
                b'c' => room.files.to_string(),
                b'd' => "0".to_owned(),
                b'i' => format!("{:x}", stat.dev),
                b'l' => MAX_NAME.to_string(),
                b's' | b'S' => BLOCK.to_string(),
                b't' => "0".to_owned(),
                b'T' => if is_proc { "proc" } else { "tidebox" }.to_owned(),
                _ => return None,
            }
            .into_bytes(),
        )
    }
}
