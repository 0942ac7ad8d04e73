//! Finding files by name and by content.

use std::time::Duration;

use super::ShellTransport;
use super::reply::{ScriptReply, run_script};
use super::script::Script;
use super::walk::{Depth, Entry, Listing, list, walk_order};
use crate::backend::FileResult;
use crate::dialect::Dialect;
use crate::error::{FileError, Result};
use crate::file::FileKind;
use crate::glob::{GlobPattern, GlobRules};
use crate::path::SandboxPath;
use crate::search::{GlobRequest, GlobResponse, GrepMatch, GrepRequest, GrepResponse, Truncation};

/// Maximum number of matches of one `glob`, the same limit as in the reference implementation.
const MATCHES: usize = 10_000;

/// Timeouts of `glob` and `grep`, the same as in the local backend.
const GLOB_TIME: Duration = Duration::from_secs(5);
const GREP_TIME: Duration = Duration::from_secs(15);

/// Total length of the file names that one script searches, in bytes.
const NAMES_BYTES: usize = 24 * 1024;

/// Implements [`crate::SandboxBackend::glob`]: lists the whole tree and matches the pattern here.
///
/// # Errors
/// Those of the transport.
pub async fn glob<H: ShellTransport + ?Sized>(host: &H, request: &GlobRequest) -> Result<FileResult<GlobResponse>> {
    let dialect = host.dialect();
    let pattern = match GlobPattern::parse(&request.pattern, dialect.glob_rules()) {
        Ok(pattern) => pattern,
        Err(error) => return Ok(Err(error)),
    };
    let script = list(Script::new().set("p", request.path.as_bytes()), Depth::All);
    let listing = match run_script(host, "glob", script, GLOB_TIME).await? {
        Ok(reply) => Listing::parse(reply),
        Err(code) => return Ok(Err(FileError::for_search_root(code, request.path.as_bytes()))),
    };
    let mut response = GlobResponse { files: Vec::new(), truncated: truncation(&listing) };
    for entry in listing.entries {
        if !matches_entry(&entry, &pattern, dialect) {
            continue;
        }
        if response.files.len() >= MATCHES {
            response.truncated = Some(Truncation::Budget);
            break;
        }
        let relative = dialect.glob_is_relative() && request.path != SandboxPath::root();
        let path = if relative { entry.name.clone() } else { request.path.join(&entry.name) };
        response.files.push(entry.info(path));
    }
    Ok(Ok(response))
}

fn truncation(listing: &Listing) -> Option<Truncation> {
    match (listing.complete, listing.unreadable) {
        (false, _) => Some(Truncation::Budget),
        (true, unreadable) => unreadable.then_some(Truncation::Unreadable),
    }
}

fn matches_entry(entry: &Entry, pattern: &GlobPattern, dialect: Dialect) -> bool {
    let wanted = match entry.kind {
        FileKind::File => true,
        // A link has the kind of its target: a link to a directory matches only if directories do.
        FileKind::Symlink => dialect.glob_finds_directories() || entry.target_kind == Some(FileKind::File),
        FileKind::Directory | FileKind::Other => dialect.glob_finds_directories(),
    };
    wanted && matches(pattern, &entry.name, entry.kind == FileKind::Directory)
}

fn matches(pattern: &GlobPattern, path: &[u8], is_dir: bool) -> bool {
    let state = path.split(|byte| *byte == b'/').fold(pattern.start(), |state, name| pattern.step(&state, name));
    pattern.accepts(&state, is_dir)
}

/// Prints the names of the files below `$p`, or of `$p` itself, that contain the pattern; then `end`, the exit status of `find`,
/// and whether names with line feeds may be missing.
const NAME_FILES: &str = r#"
[ -e "$p" ] || lost "$p"
if [ -d "$p" ]; then
  cd "$p" && [ -r . ] || refuse permission_denied
  say ok
  prune=; [ "$p" != / ] || prune='-path ./proc -prune -o -path ./sys -prune -o -path ./dev -prune -o'
  [ -z "$nogit" ] || prune="$prune -mindepth 1 -type d -name .git -prune -o"
  if grep -Z -F -e x /dev/null 2>/dev/null; [ $? -le 1 ]; then
    find . $prune -type f -exec sh -c 'grep -lZF -e "$0" /dev/null "$@"; [ $? -le 1 ]' "$q" {} +
    say end $?
  else
    nl='
'
    find . $prune -type f ! -path "*$nl*" -exec sh -c 'grep -lF -e "$0" /dev/null "$@" | tr "\n" "\0"' "$q" {} +
    s=$?
    find . $prune -type f -path "*$nl*" -exec sh -c 'for f do grep -qF -e "$0" "$f" && printf "%s\0" "$f"; done; :' "$q" {} +
    say end $((s + $?))
  fi
else
  [ -f "$p" ] || refuse not_a_regular_file
  [ -r "$p" ] || refuse permission_denied
  say ok; grep -qF -e "$q" -- "$p" && say "$p"; say end 0
fi
"#;

/// Prints the matching lines of the given files: for each text file its name, the number of matching lines, and the lines.
const FIND_LINES: &str = r#"
[ ! -d "$p" ] || cd "$p"
say ok
for f do
  if [ ! -f "$f" ] || [ ! -r "$f" ]; then say "$f" unreadable; continue; fi
  [ "$(dd if="$f" bs=8000 count=1 2>/dev/null | tr -dc '\000' | wc -c)" -eq 0 ] || continue
  say "$f" "$(grep -acF -e "$q" -- "$f")"
  grep -anF -e "$q" -- "$f"
done
say end
"#;

/// Implements [`crate::SandboxBackend::grep`]: one script finds the matching files, another prints their lines.
///
/// # Errors
/// Those of the transport.
pub async fn grep<H: ShellTransport + ?Sized>(host: &H, request: &GrepRequest) -> Result<FileResult<GrepResponse>> {
    if request.pattern.contains(&b'\n') {
        return Ok(Err(FileError::pattern_spans_lines()));
    }
    let filter = match GlobPattern::parse(request.glob.as_deref().unwrap_or(b"**"), GlobRules::FILTER) {
        Ok(filter) => filter,
        Err(error) => return Ok(Err(error)),
    };
    let nogit = if host.dialect().grep_skips_git() { b"x".as_slice() } else { b"" };
    let script = base_script(request).set("nogit", nogit).lines(NAME_FILES);
    let reply = match run_script(host, "grep", script, GREP_TIME).await? {
        Ok(reply) => reply,
        Err(code) => return Ok(Err(FileError::for_search_root(code, request.path.as_bytes()))),
    };
    let names = MatchingFiles::parse(reply, &filter, &request.path);
    let mut found =
        MatchCollector { response: GrepResponse { matches: Vec::new(), truncated: names.truncated }, request };
    for batch in batches(&names.names) {
        let script = base_script(request).arguments(batch.iter().map(Vec::as_slice)).lines(FIND_LINES);
        match run_script(host, "grep", script, GREP_TIME).await? {
            Ok(reply) => {
                if !found.take(reply) {
                    break;
                }
            }
            Err(code) => return Ok(Err(FileError::for_search_root(code, request.path.as_bytes()))),
        }
    }
    Ok(Ok(found.response))
}

fn base_script(request: &GrepRequest) -> Script {
    Script::new().set("p", request.path.as_bytes()).set("q", &request.pattern)
}

/// The files that contain the pattern, in the order of a walk.
struct MatchingFiles {
    /// As `find` prints them, with the prefix `./` for files below the searched directory.
    names: Vec<Vec<u8>>,
    truncated: Option<Truncation>,
}

impl MatchingFiles {
    fn parse(mut reply: ScriptReply, filter: &GlobPattern, path: &SandboxPath) -> Self {
        let mut names = Self { names: Vec::new(), truncated: Some(Truncation::Budget) };
        while let Some(field) = reply.field() {
            match field {
                b"end" => {
                    let whole = reply.number::<i32>() == Some(0);
                    names.truncated = (!whole).then_some(Truncation::Unreadable);
                    break;
                }
                name => {
                    // If the searched path is a file, the name is its absolute path.
                    let below = name.strip_prefix(b"./").unwrap_or(path.name());
                    if matches(filter, below, false) {
                        names.names.push(name.to_vec());
                    }
                }
            }
        }
        names.names.sort_by(|a, b| walk_order(a, b));
        names
    }
}

/// Splits files into groups whose names fit into one script.
fn batches(names: &[Vec<u8>]) -> impl Iterator<Item = &[Vec<u8>]> {
    let mut rest = names;
    std::iter::from_fn(move || {
        let mut bytes = 0;
        // Each name occurs in two lines of the script with some surrounding text.
        let too_many = rest.iter().position(|name| {
            bytes += 2 * name.len() + 40;
            bytes > NAMES_BYTES
        });
        let (batch, behind) = rest.split_at_checked(too_many.unwrap_or(rest.len()).max(1))?;
        rest = behind;
        Some(batch)
    })
}

struct MatchCollector<'a> {
    response: GrepResponse,
    request: &'a GrepRequest,
}

impl MatchCollector<'_> {
    /// Adds the lines of some files; returns false if the search is complete.
    fn take(&mut self, mut reply: ScriptReply) -> bool {
        loop {
            let Some(name) = reply.field().map(<[u8]>::to_vec) else {
                self.response.truncated = Some(Truncation::Budget);
                return false;
            };
            if name == b"end" {
                return true;
            }
            let Some(lines) = reply.number::<usize>() else {
                self.response.truncated = self.response.truncated.or(Some(Truncation::Unreadable));
                continue;
            };
            let path = name.strip_prefix(b"./").map_or_else(|| name.clone(), |below| self.request.path.join(below));
            for _ in 0..lines {
                if !self.line(&path, &mut reply) {
                    return false;
                }
            }
        }
    }

    fn line(&mut self, path: &[u8], reply: &mut ScriptReply) -> bool {
        let parsed = reply.line().and_then(numbered);
        let why = match parsed {
            None => Truncation::Budget,
            Some(_) if self.response.matches.len() >= self.request.max_count.unwrap_or(usize::MAX) => {
                Truncation::MaxCount
            }
            Some((line, text)) => {
                self.response.matches.push(GrepMatch { path: path.to_vec(), line, text: text.to_vec() });
                return true;
            }
        };
        self.response.truncated = Some(why);
        false
    }
}

/// Parses a line as `grep -n` prints it.
fn numbered(line: &[u8]) -> Option<(u64, &[u8])> {
    let colon = memchr::memchr(b':', line)?;
    let number = std::str::from_utf8(line.get(..colon)?).ok()?.parse().ok()?;
    Some((number, line.get(colon + 1..)?))
}
