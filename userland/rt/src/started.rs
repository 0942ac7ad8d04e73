//! What a program was started with, asked for at once.

use core::ffi::CStr;

use crate::border;

/// Arguments, environment, descriptors and the rest of what a program begins with; `docs/abi.md` has the layout.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Started {
    /// The program takes part in a session, and [`crate::shell_session`] answers.
    pub keeps_state: bool,
    /// When, by the clock of [`crate::monotonic_ns`].
    pub at_ns: u64,
    /// Signals that it ignores: bit *n* is signal *n*.
    pub ignored: u64,
    /// Open descriptors as Unix counts them: bit *n* is descriptor *n*. They lie where [`crate::fd_of_unix`] says.
    pub descriptors: u64,
    /// The working directory without symbolic links; empty when it was removed.
    pub cwd: Vec<u8>,
    /// Each with a NUL behind it, as the environment.
    pub(crate) args: Vec<u8>,
    pub(crate) environ: Vec<u8>,
}

impl Started {
    /// The arguments, the program's name first.
    pub fn args(&self) -> impl Iterator<Item = &[u8]> {
        strings(&self.args)
    }

    /// The environment, each `NAME=value`.
    pub fn environ(&self) -> impl Iterator<Item = &[u8]> {
        strings(&self.environ)
    }
}

/// What the caller was started with. To be asked for once, before descriptors are opened.
pub fn started() -> Started {
    border::started()
}

/// The strings of a list, each of which ends with a NUL.
fn strings(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = list;
    core::iter::from_fn(move || {
        let string = CStr::from_bytes_until_nul(rest).ok()?.to_bytes();
        rest = rest.get(string.len() + 1..)?;
        Some(string)
    })
}

#[cfg(any(target_family = "wasm", test))]
impl Started {
    /// What most programs are started with fits, so that one call is enough.
    #[cfg(target_family = "wasm")]
    pub(crate) const FIRST_BYTES: usize = 2048;
    const VERSION: u32 = 1;

    /// `None` for a layout of another version.
    pub(crate) fn decode(told: &[u8]) -> Option<Self> {
        let (&[version, _, _, _, flags, _, _, _], rest) = told.split_first_chunk()?;
        let (at_ns, rest) = rest.split_first_chunk()?;
        let (ignored, rest) = rest.split_first_chunk()?;
        let (descriptors, mut rest) = rest.split_first_chunk()?;
        let mut list = || {
            let (len, after) = rest.split_first_chunk()?;
            let (bytes, after) = after.split_at_checked(u32::from_le_bytes(*len) as usize)?;
            rest = after;
            Some(bytes.to_vec())
        };
        let (args, environ, cwd) = (list()?, list()?, list()?);
        let [at_ns, ignored, descriptors] = [at_ns, ignored, descriptors].map(|bytes| u64::from_le_bytes(*bytes));
        (u32::from(version) == Self::VERSION).then_some(Self {
            keeps_state: flags & 1 != 0,
            at_ns,
            ignored,
            descriptors,
            cwd,
            args,
            environ,
        })
    }
}
