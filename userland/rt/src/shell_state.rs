//! The session that the shell of an `execute` takes part in.

use crate::{Errno, Result, border};

/// What most sessions fit into, so that one call is enough.
const FIRST_BYTES: usize = 1024;
const VERSION: u32 = 1;

/// What a shell is told of its session; `docs/abi.md` has the layout.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShellSession {
    /// The request names the working directory.
    pub names_cwd: bool,
    /// The sandbox's working directory cannot be entered, so the shell starts in `/`.
    pub astray: bool,
    /// Variables of the request, each `NAME=value`.
    pub variables: Vec<Vec<u8>>,
    /// What the shell before left. Empty in a new session.
    pub state: Vec<u8>,
}

/// The session that the caller takes part in; `None` when it is not the first shell of an `execute` in a session.
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

/// Leaves a state for the next shell of the session, in the place of what was left before.
///
/// # Errors
/// [`Errno::TOOBIG`] when the sandbox does not keep as much; what was left before stays.
pub fn leave_shell_state(state: &[u8]) -> Result<()> {
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
    fn what_is_told_is_flags_variables_and_the_rest() {
        let told = [&[1, 0, 0, 0, 3, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0][..], b"A=1\x02\0\0\0B=state"].concat();
        let session = decode(&told).expect("the layout is right");
        assert!(session.names_cwd && session.astray);
        assert_eq!(session.variables, [b"A=1".to_vec(), b"B=".to_vec()]);
        assert_eq!(session.state, b"state");
    }

    #[test]
    fn another_version_and_every_cut_within_the_variables_are_no_session() {
        let told = [&[1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0][..], b"A=1"].concat();
        for len in 0..told.len() {
            assert_eq!(decode(&told[..len]), None, "{len}");
        }
        assert!(decode(&told).is_some());
        assert_eq!(decode(&[2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]), None);
    }
}
