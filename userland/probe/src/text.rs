//! Value formats in a line: witx names instead of numbers, digests instead of long contents.

use std::fmt::Write as _;

const ERRNO: [&str; 77] = [
    "ok",
    "2big",
    "acces",
    "addrinuse",
    "addrnotavail",
    "afnosupport",
    "again",
    "already",
    "badf",
    "badmsg",
    "busy",
    "canceled",
    "child",
    "connaborted",
    "connrefused",
    "connreset",
    "deadlk",
    "destaddrreq",
    "dom",
    "dquot",
    "exist",
    "fault",
    "fbig",
    "hostunreach",
    "idrm",
    "ilseq",
    "inprogress",
    "intr",
    "inval",
    "io",
    "isconn",
    "isdir",
    "loop",
    "mfile",
    "mlink",
    "msgsize",
    "multihop",
    "nametoolong",
    "netdown",
    "netreset",
    "netunreach",
    "nfile",
    "nobufs",
    "nodev",
    "noent",
    "noexec",
    "nolck",
    "nolink",
    "nomem",
    "nomsg",
    "noprotoopt",
    "nospc",
    "nosys",
    "notconn",
    "notdir",
    "notempty",
    "notrecoverable",
    "notsock",
    "notsup",
    "notty",
    "nxio",
    "overflow",
    "ownerdead",
    "perm",
    "pipe",
    "proto",
    "protonosupport",
    "prototype",
    "range",
    "rofs",
    "spipe",
    "srch",
    "stale",
    "timedout",
    "txtbsy",
    "xdev",
    "notcapable",
];

const FILE_TYPE: [&str; 8] = ["unknown", "block", "char", "dir", "file", "dgram", "stream", "link"];

/// Returns the witx name of an error number.
pub(crate) fn errno(number: u16) -> &'static str {
    ERRNO.get(usize::from(number)).copied().unwrap_or("errno-beyond-the-witx")
}

/// Returns the witx name of a file type.
pub(crate) fn file_type(number: u8) -> &'static str {
    FILE_TYPE.get(usize::from(number)).copied().unwrap_or("type-beyond-the-witx")
}

/// Names of the set bits, `-` for none.
pub(crate) fn flags(bits: u32, names: &[&str]) -> String {
    let set: Vec<&str> = (0_u32..).zip(names).filter(|(bit, _)| bits >> bit & 1 == 1).map(|(_, name)| *name).collect();
    if set.is_empty() { "-".to_owned() } else { set.join("+") }
}

/// Formats bytes in quotes; beyond 40 bytes as length and digest, to keep the line short.
pub(crate) fn bytes(bytes: &[u8]) -> String {
    if bytes.len() <= 40 {
        return format!("\"{}\"", bytes.escape_ascii());
    }
    let mut out = String::new();
    let start = bytes.get(..8).unwrap_or_default();
    let _infallible = write!(out, "\"{}...\"#{:08x}*{}", start.escape_ascii(), digest(bytes), bytes.len());
    out
}

/// FNV-1a: distinguishes contents well enough to point at the line that differs; the trees are compared byte by byte afterwards.
fn digest(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}
