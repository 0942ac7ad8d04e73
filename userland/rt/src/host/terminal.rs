//! Terminals: the host's are not used, so every descriptor is something else.

use crate::{Errno, Fd, Result};

pub(crate) fn tty_get(_: Fd) -> Result<[u8; 64]> {
    Err(Errno::NOTTY)
}

pub(crate) fn tty_set(_: Fd, _: u32, _: &[u8; 64]) -> Result<()> {
    Err(Errno::NOTTY)
}

pub(crate) fn terminal_group(_: Fd, _: u32) -> Result<u32> {
    Err(Errno::NOTTY)
}
