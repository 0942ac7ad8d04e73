//! Startup information, fetched in one call.

use core::ffi::CStr;

use crate::border;

/// Arguments, environment, descriptors and other state at program start; `docs/abi.md` has the layout.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StartupInfo {
    /// The program takes part in a session, so [`crate::shell_session`] returns it.
    pub keeps_state: bool,
    /// Start time, on the clock of [`crate::monotonic_ns`].
    pub at_ns: u64,
    /// Ignored signals: bit *n* is signal *n*.
    pub ignored: u64,
    /// Open descriptors by Unix number: bit *n* is descriptor *n*. [`crate::fd_of_unix`] maps them.
    pub descriptors: u64,
    /// The working directory without symbolic links; empty when it was removed.
    pub cwd: Vec<u8>,
    /// Each followed by a NUL, like the environment.
    pub(crate) args: Vec<u8>,
    pub(crate) environ: Vec<u8>,
}

impl StartupInfo {
    /// The arguments, the program's name first.
    pub fn args(&self) -> impl Iterator<Item = &[u8]> {
        strings(&self.args)
    }

    /// The environment, each `NAME=value`.
    pub fn environ(&self) -> impl Iterator<Item = &[u8]> {
        strings(&self.environ)
    }
}

/// Returns the caller's startup information. Call it once, before descriptors are opened.
pub fn startup_info() -> StartupInfo {
    border::startup_info()
}

/// Splits a list of NUL-terminated strings.
fn strings(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = list;
    core::iter::from_fn(move || {
        let string = CStr::from_bytes_until_nul(rest).ok()?.to_bytes();
        rest = rest.get(string.len() + 1..)?;
        Some(string)
    })
}

#[cfg(any(target_family = "wasm", test))]
impl StartupInfo {
    /// Initial buffer size, large enough for most programs, so that one call suffices.
    #[cfg(target_family = "wasm")]
    pub(crate) const FIRST_BYTES: usize = 2048;
    const VERSION: u32 = 1;

    /// `None` for a layout of another version.
    pub(crate) fn decode(encoded: &[u8]) -> Option<Self> {
        let (&[version, _, _, _, flags, _, _, _], rest) = encoded.split_first_chunk()?;
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
