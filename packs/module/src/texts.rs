//! What errors are called: the texts of the C library in an interpreter, in the words of Linux.
//!
//! The library has them one behind the other, and a table that says where that of each number begins. Texts of other lengths have to
//! fit where the old ones were.

use std::collections::BTreeMap;

/// How the texts begin.
const BEGIN: &[u8] = b"Success\0Illegal byte sequence\0Domain error\0";

/// Numbers of WASI, and so entries of the table.
const NUMBERS: usize = 77;

/// What is called otherwise.
const RENAMED: [(&str, &str); 18] = [
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

/// Errors of streams and queues between machines, which no call of the kernel answers with. They make room by sharing a text.
const NEVER: [&str; 5] = [
    "Identifier removed",
    "Link has been severed",
    "Multihop attempted",
    "No message of desired type",
    "Previous owner died",
];
const SHARED: &str = "Operation not supported";

/// The data with those texts, when it is where the library has them and there is room.
pub(super) fn renamed(data: &[u8]) -> Option<Vec<u8>> {
    let start = data.windows(BEGIN.len()).position(|window| window == BEGIN)?;
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
    // The table begins behind the texts, where a number of its size may begin.
    let (room, texts) = (at..at + 64).find_map(|table| Some((table, table_of(all.get(table..)?, &old)?)))?;
    let mut bytes = Vec::new();
    let mut table = Vec::new();
    let mut places = BTreeMap::new();
    for text in texts {
        let renamed = RENAMED.iter().find(|(old, _)| *old == text).map_or(text, |(_, new)| new);
        let text = if NEVER.contains(&text) { SHARED } else { renamed };
        let place = *places.entry(text).or_insert_with(|| {
            let place = bytes.len();
            bytes.extend_from_slice(text.as_bytes());
            bytes.push(0);
            place
        });
        table.extend_from_slice(&u16::try_from(place).ok()?.to_le_bytes());
    }
    if bytes.len() > room {
        return None;
    }
    bytes.resize(room, 0);
    bytes.append(&mut table);
    let mut changed = data.to_vec();
    changed.get_mut(start..start + bytes.len())?.copy_from_slice(&bytes);
    Some(changed)
}

/// The text of each number, when this is the table.
fn table_of<'a>(bytes: &[u8], texts: &BTreeMap<u16, &'a str>) -> Option<Vec<&'a str>> {
    let entries = bytes.get(..NUMBERS * 2)?.as_chunks::<2>().0;
    let found: Vec<&str> =
        entries.iter().map(|entry| texts.get(&u16::from_le_bytes(*entry)).copied()).collect::<Option<_>>()?;
    (found.first() == Some(&"Success") && found.get(44) == Some(&"No such file or directory")).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts and their table as the library has them, for some numbers.
    fn library(texts: &[(usize, &str)]) -> Vec<u8> {
        let mut bytes = b"before\0".to_vec();
        let mut table = [0_u8; NUMBERS * 2];
        let start = bytes.len();
        for text in
            ["Success", "Illegal byte sequence", "Domain error"].iter().chain(texts.iter().map(|(_, text)| text))
        {
            if let Some((number, _)) = texts.iter().find(|(_, each)| each == text) {
                table[number * 2..][..2].copy_from_slice(&((bytes.len() - start) as u16).to_le_bytes());
            }
            bytes.extend_from_slice(text.as_bytes());
            bytes.push(0);
        }
        bytes.extend_from_slice(&[0; 9]);
        bytes.extend_from_slice(&table);
        bytes.extend_from_slice(b"behind");
        bytes
    }

    fn text(library: &[u8], number: usize) -> &str {
        let (start, table) = (7, library.len() - 6 - NUMBERS * 2);
        let place = usize::from(u16::from_le_bytes(library[table + number * 2..][..2].try_into().unwrap()));
        let rest = &library[start + place..];
        std::str::from_utf8(&rest[..rest.iter().position(|byte| *byte == 0).unwrap()]).unwrap()
    }

    #[test]
    fn texts_are_those_of_linux_and_nothing_beside_them_changes() {
        let old = library(&[(44, "No such file or directory"), (70, "Invalid seek"), (36, "Multihop attempted")]);
        assert_eq!(text(&old, 70), "Invalid seek");
        let new = renamed(&old).unwrap();
        assert_eq!(
            (text(&new, 0), text(&new, 44), text(&new, 70)),
            ("Success", "No such file or directory", "Illegal seek")
        );
        assert_eq!(text(&new, 36), SHARED);
        assert_eq!(
            (new.len(), &new[..7], &new[new.len() - 6..]),
            (old.len(), b"before\0".as_slice(), b"behind".as_slice())
        );
    }

    #[test]
    fn texts_that_do_not_fit_and_data_without_any_are_left_alone() {
        assert_eq!(renamed(b"nothing of the kind"), None);
        assert_eq!(renamed(BEGIN), None);
        assert_eq!(renamed(&library(&[(44, "No such file or directory")])[..60]), None);
        let full = library(&[
            (44, "No such file or directory"),
            (59, "Not a tty"),
            (32, "Symbolic link loop"),
            (48, "Out of memory"),
        ]);
        assert_eq!(renamed(&full), None);
    }
}
