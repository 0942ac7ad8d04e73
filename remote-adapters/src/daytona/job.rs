//! A command as a script that keeps its output in files, and what is printed about them.
//!
//! All jobs of one client have a folder below `/tmp`, and each a name there: `.out` and `.err` are what the command has written, `.pid` is
//! the process that waits for it, and `.code` is there when it ended. A *report* is one line of numbers, and a piece of each of
//! the two files, from where the last one ended: as they are where both are short and ASCII, else as base64 or hexadecimal digits.
//! What passes through JSON loses nothing either way.

use std::sync::atomic::{AtomicU64, Ordering};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use tidebox_core::shell_backend::quote;
use tidebox_core::{Error, ErrorKind, Result};

/// What one report holds of each stream, in bytes. The rest of a longer one is downloaded.
pub(super) const REPORT_BYTES: u64 = 1 << 20;

/// Longer scripts are uploaded: one word of a command line may have 128 KiB on Linux, and quotes take some of it.
pub(super) const SCRIPT_BYTES: usize = 60 << 10;

/// Runs a command: the job, the shell and the script are its words. It runs in the daemon's own shell, which is zsh, bash or sh, and starts
/// no program but the command itself, because each takes longer than all the rest: the folder is made once, and short output is read
/// by the shell. bash alone can do that without loss, because it can tell a NUL byte from the end of a file; where there is another shell, or
/// more to say, [`REPORT`] says it. Nobody's variables are touched before the command has ended, and a second
/// request with the same job starts nothing.
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

/// Prints a report: the job, where to begin in both files, and the most bytes of each. A file of a command that has ended, and that is
/// wanted whole, takes one program; each costs the command time. zsh does not split what a variable holds.
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

/// Ends the process that waits and all of its group. A group to which the killer belongs too is the daemon's and is spared.
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

/// What a job's files end with.
const FILES: [&str; 4] = ["pid", "out", "err", "code"];

/// How a script ends whose job is not there.
pub(super) const NO_SUCH_JOB: i32 = 126;

/// The jobs of one client of a sandbox.
#[derive(Debug)]
pub(super) struct Jobs {
    folder: String,
    next: AtomicU64,
}

impl Jobs {
    /// Jobs in a folder whose name nobody else uses.
    pub(super) fn new() -> Self {
        let folder = format!("/tmp/.tidebox-jobs-{:016x}{:016x}", fastrand::u64(..), fastrand::u64(..));
        Self { folder, next: AtomicU64::new(0) }
    }

    /// Another job.
    pub(super) fn another(&self) -> Job {
        Job { folder: self.folder.clone(), number: self.next.fetch_add(1, Ordering::Relaxed) }
    }
}

/// One command's files.
#[derive(Clone, Debug)]
pub(super) struct Job {
    folder: String,
    number: u64,
}

/// Where the parts of a command's output are known up to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) out: u64,
    pub(super) err: u64,
}

/// What was printed about a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Report {
    /// How the command ended, if it did.
    pub(super) code: Option<i32>,
    /// What both files hold in all.
    pub(super) size: Seen,
    /// The piece of standard output.
    pub(super) out: Vec<u8>,
    /// The piece of standard error.
    pub(super) err: Vec<u8>,
}

impl Job {
    /// The file with a stream of output.
    pub(super) fn file(&self, name: &str) -> String {
        format!("{}/{}.{name}", self.folder, self.number)
    }

    /// A file for a script, beside the folder, which need not be there yet.
    pub(super) fn script_file(&self) -> String {
        format!("{}-{}.sh", self.folder, self.number)
    }

    fn name(&self) -> String {
        format!("{}/{}", self.folder, self.number)
    }

    fn removal(jobs: &[Self]) -> String {
        let files = jobs.iter().flat_map(|job| FILES.map(|name| job.file(name)));
        format!("rm -f {}", files.collect::<Vec<_>>().join(" "))
    }

    /// Runs a command to its end and reports the beginning of its output. Nothing is removed, so that a report that is lost on
    /// its way can be had again; `finished` are jobs that nobody asks for any more. The code is one write, so who looks sees all of
    /// it or nothing.
    pub(super) fn start(&self, shell: &str, script: &str, finished: &[Self]) -> String {
        let words = [&self.name(), shell, script].map(quote).join(" ");
        let report = quote(&format!("{REPORT}report \"$1\" 0 0 {REPORT_BYTES}"));
        let tidy = if finished.is_empty() { String::new() } else { format!("{}; :\n", Self::removal(finished)) };
        format!("set -- {words}\n{START}{report}\nfi\n{tidy}")
    }

    /// Reports what came since. Fails with [`NO_SUCH_JOB`] when there is none.
    pub(super) fn look(&self, seen: Seen) -> String {
        self.about(seen, "")
    }

    /// Ends the command and reports what came since.
    pub(super) fn end(&self, seen: Seen) -> String {
        self.about(seen, &format!("{END}end \"$1\" 2>/dev/null\n"))
    }

    fn about(&self, seen: Seen, before: &str) -> String {
        let (out, err, most) = (seen.out.to_string(), seen.err.to_string(), REPORT_BYTES.to_string());
        let script = format!("[ -e \"$1.pid\" ] || exit {NO_SUCH_JOB}\n{REPORT}{before}report \"$@\"");
        sh(&script, [&*self.name(), &out, &err, &most])
    }

    /// Ends the command and removes what is left of it.
    pub(super) fn abandon(&self) -> String {
        let removal = Self::removal(std::slice::from_ref(self));
        sh(&format!("{END}end \"$1\" 2>/dev/null\n{removal}"), [&*self.name()])
    }
}

/// A script with its words, for whatever shell reads the line.
fn sh<'a>(script: &str, words: impl IntoIterator<Item = &'a str>) -> String {
    let words: Vec<String> = words.into_iter().map(quote).collect();
    format!("sh -c {} sh {}", quote(script), words.join(" "))
}

/// Reads a report, from whatever stands before it.
///
/// # Errors
/// [`ErrorKind::Protocol`] when there is none.
pub(super) fn report(text: &str, from: Seen) -> Result<Report> {
    let wrong =
        || Error::new(ErrorKind::Protocol, "execute", "the sandbox's shell reported something else than expected");
    let cut = || Error::new(ErrorKind::Protocol, "execute", "the provider cut the output of a command short");
    let begin = text.find("tidebox ").ok_or_else(wrong)?;
    let (head, rest) = text.get(begin..).unwrap_or_default().split_once('\n').ok_or_else(wrong)?;
    let head: Vec<&str> = head.split(' ').filter(|word| !word.is_empty()).collect();
    let [_, code, out, err, kind] = head.as_slice() else { return Err(wrong()) };
    let number = |text: &str| text.parse::<u64>().map_err(|_| wrong());
    let size = Seen { out: number(out)?, err: number(err)? };
    let code = if *code == "-" { None } else { Some(code.parse().map_err(|_| wrong())?) };
    if *kind == "text" {
        let (out, err) = plain(rest.as_bytes(), size).ok_or_else(cut)?;
        return Ok(Report { code, size, out, err });
    }
    let mut lines = rest.lines();
    let mut piece = || {
        let text: String = lines.by_ref().take_while(|line| *line != ".").flat_map(|line| line.split(' ')).collect();
        let bytes = if *kind == "base64" { BASE64.decode(text).ok() } else { unhex(&text) };
        bytes.ok_or_else(wrong)
    };
    let (out, err) = (piece()?, piece()?);
    // Files only grow, so a piece may hold more than the size that was taken before it.
    let least = |size: u64, from: u64| size.saturating_sub(from).min(REPORT_BYTES);
    let whole = |piece: &[u8], size, from| u64::try_from(piece.len()).is_ok_and(|length| length >= least(size, from));
    if !whole(&out, size.out, from.out) || !whole(&err, size.err, from.err) {
        return Err(cut());
    }
    Ok(Report { code, size, out, err })
}

/// Both streams as they are, if all of them came, and the mark behind them.
fn plain(text: &[u8], size: Seen) -> Option<(Vec<u8>, Vec<u8>)> {
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
