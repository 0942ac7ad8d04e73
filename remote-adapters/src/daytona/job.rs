//! A command as a script that keeps its output in files, and what is printed about them.
//!
//! A job has a folder of its own below `/tmp`: `out` and `err` are what the command has written, `pid` is the process that
//! waits for it, and `code` is there when it ended. A *report* is one line of numbers, and a piece of each of the two
//! files, from where the last one ended, as base64 or hexadecimal digits: what passes through JSON loses nothing.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use tidebox_core::shell_backend::quote;
use tidebox_core::{Error, ErrorKind, Result};

/// What one report holds of each stream, in bytes. The rest of a longer one is downloaded.
pub(super) const REPORT_BYTES: u64 = 1 << 20;

/// Longer scripts are uploaded: one word of a command line may have 128 KiB on Linux, and quotes take some of it.
pub(super) const SCRIPT_BYTES: usize = 60 << 10;

/// Prints a report: the folder, where to begin in both files, and the most bytes of each. A file of a command that has ended, and that is
/// wanted whole, takes one program; each costs the command time.
const REPORT: &str = r#"piece() {
  if [ "$3" -lt "$2" ]; then
    if [ "$5" != - ] && [ "$3" = 0 ] && [ "$2" -le "$4" ]; then $k <"$1"
    else tail -c "+$(($3 + 1))" "$1" | head -c "$4" | $k; fi
  fi
  echo .
}
report() {
  c=-; [ ! -s "$1/code" ] || read -r c <"$1/code"
  o=0; [ ! -s "$1/out" ] || o=$(wc -c <"$1/out")
  e=0; [ ! -s "$1/err" ] || e=$(wc -c <"$1/err")
  if command -v base64 >/dev/null; then k=base64; else k="od -An -v -tx1"; fi
  printf 'tidebox %s %s %s %s\n' "$c" $o $e "${k%% *}"
  piece "$1/out" $o "$2" "$4" "$c"
  piece "$1/err" $e "$3" "$4" "$c"
}
"#;

/// Ends the process that waits and all of its group. A group to which the killer belongs too is the daemon's and is spared.
const END: &str = r#"group() { read -r s <"/proc/$1/stat" && s=${s##*) } && set -- $s && echo "$3"; }
end() {
  [ ! -s "$1/code" ] || return
  read -r p <"$1/pid" || return
  g=$(group "$p"); h=$(group $$); c=
  read -r c <"/proc/$p/task/$p/children"
  if [ -n "$g" ] && [ "$g" != "$h" ]; then kill -s KILL -- "-$g"; fi
  kill -s KILL "$p" $c
}
"#;

/// How a script ends whose job is not there.
pub(super) const NO_SUCH_JOB: i32 = 126;

/// One command's folder.
#[derive(Clone, Debug)]
pub(super) struct Job {
    folder: String,
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
    /// A job under a name that nobody else uses.
    pub(super) fn new() -> Self {
        Self { folder: format!("/tmp/.tidebox-job-{:016x}{:016x}", fastrand::u64(..), fastrand::u64(..)) }
    }

    /// The file with a stream of output.
    pub(super) fn file(&self, name: &str) -> String {
        format!("{}/{name}", self.folder)
    }

    /// Runs a command to its end and reports the beginning of its output. Nothing is removed, so that a report that is lost on
    /// its way can be had again; `finished` are jobs that nobody asks for any more. The code is one write, so who looks sees all of
    /// it or nothing.
    pub(super) fn start(&self, shell: &str, script: &str, finished: &[Self]) -> String {
        let lines = r#"d=$1
mkdir -m 700 "$d" || exit 125
echo $$ >"$d/pid"
"$2" -c "$3" >"$d/out" 2>"$d/err" </dev/null
echo $? >"$d/code"
report "$d" 0 0 "$4"
shift 4; [ $# = 0 ] || rm -rf "$@""#;
        let most = REPORT_BYTES.to_string();
        let words = [&self.folder, shell, script, &most].into_iter().chain(finished.iter().map(|job| &*job.folder));
        sh(&format!("{REPORT}{lines}"), words)
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
        let script = format!("[ -d \"$1\" ] || exit {NO_SUCH_JOB}\n{REPORT}{before}report \"$@\"");
        sh(&script, [&*self.folder, &out, &err, &most])
    }

    /// Ends the command and removes what is left of it.
    pub(super) fn abandon(&self) -> String {
        sh(&format!("{END}end \"$1\" 2>/dev/null\nrm -rf \"$1\""), [&*self.folder])
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
    let begin = text.find("tidebox ").ok_or_else(wrong)?;
    let mut lines = text.get(begin..).unwrap_or_default().lines();
    let head: Vec<&str> = lines.next().unwrap_or_default().split(' ').filter(|word| !word.is_empty()).collect();
    let [_, code, out, err, kind] = head.as_slice() else { return Err(wrong()) };
    let number = |text: &str| text.parse::<u64>().map_err(|_| wrong());
    let size = Seen { out: number(out)?, err: number(err)? };
    let code = if *code == "-" { None } else { Some(code.parse().map_err(|_| wrong())?) };
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
        let message = "the provider cut the output of a command short";
        return Err(Error::new(ErrorKind::Protocol, "execute", message));
    }
    Ok(Report { code, size, out, err })
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let pairs = text.as_bytes().chunks(2);
    pairs.map(|pair| if let [a, b] = pair { Some(digit(*a)? << 4 | digit(*b)?) } else { None }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_read_in_either_way_of_writing_bytes() {
        let expected =
            Report { code: Some(3), size: Seen { out: 3, err: 0 }, out: b"\xff\0a".to_vec(), err: Vec::new() };
        assert_eq!(report("tidebox 3 3 0 base64\n/wBh\n.\n.\n", Seen::default()).unwrap(), expected);
        assert_eq!(report("tidebox 3       3 0 od\n ff 00 61\n.\n.\n", Seen::default()).unwrap(), expected);
        assert_eq!(report("a profile's noise\ntidebox 3 3 0 base64\n/wBh\n.\n.\n", Seen::default()).unwrap(), expected);
        let running = report("tidebox - 5 5 base64\n.\n.\n", Seen { out: 5, err: 5 }).unwrap();
        assert_eq!((running.code, running.size), (None, Seen { out: 5, err: 5 }));
    }

    #[test]
    fn a_report_that_was_cut_is_an_error_and_no_shorter_output() {
        for cut in
            ["", "tidebox 0 4 0 base64\n", "tidebox 0 4 0 base64\nYWJj\n.\n.\n", "tidebox 0 4 0 base64\nYWJj!\n.\n.\n"]
        {
            assert_eq!(report(cut, Seen::default()).unwrap_err().kind(), ErrorKind::Protocol, "{cut:?}");
        }
    }

    #[cfg(target_os = "linux")]
    mod by_the_shell_of_this_machine {
        use super::*;
        use std::process::Command;

        fn run(line: &str) -> (Option<i32>, String) {
            let output = Command::new("sh").arg("-c").arg(line).output().expect("there is a shell");
            (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
        }

        #[test]
        fn a_job_reports_both_streams_and_its_code_and_leaves_nothing() {
            let job = Job::new();
            let (code, text) = run(&job.start("sh", "printf 'a\\000b'; echo \"it's\" >&2; exit 3", &[]));
            let report = report(&text, Seen::default()).expect("a report");
            assert_eq!((code, report.code), (Some(0), Some(3)));
            assert_eq!((report.out, report.err), (b"a\0b".to_vec(), b"it's\n".to_vec()));
            assert!(run(&job.look(Seen::default())).1.starts_with("tidebox 3 3 5"), "it can be had again");
            let next = Job::new();
            run(&next.start("sh", "exit 0", std::slice::from_ref(&job)));
            assert_eq!(run(&job.look(Seen::default())).0, Some(NO_SUCH_JOB), "the next one removed it");
            run(&next.abandon());
            assert!(!std::path::Path::new(&next.folder).exists(), "nothing is left");
        }

        #[test]
        fn a_piece_begins_where_it_is_asked_for_and_is_no_longer_than_is_asked_for() {
            let job = Job::new();
            let size = usize::try_from(REPORT_BYTES).expect("a size") + 3;
            let (_, text) = run(&job.start("sh", &format!("head -c {size} /dev/zero; echo abc >&2"), &[]));
            let first = report(&text, Seen::default()).expect("a report");
            assert_eq!((first.out.len(), first.size.out), (size - 3, u64::try_from(size).expect("a size")));
            let seen = Seen { out: REPORT_BYTES, err: 1 };
            let rest = report(&run(&job.look(seen)).1, seen).expect("a report");
            assert_eq!((rest.out, rest.err), (b"\0\0\0".to_vec(), b"bc\n".to_vec()));
            let seen = Seen { out: first.size.out, err: 4 };
            let nothing = report(&run(&job.look(seen)).1, seen).expect("a report");
            assert!(nothing.out.is_empty() && nothing.err.is_empty(), "{nothing:?}");
            run(&job.abandon());
        }

        #[test]
        fn a_job_is_looked_at_and_ended_from_elsewhere_with_all_that_it_started() {
            use std::os::unix::process::CommandExt as _;
            let job = Job::new();
            let script = "echo one; sleep 300 & echo $! >&2; wait";
            let mut waiting =
                Command::new("sh").arg("-c").arg(job.start("sh", script, &[])).process_group(0).spawn().unwrap();
            let mut seen = Report { code: None, size: Seen::default(), out: Vec::new(), err: Vec::new() };
            while seen.out != b"one\n" || seen.err.is_empty() {
                if let (Some(0), text) = run(&job.look(Seen::default())) {
                    seen = report(&text, Seen::default()).expect("a report");
                }
            }
            let ended =
                report(&run(&job.end(Seen { out: 2, err: seen.size.err })).1, Seen { out: 2, err: seen.size.err });
            let ended = ended.expect("a report");
            assert_eq!((ended.code, ended.out, ended.err), (None, b"e\n".to_vec(), Vec::new()));
            waiting.wait().expect("it ended");
            let child = String::from_utf8_lossy(&seen.err).trim().to_owned();
            let state =
                std::fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_else(|_| "gone ) Z".to_owned());
            assert!(state.contains(") Z"), "its child was ended too: {state}");
            run(&job.abandon());
            assert!(!std::path::Path::new(&job.folder).exists(), "nothing is left");
        }
    }
}
