//! `stat -f`: attributes of the file system of a file.

use tidebox_gnu::disk_usage::DiskUsage;
use tidebox_rt::Stat;

/// Default format of `stat -f`.
pub(crate) const DEFAULT: &str = "  File: \"%n\"
    ID: %-8i Namelen: %-7l Type: %T
Block size: %-10s Fundamental block size: %S
Blocks: Total: %-10b Free: %-10f Available: %a
Inodes: Total: %-10c Free: %d
";

/// Format of `stat -ft`.
pub(crate) const TERSE: &str = "%n %i %l %t %s %S %b %f %a %c %d\n";

/// Block size in bytes.
const BLOCK: u64 = 4096;

/// Maximum length of a name in bytes.
const MAX_NAME: u64 = 255;

/// A file system.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FileSystem {
    usage: DiskUsage,
}

impl FileSystem {
    pub(crate) fn now() -> Self {
        Self { usage: DiskUsage::measure() }
    }

    /// Returns the value of a directive; `None` if its letter is unknown.
    pub(crate) fn value(&self, letter: u8, file: &[u8], stat: &Stat) -> Option<Vec<u8>> {
        let is_proc = tidebox_rt::stat(b"/proc", true).is_ok_and(|proc| proc.dev == stat.dev)
            && tidebox_rt::stat(b"/", true).is_ok_and(|root| root.dev != stat.dev);
        let usage = if is_proc { DiskUsage::default() } else { self.usage };
        let free = usage.total - usage.used;
        Some(
            match letter {
                b'n' => return Some(file.to_vec()),
                b'a' | b'f' => (free / BLOCK).to_string(),
                b'b' => (usage.total / BLOCK).to_string(),
                // The number of files is limited only by their size.
                b'c' => usage.files.to_string(),
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
