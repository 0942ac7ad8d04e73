//! Runs a command as a script that keeps its output in files, and reports on these files.
//!
//! All jobs of one client share a directory below `/tmp`. A job has four files there: `.out` and `.err` hold the
//! command's output, `.pid` the waiting process, and `.code` the exit code once the command has exited. A *report* is
//! one line of numbers followed by a chunk of each output file, starting where the last report ended. Chunks are sent
//! verbatim if both are short and ASCII, else as base64 or hexadecimal digits, so that JSON transports them without
//! loss.

use std::sync::atomic::{AtomicU64, Ordering};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use tidebox_core::shell_backend::quote;
use tidebox_core::{Error, ErrorKind, Result};

/// Maximum bytes of each stream in one report. The rest is downloaded.
pub(super) const REPORT_BYTES: u64 = 1 << 20;

/// Longer scripts are uploaded: Linux limits one argument to 128 KiB, and quoting adds to the length.
pub(super) const SCRIPT_BYTES: usize = 60 << 10;

/// Runs a command. Arguments: the job, the shell and the script. It runs in the daemon's own shell (zsh, bash or sh)
/// and starts no program except the command, because each extra process costs more than everything else: the directory
/// is created once, and the shell reads short output itself. Only bash can do that without loss, because it
/// distinguishes a NUL byte from end of file; other shells and longer output use [`REPORT`]. Environment variables stay
/// unmodified until the command has exited, and a second request with the same job starts nothing.
const START: &str = r#"[ -d "${1%/*}" ] || mkdir -m 700 "${1%/*}" 2>/dev/null || [ -d "${1%/*}" ] || exit 125
set -C
echo $$ >"$1.pid" || exit 125
set +C
"$2" -c "$3" >"$1.out" 2>"$1.err" </dev/null
c=$? o= e= k=$BASH_VERSION
echo $c >"$1.code"
LC_ALL=C
if [ "$k" ]; then
  [ ! -s "$1.out" ] || { IFS= read -rd "" -n 4097 o <"$1.out" && o=; [ "$o" ]; } || k=
  [ ! -s "$1.err" ] || { IFS= read -rd "" -n 4097 e <"$1.err" && e=; [ "$e" ]; } || k=
  case $o$e in *[!$'\1'-$'\177']*) k= ;; esac
fi
if [ "$k" ]; then printf 'tidebox %s %s %s text\n%s%s.\n' $c ${#o} ${#e} "$o" "$e"
else eval "#;

/// Prints a report. Arguments: the job, the offsets in both files, and the maximum bytes of each. A complete file of a
/// finished command needs one program; each program adds latency. zsh does not split the value of a variable.
const REPORT: &str = r#"piece() {
  if [ "$3" -lt "$2" ]; then
    if [ "$5" != - ] && [ "$3" = 0 ] && [ "$2" -le "$4" ]; then encode <"$1"
    else tail -c "+$(($3 + 1))" "$1" | head -c "$4" | encode; fi
  fi
  echo .
}
report() {
  c=-; [ ! -s "$1.code" ] || read -r c <"$1.code"
  o=0; [ ! -s "$1.out" ] || o=$(wc -c <"$1.out")
  e=0; [ ! -s "$1.err" ] || e=$(wc -c <"$1.err")
  if command -v base64 >/dev/null; then k=base64; encode() { base64; }; else k=od; encode() { od -An -v -tx1; }; fi
  printf 'tidebox %s %s %s %s\n' "$c" $o $e $k
  piece "$1.out" $o "$2" "$4" "$c"
  piece "$1.err" $e "$3" "$4" "$c"
}
"#;

/// Kills the waiting process and its process group. A group that also contains the killer is the daemon's and is
/// spared.
const END: &str = r#"group() { read -r s <"/proc/$1/stat" && s=${s##*) } && set -- $s && echo "$3"; }
end() {
  [ ! -s "$1.code" ] || return
  read -r p <"$1.pid" || return
  g=$(group "$p"); h=$(group $$); c=
  read -r c <"/proc/$p/task/$p/children"
  if [ -n "$g" ] && [ "$g" != "$h" ]; then kill -s KILL -- "-$g"; fi
  kill -s KILL "$p" $c
}
"#;

/// File name extensions of a job.
const FILES: [&str; 4] = ["pid", "out", "err", "code"];

/// Exit code of a script whose job does not exist.
pub(super) const NO_SUCH_JOB: i32 = 126;

/// Jobs of one client of a sandbox.
#[derive(Debug)]
pub(super) struct Jobs {
    dir: String,
    next: AtomicU64,
}

impl Jobs {
    /// Creates a job list with a unique directory name.
    pub(super) fn new() -> Self {
        let dir = format!("/tmp/.tidebox-jobs-{:016x}{:016x}", fastrand::u64(..), fastrand::u64(..));
        Self { dir, next: AtomicU64::new(0) }
    }

    /// Returns a new job.
    pub(super) fn next_job(&self) -> Job {
        Job { dir: self.dir.clone(), number: self.next.fetch_add(1, Ordering::Relaxed) }
    }
}

/// Files of one command.
#[derive(Clone, Debug)]
pub(super) struct Job {
    dir: String,
    number: u64,
}

/// Offsets up to which both output streams were read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ReadOffsets {
    pub(super) out: u64,
    pub(super) err: u64,
}

/// A parsed report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Report {
    /// Exit code, if the command has exited.
    pub(super) code: Option<i32>,
    /// Current sizes of both files.
    pub(super) size: ReadOffsets,
    /// Chunk of standard output.
    pub(super) out: Vec<u8>,
    /// Chunk of standard error.
    pub(super) err: Vec<u8>,
}

impl Job {
    /// Path of an output file.
    pub(super) fn file(&self, name: &str) -> String {
        format!("{}/{}.{name}", self.dir, self.number)
    }

    /// Path of a script file, next to the directory, which may not exist yet.
    pub(super) fn script_file(&self) -> String {
        format!("{}-{}.sh", self.dir, self.number)
    }

    fn name(&self) -> String {
        format!("{}/{}", self.dir, self.number)
    }

    fn removal(jobs: &[Self]) -> String {
        let files = jobs.iter().flat_map(|job| FILES.map(|name| job.file(name)));
        format!("rm -f {}", files.collect::<Vec<_>>().join(" "))
    }

    /// Runs a command until it exits and reports the start of its output. The files stay, so that a lost report can be
    /// requested again; `finished` lists jobs whose files are no longer needed. The exit code is written with one
    /// `write`, so readers see all of it or nothing.
    pub(super) fn start(&self, shell: &str, script: &str, finished: &[Self]) -> String {
        let words = [&self.name(), shell, script].map(quote).join(" ");
        let report = quote(&format!("{REPORT}report \"$1\" 0 0 {REPORT_BYTES}"));
        let tidy = if finished.is_empty() { String::new() } else { format!("{}; :\n", Self::removal(finished)) };
        format!("set -- {words}\n{START}{report}\nfi\n{tidy}")
    }

    /// Reports output since the given offsets. Fails with [`NO_SUCH_JOB`] if the job does not exist.
    pub(super) fn poll_script(&self, seen: ReadOffsets) -> String {
        self.report_script(seen, "")
    }

    /// Kills the command and reports output since the given offsets.
    pub(super) fn end(&self, seen: ReadOffsets) -> String {
        self.report_script(seen, &format!("{END}end \"$1\" 2>/dev/null\n"))
    }

    fn report_script(&self, seen: ReadOffsets, before: &str) -> String {
        let (out, err, most) = (seen.out.to_string(), seen.err.to_string(), REPORT_BYTES.to_string());
        let script = format!("[ -e \"$1.pid\" ] || exit {NO_SUCH_JOB}\n{REPORT}{before}report \"$@\"");
        sh(&script, [&*self.name(), &out, &err, &most])
    }

    /// Kills the command and removes its files.
    pub(super) fn cleanup_script(&self) -> String {
        let removal = Self::removal(std::slice::from_ref(self));
        sh(&format!("{END}end \"$1\" 2>/dev/null\n{removal}"), [&*self.name()])
    }
}

/// Quotes a script and its arguments for any POSIX shell.
fn sh<'a>(script: &str, words: impl IntoIterator<Item = &'a str>) -> String {
    let words: Vec<String> = words.into_iter().map(quote).collect();
    format!("sh -c {} sh {}", quote(script), words.join(" "))
}

/// Parses a report, skipping text before it.
///
/// # Errors
/// [`ErrorKind::Protocol`] if the text has no report.
pub(super) fn report(text: &str, from: ReadOffsets) -> Result<Report> {
    let wrong = || Error::new(ErrorKind::Protocol, "execute", "cannot parse the output of the sandbox's shell");
    let cut = || Error::new(ErrorKind::Protocol, "execute", "the provider truncated the output of a command");
    let begin = text.find("tidebox ").ok_or_else(wrong)?;
    let (head, rest) = text.get(begin..).unwrap_or_default().split_once('\n').ok_or_else(wrong)?;
    let head: Vec<&str> = head.split(' ').filter(|word| !word.is_empty()).collect();
    let [_, code, out, err, kind] = head.as_slice() else { return Err(wrong()) };
    let number = |text: &str| text.parse::<u64>().map_err(|_| wrong());
    let size = ReadOffsets { out: number(out)?, err: number(err)? };
    let code = if *code == "-" { None } else { Some(code.parse().map_err(|_| wrong())?) };
    if *kind == "text" {
        let (out, err) = parse_plain(rest.as_bytes(), size).ok_or_else(cut)?;
        return Ok(Report { code, size, out, err });
    }
    let mut lines = rest.lines();
    let mut chunk = || {
        let text: String = lines.by_ref().take_while(|line| *line != ".").flat_map(|line| line.split(' ')).collect();
        let bytes = if *kind == "base64" { BASE64.decode(text).ok() } else { unhex(&text) };
        bytes.ok_or_else(wrong)
    };
    let (out, err) = (chunk()?, chunk()?);
    // Files only grow, so a chunk may extend past the size that was read before it.
    let least = |size: u64, from: u64| size.saturating_sub(from).min(REPORT_BYTES);
    let whole = |chunk: &[u8], size, from| u64::try_from(chunk.len()).is_ok_and(|length| length >= least(size, from));
    if !whole(&out, size.out, from.out) || !whole(&err, size.err, from.err) {
        return Err(cut());
    }
    Ok(Report { code, size, out, err })
}

/// Parses verbatim streams if both are complete and the end marker follows.
fn parse_plain(text: &[u8], size: ReadOffsets) -> Option<(Vec<u8>, Vec<u8>)> {
    let (out, rest) = text.split_at_checked(usize::try_from(size.out).ok()?)?;
    let (err, rest) = rest.split_at_checked(usize::try_from(size.err).ok()?)?;
    (out.is_ascii() && err.is_ascii() && rest.starts_with(b".")).then(|| (out.to_vec(), err.to_vec()))
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let pairs = text.as_bytes().chunks(2);
    pairs.map(|pair| if let [a, b] = pair { Some(digit(*a)? << 4 | digit(*b)?) } else { None }).collect()
}

#[cfg(test)]
mod tests;
