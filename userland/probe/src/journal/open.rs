//! Open modes: the flags of preview1 and their use by libc.

use crate::sys::Open;
use crate::text;

pub(crate) const FOLLOW: u32 = 1;
pub(crate) const NOFOLLOW: u32 = 0;

pub(crate) const CREAT: u32 = 1;
pub(crate) const DIRECTORY: u32 = 2;
pub(crate) const EXCL: u32 = 4;
pub(crate) const TRUNC: u32 = 8;

pub(crate) const APPEND: u32 = 1;
pub(crate) const DSYNC: u32 = 2;
pub(crate) const NONBLOCK: u32 = 4;
pub(crate) const RSYNC: u32 = 8;
pub(crate) const SYNC: u32 = 16;

const OFLAGS: [&str; 4] = ["creat", "directory", "excl", "trunc"];
pub(crate) const FDFLAGS: [&str; 5] = ["append", "dsync", "nonblock", "rsync", "sync"];
pub(super) const TIME_FLAGS: [&str; 4] = ["atim", "atim_now", "mtim", "mtim_now"];

/// Rights that determine how a file is opened.
const RIGHT_READ: u64 = 1 << 1;
const RIGHT_WRITE: u64 = 1 << 6;
/// Additional rights that libc requests besides reading and writing.
const RIGHTS_OTHERWISE: u64 = 0x1fff_ffff & !RIGHT_READ & !RIGHT_WRITE;

/// Reads and follows links, like `open(path, O_RDONLY)`.
pub(crate) const READ: Open = Open { dirflags: FOLLOW, oflags: 0, rights: RIGHTS_OTHERWISE | RIGHT_READ, fdflags: 0 };
/// Like [`READ`], for writing.
pub(crate) const WRITE: Open = Open { rights: RIGHTS_OTHERWISE | RIGHT_WRITE, ..READ };
/// Like [`READ`], for both.
pub(crate) const BOTH: Open = Open { rights: RIGHTS_OTHERWISE | RIGHT_READ | RIGHT_WRITE, ..READ };

impl Open {
    pub(crate) fn flags(self, oflags: u32) -> Self {
        Self { oflags: self.oflags | oflags, ..self }
    }

    pub(crate) fn fd(self, fdflags: u32) -> Self {
        Self { fdflags: self.fdflags | fdflags, ..self }
    }

    pub(crate) fn nofollow(self) -> Self {
        Self { dirflags: NOFOLLOW, ..self }
    }

    pub(super) fn text(self) -> String {
        let mode = match (self.rights & RIGHT_READ != 0, self.rights & RIGHT_WRITE != 0) {
            (true, true) => "rw",
            (true, false) => "r",
            (false, true) => "w",
            (false, false) => "neither",
        };
        let follow = if self.dirflags == FOLLOW { "" } else { " nofollow" };
        let (oflags, fdflags) = (text::flags(self.oflags, &OFLAGS), text::flags(self.fdflags, &FDFLAGS));
        format!("{mode} {oflags} {fdflags}{follow}")
    }
}
