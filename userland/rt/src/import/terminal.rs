//! Terminals. The layout of the state is that of `docs/abi.md`.

use super::raw::tidebox;
use crate::errno::check;
use crate::{Fd, Result};

pub(crate) fn tty_get(fd: Fd) -> Result<[u8; 64]> {
    let mut state = [0; 64];
    // SAFETY: `state` is a live local of the size that the kernel writes.
    check(unsafe { tidebox::tty_get(fd, &mut state) })?;
    Ok(state)
}

pub(crate) fn tty_set(fd: Fd, when: u32, state: &[u8; 64]) -> Result<()> {
    // SAFETY: `state` is a live reference of the size that the kernel reads.
    check(unsafe { tidebox::tty_set(fd, when, state) })
}

pub(crate) fn terminal_group(fd: Fd, group: u32) -> Result<u32> {
    let mut out = 0;
    // SAFETY: `out` is a live local.
    check(unsafe { tidebox::tty_group(fd, group, &mut out) })?;
    Ok(out)
}
