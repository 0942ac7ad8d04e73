//! Error messages of the C library in an interpreter, replaced by those of Linux.
//!
//! The library has the messages in sequence, followed by a table of the offset of each number's message. Messages of different
//! lengths must fit into the original space.

use std::collections::BTreeMap;

/// Start of the messages.
const START: &[u8] = b"Success\0Illegal byte sequence\0Domain error\0";

/// Count of WASI numbers, and so of table entries.
const COUNT: usize = 77;

/// Messages that differ on Linux.
const REPLACEMENTS: [(&str, &str); 18] = [
    ("Capabilities insufficient", "Operation not permitted"),
    ("Cross-device link", "Invalid cross-device link"),
    ("Domain error", "Numerical argument out of domain"),
    ("Filename too long", "File name too long"),
    ("I/O error", "Input/output error"),
    ("Invalid seek", "Illegal seek"),
    ("No child process", "No child processes"),
    ("No file descriptors available", "Too many open files"),
    ("Not a tty", "Inappropriate ioctl for device"),
    ("Not supported", "Operation not supported"),
    ("Operation timed out", "Connection timed out"),
    ("Out of memory", "Cannot allocate memory"),
    ("Resource busy", "Device or resource busy"),
    ("Resource deadlock would occur", "Resource deadlock avoided"),
    ("Result not representable", "Numerical result out of range"),
    ("Socket not connected", "Transport endpoint is not connected"),
    ("Symbolic link loop", "Too many levels of symbolic links"),
    ("Value too large for data type", "Value too large for defined data type"),
];

/// Messages for network streams and queues, which no call of the kernel returns. They are replaced by one shared message to free
/// space.
const UNUSED_MESSAGES: [&str; 5] = [
    "Identifier removed",
    "Link has been severed",
    "Multihop attempted",
    "No message of desired type",
    "Previous owner died",
];
const SHARED: &str = "Operation not supported";

/// Returns the data with replaced messages, if it contains the library's messages and the new ones fit.
pub(super) fn patch_messages(data: &[u8]) -> Option<Vec<u8>> {
    let start = data.windows(START.len()).position(|window| window == START)?;
    let all = data.get(start..)?;
    let mut old = BTreeMap::new();
    let mut at = 0;
    loop {
        let rest = all.get(at..)?;
        let len = rest.iter().position(|byte| *byte == 0)?;
        if len == 0 {
            break;
        }
        old.insert(u16::try_from(at).ok()?, std::str::from_utf8(rest.get(..len)?).ok()?);
        at += len + 1;
    }
    // The table follows the messages, aligned to its number size.
    let (available, texts) = (at..at + 64).find_map(|table| Some((table, find_table(all.get(table..)?, &old)?)))?;
    let mut bytes = Vec::new();
    let mut table = Vec::new();
    let mut offsets = BTreeMap::new();
    for text in texts {
        let replacement = REPLACEMENTS.iter().find(|(old, _)| *old == text).map_or(text, |(_, new)| new);
        let text = if UNUSED_MESSAGES.contains(&text) { SHARED } else { replacement };
        let offset = *offsets.entry(text).or_insert_with(|| {
            let offset = bytes.len();
            bytes.extend_from_slice(text.as_bytes());
            bytes.push(0);
            offset
        });
        table.extend_from_slice(&u16::try_from(offset).ok()?.to_le_bytes());
    }
    if bytes.len() > available {
        return None;
    }
    bytes.resize(available, 0);
    bytes.append(&mut table);
    let mut changed = data.to_vec();
    changed.get_mut(start..start + bytes.len())?.copy_from_slice(&bytes);
    Some(changed)
}

/// Returns the message of each number, if this is the table.
fn find_table<'a>(bytes: &[u8], texts: &BTreeMap<u16, &'a str>) -> Option<Vec<&'a str>> {
    let entries = bytes.get(..COUNT * 2)?.as_chunks::<2>().0;
    let found: Vec<&str> =
        entries.iter().map(|entry| texts.get(&u16::from_le_bytes(*entry)).copied()).collect::<Option<_>>()?;
    (found.first() == Some(&"Success") && found.get(44) == Some(&"No such file or directory")).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates messages and their table as the library has them, for some numbers.
    fn library(texts: &[(usize, &str)]) -> Vec<u8> {
        let mut bytes = b"before\0".to_vec();
        let mut table = [0_u8; COUNT * 2];
        let start = bytes.len();
        for text in
            ["Success", "Illegal byte sequence", "Domain error"].iter().chain(texts.iter().map(|(_, text)| text))
        {
            if let Some((number, _)) = texts.iter().find(|(_, message)| message == text) {
                table[number * 2..][..2].copy_from_slice(&((bytes.len() - start) as u16).to_le_bytes());
            }
            bytes.extend_from_slice(text.as_bytes());
            bytes.push(0);
        }
        bytes.extend_from_slice(&[0; 9]);
        bytes.extend_from_slice(&table);
        bytes.extend_from_slice(b"after.");
        bytes
    }

    fn text(library: &[u8], number: usize) -> &str {
        let (start, table) = (7, library.len() - 6 - COUNT * 2);
        let offset = usize::from(u16::from_le_bytes(library[table + number * 2..][..2].try_into().unwrap()));
        let rest = &library[start + offset..];
        std::str::from_utf8(&rest[..rest.iter().position(|byte| *byte == 0).unwrap()]).unwrap()
    }

    #[test]
    fn only_messages_are_replaced_by_those_of_linux() {
        let old = library(&[(44, "No such file or directory"), (70, "Invalid seek"), (36, "Multihop attempted")]);
        assert_eq!(text(&old, 70), "Invalid seek");
        let new = patch_messages(&old).unwrap();
        assert_eq!(
            (text(&new, 0), text(&new, 44), text(&new, 70)),
            ("Success", "No such file or directory", "Illegal seek")
        );
        assert_eq!(text(&new, 36), SHARED);
        assert_eq!(
            (new.len(), &new[..7], &new[new.len() - 6..]),
            (old.len(), b"before\0".as_slice(), b"after.".as_slice())
        );
    }

    #[test]
    fn data_without_messages_or_space_is_unchanged() {
        assert_eq!(patch_messages(b"other data"), None);
        assert_eq!(patch_messages(START), None);
        assert_eq!(patch_messages(&library(&[(44, "No such file or directory")])[..60]), None);
        let full = library(&[
            (44, "No such file or directory"),
            (59, "Not a tty"),
            (32, "Symbolic link loop"),
            (48, "Out of memory"),
        ]);
        assert_eq!(patch_messages(&full), None);
    }
}
