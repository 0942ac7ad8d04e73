//! Listings of a directory or a tree, from the output of `find` and `stat`.

use std::time::{Duration, SystemTime};

use super::reply::ScriptReply;
use super::script::Script;
use crate::file::{FileInfo, FileKind};

/// Lists the entries below the current directory: kind, kind of the link target, size, seconds since 1970, name; then `end` and
/// the exit status of `find`.
///
/// GNU's `find` prints all of it. Other versions pass names to a shell, which runs `stat` of busybox or coreutils: once for all
/// names, and again for a file whose line is not the next, because a file vanished or has a line feed in its name.
const LIST: &str = r#"
if find . -prune -printf '%y' >/dev/null 2>&1; then
  find . $prune -mindepth 1 $depth -printf '%y\0%Y\0%s\0%T@\0%P\0'
else
  find . $prune ! -name . $flat -exec sh -c '
    kind() { if [ -d "$1" ]; then k=d; elif [ -f "$1" ]; then k=f; elif [ -e "$1" ]; then k=o; else k=N; fi; }
    n=; stat -c "%s %Y %n" "$@" | for f do
      [ -n "$n" ] || IFS=" " read -r s m n || n=
      if [ "$n" = "$f" ]; then t="$s $m"; n=; else t=$(stat -c "%s %Y" "$f") || t=" "; fi
      kind "$f"; b=$k; [ ! -L "$f" ] || k=l
      printf "%s\0%s\0%s\0%s\0%s\0" "$k" "$b" "${t% *}" "${t#* }" "${f#./}"
    done' sh {} +
fi
s=$?
say end $s
"#;

/// Depth of a listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Depth {
    /// The entries of the directory.
    One,
    /// The whole tree.
    All,
}

/// Adds the listing of `$p`, which must exist. At the root, kernel file systems are excluded, because they can be endless.
pub(super) fn list(script: Script, depth: Depth) -> Script {
    let script = match depth {
        Depth::One => script.lines("depth='-maxdepth 1'; flat=-prune"),
        Depth::All => script.lines("depth=; flat="),
    };
    script
        .lines(
            r#"[ -d "$p" ] || { [ ! -e "$p" ] || refuse not_a_directory; lost "$p"; }
cd "$p" && [ -r . ] || refuse permission_denied
prune=; [ "$p" != / ] || prune='( -path ./proc -o -path ./sys -o -path ./dev ) -prune -o'
say ok"#,
        )
        .lines(LIST)
}

/// One entry.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// Path below the listed directory.
    pub(super) name: Vec<u8>,
    pub(super) kind: FileKind,
    /// Kind of the target if links are followed; `None` for a dangling link.
    pub(super) target_kind: Option<FileKind>,
    pub(super) size: Option<u64>,
    pub(super) modified: Option<SystemTime>,
}

impl Entry {
    pub(super) fn info(self, path: Vec<u8>) -> FileInfo {
        let size = self.size.filter(|_| self.kind == FileKind::File);
        FileInfo { path, kind: self.kind, size, modified: self.modified }
    }
}

/// The entries of a listing.
#[derive(Debug)]
pub(super) struct Listing {
    pub(super) entries: Vec<Entry>,
    /// True if the listing is complete.
    pub(super) complete: bool,
    /// Some entries could not be read.
    pub(super) unreadable: bool,
}

impl Listing {
    pub(super) fn parse(mut reply: ScriptReply) -> Self {
        let mut listing = Self { entries: Vec::new(), complete: false, unreadable: false };
        loop {
            match reply.field() {
                None => break,
                Some(b"end") => {
                    listing.complete = !reply.cut;
                    listing.unreadable = reply.number::<i32>() != Some(0);
                    break;
                }
                Some(kind) => {
                    let Some(kind) = file_kind(kind) else { break };
                    let Some(entry) = entry(kind, &mut reply) else { break };
                    listing.entries.push(entry);
                }
            }
        }
        listing.entries.sort_by(|a, b| walk_order(&a.name, &b.name));
        listing
    }
}

fn entry(kind: Option<FileKind>, reply: &mut ScriptReply) -> Option<Entry> {
    let behind = file_kind(reply.field()?)?;
    let size = reply.field().map(|field| std::str::from_utf8(field).ok()?.parse().ok())?;
    let modified = time(reply.field()?);
    let name = reply.field()?.to_vec();
    Some(Entry { name, kind: kind?, target_kind: behind, size, modified })
}

/// Parses the letter that `find` prints. The outer `None` is an invalid letter, the inner one a dangling link.
fn file_kind(letter: &[u8]) -> Option<Option<FileKind>> {
    Some(match letter {
        b"d" => Some(FileKind::Directory),
        b"f" => Some(FileKind::File),
        b"l" => Some(FileKind::Symlink),
        b"N" | b"L" | b"?" => None,
        [_] => Some(FileKind::Other),
        _ => return None,
    })
}

/// Parses seconds, with or without a fraction.
pub(super) fn time(seconds: &[u8]) -> Option<SystemTime> {
    let text = std::str::from_utf8(seconds).ok()?;
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits: String = fraction.chars().chain("000000000".chars()).take(9).collect();
    SystemTime::UNIX_EPOCH.checked_add(Duration::new(whole.parse().ok()?, digits.parse().ok()?))
}

/// Orders paths by name, with the contents of a directory directly after it.
pub(super) fn walk_order(a: &[u8], b: &[u8]) -> std::cmp::Ordering {
    a.split(|byte| *byte == b'/').cmp(b.split(|byte| *byte == b'/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_walk_lists_a_directory_before_its_next_sibling() {
        let mut names = [b"d.txt".as_slice(), b"d/z", b"d", b"d-x", b"D"];
        names.sort_by(|a, b| walk_order(a, b));
        assert_eq!(names, [b"D".as_slice(), b"d", b"d/z", b"d-x", b"d.txt"]);
    }

    #[test]
    fn times_have_nanoseconds_if_find_prints_them() {
        let since = |text: &str| time(text.as_bytes()).and_then(|at| at.duration_since(SystemTime::UNIX_EPOCH).ok());
        assert_eq!(since("12.0340000000"), Some(Duration::new(12, 34_000_000)));
        assert_eq!(since("7"), Some(Duration::from_secs(7)));
        assert_eq!(since(""), None);
    }
}
