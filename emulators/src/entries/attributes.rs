//! Attributes of files that listings of a backend do not have: mode, owner, inode and target of a link.

use std::time::{Duration, SystemTime};

use tidebox_core::shell_backend::quote;
use tidebox_core::{ExecuteRequest, FileKind, SandboxPath};

use crate::registry::SandboxRecord;

/// Attributes of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Attributes {
    pub(crate) path: String,
    pub(crate) kind: FileKind,
    /// Permission bits, with set-id and sticky bits.
    pub(crate) mode: u32,
    pub(crate) size: u64,
    pub(crate) modified: SystemTime,
    pub(crate) inode: u64,
    pub(crate) uid: u32,
    /// Target of a symbolic link.
    pub(crate) target: Option<String>,
}

impl Attributes {
    /// Returns the last component of the path.
    pub(crate) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }

    /// Returns the name of the owner: root or the user of the image.
    pub(crate) fn owner<'a>(&self, user: &'a str) -> &'a str {
        if self.uid == 0 { "root" } else { user }
    }

    /// Returns the permission bits, without set-id and sticky bits.
    pub(crate) fn permissions(&self) -> u32 {
        self.mode & 0o777
    }

    /// Formats the mode like Go's `FileMode`, because the daemons of the providers are Go programs.
    pub(crate) fn letters(&self) -> String {
        let mut letters = String::new();
        match self.kind {
            FileKind::Directory => letters.push('d'),
            FileKind::Symlink => letters.push('L'),
            FileKind::File | FileKind::Other => {}
        }
        for (bit, letter) in [(0o4000, 'u'), (0o2000, 'g'), (0o1000, 't')] {
            if self.mode & bit != 0 {
                letters.push(letter);
            }
        }
        if letters.is_empty() {
            letters.push('-');
        }
        for (at, letter) in "rwxrwxrwx".chars().enumerate() {
            letters.push(if self.mode & (0o400 >> at) == 0 { '-' } else { letter });
        }
        letters
    }
}

/// Fields of an entry in the output of `find`, each followed by a NUL byte.
const FORMAT: &str = r"%y\0%m\0%s\0%T@\0%i\0%U\0%l\0%p\0";
const FIELDS: usize = 8;

/// Returns the entry at a path, followed by the entries up to `depth` levels below it, ordered by path. The result is
/// empty if the path does not exist. A symbolic link at the path is followed if `depth` is not 0.
///
/// # Errors
/// The message of a failed command, and of a listing that exceeds the output limit.
pub(crate) async fn attributes(
    sandbox: &SandboxRecord,
    path: &SandboxPath,
    depth: u32,
) -> Result<Vec<Attributes>, String> {
    let follow = if depth == 0 { "-P" } else { "-H" };
    let command = format!("find {follow} {} -maxdepth {depth} -printf '{FORMAT}'", quote(&path.to_text()));
    let request = ExecuteRequest::new(command).with_cwd(SandboxPath::root());
    let response = sandbox.sandbox.execute(request).await.map_err(|error| error.to_string())?;
    if response.truncated {
        return Err(format!("the list of files below {path} is larger than the output limit of a command"));
    }
    let text = response.stdout_text();
    let fields: Vec<&str> = text.split('\0').collect();
    let mut entries: Vec<Attributes> = fields.chunks_exact(FIELDS).filter_map(parse).collect();
    entries.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(entries)
}

fn parse(fields: &[&str]) -> Option<Attributes> {
    let [kind, mode, size, modified, inode, uid, target, path] = fields else { return None };
    Some(Attributes {
        path: (*path).to_owned(),
        kind: match *kind {
            "f" => FileKind::File,
            "d" => FileKind::Directory,
            "l" => FileKind::Symlink,
            _ => FileKind::Other,
        },
        mode: u32::from_str_radix(mode, 8).ok()?,
        size: size.parse().ok()?,
        modified: parse_time(modified)?,
        inode: inode.parse().ok()?,
        uid: uid.parse().ok()?,
        target: (!target.is_empty()).then(|| (*target).to_owned()),
    })
}

/// Parses seconds since 1970 with a fraction.
fn parse_time(text: &str) -> Option<SystemTime> {
    let (seconds, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let nanos: String = fraction.chars().chain("000000000".chars()).take(9).collect();
    let since = Duration::new(seconds.parse().ok()?, nanos.parse().ok()?);
    SystemTime::UNIX_EPOCH.checked_add(since)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_of_find_is_parsed() {
        let entry = parse(&["l", "777", "3", "1700000000.5000000000", "7", "1000", "a b", "/tmp/x"]).expect("parsed");
        assert_eq!((entry.kind, entry.mode, entry.size, entry.inode), (FileKind::Symlink, 0o777, 3, 7));
        assert_eq!(entry.modified, SystemTime::UNIX_EPOCH + Duration::from_millis(1_700_000_000_500));
        assert_eq!((entry.name(), entry.owner("user"), entry.target.as_deref()), ("x", "user", Some("a b")));
        assert_eq!(parse(&["f", "8", "3", "1", "7", "0", "", "/x"]), None, "the mode is not octal");
    }

    #[test]
    fn a_mode_has_the_letters_of_go() {
        let letters =
            |kind: &str, mode: &str| parse(&[kind, mode, "0", "0", "1", "0", "", "/x"]).expect("parsed").letters();
        assert_eq!(letters("f", "644"), "-rw-r--r--");
        assert_eq!(letters("d", "1777"), "dtrwxrwxrwx");
        assert_eq!(letters("l", "777"), "Lrwxrwxrwx");
        assert_eq!(letters("f", "4755"), "urwxr-xr-x");
    }
}
