//! The shell session of an `execute`.

use crate::{Errno, Result, border};

/// Initial buffer size, large enough for most sessions, so that one call suffices.
const FIRST_BYTES: usize = 1024;
const VERSION: u32 = 1;

/// Session data of a shell; `docs/abi.md` has the layout.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShellSession {
    /// True if the request specifies the working directory.
    pub names_cwd: bool,
    /// True if the sandbox's working directory cannot be entered and the shell starts in `/`.
    pub astray: bool,
    /// Variables of the request, each `NAME=value`.
    pub variables: Vec<Vec<u8>>,
    /// State saved by the previous shell. Empty in a new session.
    pub state: Vec<u8>,
}

/// Returns the caller's session; `None` if it is not the first shell of an `execute` in a session.
pub fn shell_session() -> Option<ShellSession> {
    let mut bytes = vec![0; FIRST_BYTES];
    loop {
        match border::shell_state_read(&mut bytes) {
            Ok(len) => {
                bytes.truncate(len);
                return decode(&bytes);
            }
            Err((Errno::RANGE, len)) if len > bytes.len() => bytes.resize(len, 0),
            Err(_) => return None,
        }
    }
}

/// Saves the state for the next shell of the session, replacing the previous state.
///
/// # Errors
/// [`Errno::TOOBIG`] if the state exceeds the sandbox's limit; the previous state is kept.
pub fn store_shell_state(state: &[u8]) -> Result<()> {
    border::shell_state_write(state)
}

/// `None` for a layout of another version.
fn decode(bytes: &[u8]) -> Option<ShellSession> {
    let mut rest = bytes;
    let version = number(&mut rest)?;
    let flags = number(&mut rest)?;
    let count = number(&mut rest)?;
    let mut variables = Vec::new();
    for _ in 0..count {
        let len = number(&mut rest)? as usize;
        let (variable, after) = rest.split_at_checked(len)?;
        variables.push(variable.to_vec());
        rest = after;
    }
    let session = ShellSession { names_cwd: flags & 1 != 0, astray: flags & 2 != 0, variables, state: rest.to_vec() };
    (version == VERSION).then_some(session)
}

fn number(rest: &mut &[u8]) -> Option<u32> {
    let (number, after) = rest.split_first_chunk()?;
    *rest = after;
    Some(u32::from_le_bytes(*number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_variables_and_the_rest_are_decoded() {
        let encoded = [&[1, 0, 0, 0, 3, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0][..], b"A=1\x02\0\0\0B=state"].concat();
        let session = decode(&encoded).expect("the layout is right");
        assert!(session.names_cwd && session.astray);
        assert_eq!(session.variables, [b"A=1".to_vec(), b"B=".to_vec()]);
        assert_eq!(session.state, b"state");
    }

    #[test]
    fn other_versions_and_truncated_variables_are_rejected() {
        let encoded = [&[1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0][..], b"A=1"].concat();
        for len in 0..encoded.len() {
            assert_eq!(decode(&encoded[..len]), None, "{len}");
        }
        assert!(decode(&encoded).is_some());
        assert_eq!(decode(&[2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]), None);
    }
}
