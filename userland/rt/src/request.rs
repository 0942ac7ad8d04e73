//! Encoding of spawn requests.

use crate::Fd;

/// A spawn request. `docs/abi.md` defines the encoding.
#[derive(Clone, Debug, Default)]
pub struct SpawnRequest<'a> {
    /// The program's file, already looked up in `PATH`.
    pub path: &'a [u8],
    /// Arguments, the program's name first.
    pub args: &'a [&'a [u8]],
    /// Environment, each `NAME=value`.
    pub env: &'a [&'a [u8]],
    /// Working directory of the child; empty means the caller's.
    pub cwd: &'a [u8],
    /// Pairs of (the child's descriptor, the caller's descriptor). The child gets only these.
    pub fds: &'a [(Fd, Fd)],
    /// 0: the caller's process group; 1: a new one; else the group to join.
    pub group: u32,
    /// Signals that the child starts with ignored; bit *n* is signal *n*.
    pub ignored: u64,
}

impl SpawnRequest<'_> {
    /// Encodes the request. Lengths beyond `u32` cannot occur in a 32-bit guest and saturate elsewhere.
    pub fn encode(&self) -> Vec<u8> {
        let strings = |list: &[&[u8]]| list.iter().map(|s| s.len() + 4).sum::<usize>() + 4;
        let room = 28 + self.path.len() + self.cwd.len() + strings(self.args) + strings(self.env) + self.fds.len() * 8;
        let mut out = Vec::with_capacity(room);
        put_u32(&mut out, 1);
        put_bytes(&mut out, self.path);
        put_list(&mut out, self.args);
        put_list(&mut out, self.env);
        put_bytes(&mut out, self.cwd);
        put_len(&mut out, self.fds.len());
        for &(child, own) in self.fds {
            put_u32(&mut out, child);
            put_u32(&mut out, own);
        }
        put_u32(&mut out, self.group);
        out.extend_from_slice(&self.ignored.to_le_bytes());
        out
    }
}

fn put_u32(out: &mut Vec<u8>, value: u32) {
    out.extend_from_slice(&value.to_le_bytes());
}

fn put_len(out: &mut Vec<u8>, len: usize) {
    put_u32(out, u32::try_from(len).unwrap_or(u32::MAX));
}

fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_len(out, bytes.len());
    out.extend_from_slice(bytes);
}

fn put_list(out: &mut Vec<u8>, list: &[&[u8]]) {
    put_len(out, list.len());
    for bytes in list {
        put_bytes(out, bytes);
    }
}
