//! File names: parts and wildcard expansion.

use tidebox_gnu::glob::{Flags, is_pattern, matches};

use crate::Make;

/// Directory part up to and including the last slash, or `./`.
pub(crate) fn folder(word: &[u8]) -> Vec<u8> {
    match word.iter().rposition(|byte| *byte == b'/') {
        Some(at) => word.get(..=at).unwrap_or_default().to_vec(),
        None => b"./".to_vec(),
    }
}

/// The part after the last slash.
pub(crate) fn without_folder(word: &[u8]) -> &[u8] {
    let at = word.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
    word.get(at..).unwrap_or_default()
}

/// The suffix including its dot, if the name has one.
pub(crate) fn suffix(word: &[u8]) -> Option<&[u8]> {
    let at = word.iter().rposition(|byte| matches!(byte, b'.' | b'/')).filter(|at| word.get(*at) == Some(&b'.'))?;
    word.get(at..)
}

/// The name without its suffix.
pub(crate) fn without_suffix(word: &[u8]) -> &[u8] {
    let end = word.len() - suffix(word).map_or(0, <[u8]>::len);
    word.get(..end).unwrap_or_default()
}

/// The path with symbolic links resolved; `None` if it does not exist.
pub(crate) fn real(path: &[u8]) -> Option<Vec<u8>> {
    tidebox_rt::stat(path, true).ok()?;
    let mut done: Vec<u8> = Vec::new();
    let mut left: Vec<Vec<u8>> = path.split(|byte| *byte == b'/').rev().map(<[u8]>::to_vec).collect();
    // The kernel rejects longer link chains, and it has just followed this path.
    for _ in 0..4096 {
        let Some(part) = left.pop() else { break };
        match part.as_slice() {
            b"" | b"." => continue,
            b".." => {
                let end = done.iter().rposition(|byte| *byte == b'/').unwrap_or(0);
                done.truncate(end);
                continue;
            }
            _ => {}
        }
        let before = done.len();
        done.push(b'/');
        done.extend_from_slice(&part);
        if let Ok(link) = tidebox_rt::read_link(&done) {
            done.truncate(if link.starts_with(b"/") { 0 } else { before });
            left.extend(link.split(|byte| *byte == b'/').rev().map(<[u8]>::to_vec));
        }
    }
    Some(if done.is_empty() { b"/".to_vec() } else { done })
}

impl Make {
    /// An absolute path without `.` and `..`; links are not resolved.
    pub(crate) fn absolute(&self, word: &[u8]) -> Vec<u8> {
        let mut path = if word.starts_with(b"/") { Vec::new() } else { self.directory.clone() };
        for part in word.split(|byte| *byte == b'/') {
            match part {
                b"" | b"." => {}
                b".." => {
                    let end = path.iter().rposition(|byte| *byte == b'/').unwrap_or(0);
                    path.truncate(end);
                }
                part => {
                    if path.last() != Some(&b'/') {
                        path.push(b'/');
                    }
                    path.extend_from_slice(part);
                }
            }
        }
        if path.is_empty() { b"/".to_vec() } else { path }
    }

    /// The files that match a pattern, sorted. Without a match, the pattern itself unless only existing files count.
    pub(crate) fn files_matching(&self, word: &[u8], only_files: bool) -> Vec<Vec<u8>> {
        let word = self.home(word);
        if !is_pattern(&word) {
            let there = !only_files || tidebox_rt::stat(&word, false).is_ok();
            return if there { vec![word] } else { Vec::new() };
        }
        let mut found = vec![if word.starts_with(b"/") { b"/".to_vec() } else { Vec::new() }];
        let parts: Vec<&[u8]> = word.split(|byte| *byte == b'/').filter(|part| !part.is_empty()).collect();
        for (at, part) in parts.iter().enumerate() {
            let last = at + 1 == parts.len();
            found = found.iter().flat_map(|folder| matching(folder, part, last)).collect();
        }
        if word.ends_with(b"/") {
            found.retain(|name| tidebox_rt::stat(&[name.as_slice(), b"/"].concat(), true).is_ok());
            found.iter_mut().for_each(|name| name.push(b'/'));
        }
        if found.is_empty() && !only_files {
            return vec![unquoted(&word)];
        }
        found.sort_unstable();
        found
    }

    /// Expands `~` and `~/...` to the user's home.
    fn home(&self, word: &[u8]) -> Vec<u8> {
        match word.strip_prefix(b"~") {
            Some(rest) if rest.is_empty() || rest.starts_with(b"/") => match self.globals.get(b"HOME".as_slice()) {
                Some(home) if !home.value.is_empty() => [home.value.as_slice(), rest].concat(),
                _ => word.to_vec(),
            },
            _ => word.to_vec(),
        }
    }
}

/// Removes the backslashes that quote pattern characters.
fn unquoted(word: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(word.len());
    let mut bytes = word.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => out.extend(bytes.next()),
            byte => out.push(*byte),
        }
    }
    out
}

/// The names in a directory that match one component of a pattern.
fn matching(folder: &[u8], part: &[u8], last: bool) -> Vec<Vec<u8>> {
    let below = |name: &[u8]| {
        let slash: &[u8] = if folder.is_empty() || folder.ends_with(b"/") { b"" } else { b"/" };
        [folder, slash, name].concat()
    };
    if !is_pattern(part) {
        let path = below(part);
        return if tidebox_rt::stat(&path, false).is_ok() { vec![path] } else { Vec::new() };
    }
    let listed = tidebox_rt::read_dir(if folder.is_empty() { b"." } else { folder }).unwrap_or_default();
    let mut names: Vec<Vec<u8>> = listed.into_iter().map(|entry| entry.name).collect();
    if part.starts_with(b".") {
        names.extend([b".".to_vec(), b"..".to_vec()]);
    }
    names.retain(|name| name.starts_with(b".") == part.starts_with(b".") && matches(part, name, Flags::default()));
    let paths = names.iter().map(|name| below(name));
    // Only directories have entries.
    paths.filter(|path| last || tidebox_rt::stat(&[path.as_slice(), b"/."].concat(), true).is_ok()).collect()
}
