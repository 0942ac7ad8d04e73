//! `flock`: advisory locks between the programs of one sandbox.
//!
//! The kernel has no file locks. A lock is a separate file, named after the locked file and the process that holds the lock.
//! It is valid until that process exits.

use std::time::{Duration, Instant};

use tidebox_gnu::command::Command;
use tidebox_gnu::getopt::Item;
use tidebox_gnu::message::print_error;
use tidebox_gnu::options::Syntax;
use tidebox_rt::{Errno, Open};

use tidebox_gnu::tool::print;

const SYNOPSIS: &str = "
Usage:
 flock [options] <file>|<directory> <command> [<argument>...]
 flock [options] <file>|<directory> -c <command>
 flock [options] <file descriptor number>

Manage file locks from shell scripts.

Options:
";

tidebox_gnu::options! {
    /// Options of `flock`.
    enum Flag {
        Shared = "-s, --shared", "get a shared lock";
        Exclusive = "-x, --exclusive | -e", "get an exclusive lock (default)";
        Unlock = "-u, --unlock", "remove a lock";
        Nonblock = "-n, --nonblock | --nonblocking, --nb", "fail rather than wait";
        Timeout = "-w, --timeout <secs> | --wait=SECS", "wait for a limited amount of time";
        ConflictExitCode = "-E, --conflict-exit-code <number>", "exit code after conflict or timeout";
        Close = "-o, --close", "close file descriptor before running command";
        // Follows the file, so that it is not read as an option. A long one before it has no effect.
        Command = "--command <command>", "run a single command string through the shell";
        NoFork = "-F, --no-fork", "execute command without forking";
        Verbose = "--verbose", "increase verbosity\n\n";
        Help = "-h, --help", "display this help";
        Version = "-V, --version", "display version";
    }
}

const LINE: Syntax<'_, Flag> = Syntax {
    indent: 1,
    permute: false,
    version: "flock from util-linux 2.38.1\n",
    usage_exit_code: USAGE,
    ..Syntax::new("flock", SYNOPSIS, 26)
};

/// Directory of the locks.
const LOCKS: &[u8] = b"/tmp/.flock";

/// Polling interval while another process holds the lock.
const PAUSE: Duration = Duration::from_millis(5);

/// Age in nanoseconds from which a guard is stale: its process was killed.
const GUARD_LIFE_NS: u64 = 2_000_000_000;

/// Exit codes of `sysexits.h`.
const USAGE: i32 = 64;
const DATA: i32 = 65;
const NO_INPUT: i32 = 66;
const UNAVAILABLE: i32 = 69;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Shared,
    Exclusive,
    None,
}

#[derive(Debug)]
struct Options {
    kind: Kind,
    wait: Option<Duration>,
    conflict: i32,
    verbose: bool,
}

/// Runs `flock`.
pub fn main(arguments: Vec<Vec<u8>>) -> i32 {
    let mut options = Options { kind: Kind::Exclusive, wait: None, conflict: 1, verbose: false };
    let mut words = Vec::new();
    let mut items = LINE.items(arguments);
    loop {
        match items.next_item::<i32>() {
            Err(code) => return code,
            Ok(None) => break,
            Ok(Some(Item::Operand(word))) => words.push(word),
            Ok(Some(Item::Option(flag, value))) => match flag {
                Flag::Shared => options.kind = Kind::Shared,
                Flag::Exclusive => options.kind = Kind::Exclusive,
                Flag::Unlock => options.kind = Kind::None,
                Flag::Nonblock => options.wait = Some(Duration::ZERO),
                Flag::Timeout => match seconds(&value.unwrap_or_default()) {
                    Ok(wait) => options.wait = Some(wait),
                    Err(message) => return failed(&message, USAGE),
                },
                Flag::ConflictExitCode => match number(&value.unwrap_or_default()) {
                    Some(code) if (0..=255).contains(&code) => options.conflict = code,
                    Some(_) => return failed("exit code out of range (expected 0 to 255)", USAGE),
                    None => return failed("invalid exit code", USAGE),
                },
                Flag::Verbose => options.verbose = true,
                _ => {}
            },
        }
    }
    match words.as_slice() {
        [] => usage("not enough arguments"),
        [only] => descriptor(&options, only),
        [file, c, rest @ ..] if matches!(c.as_slice(), b"-c" | b"--command") => match rest {
            [command] => run(&options, file, &[b"/bin/sh".to_vec(), b"-c".to_vec(), command.clone()]),
            _ => failed("-c requires exactly one command argument", USAGE),
        },
        [file, command @ ..] => run(&options, file, command),
    }
}

fn usage(message: &str) -> i32 {
    tidebox_gnu::tool::usage("flock", message, USAGE)
}

fn failed(message: &str, code: i32) -> i32 {
    print_error("flock", message);
    code
}

fn number(text: &[u8]) -> Option<i32> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

fn seconds(text: &[u8]) -> Result<Duration, String> {
    let shown = String::from_utf8_lossy(text);
    let value = shown.parse::<f64>().ok().filter(|value| value.is_finite() && *value >= 0.0);
    value.map(|value| Duration::from_secs_f64(value.min(1e9))).ok_or(format!("invalid timeout value: '{shown}'"))
}

/// Locks the file of a descriptor of the caller, on behalf of the caller.
fn descriptor(options: &Options, text: &[u8]) -> i32 {
    let shown = String::from_utf8_lossy(text).into_owned();
    let Some(number) = std::str::from_utf8(text).ok().and_then(|text| text.parse::<u32>().ok()) else {
        return failed(&format!("bad file descriptor: '{shown}'"), USAGE);
    };
    let state = tidebox_rt::fstat(tidebox_rt::fd_of_unix(number));
    let (state, ids) = match (state, tidebox_rt::getids()) {
        (Ok(state), Ok(ids)) => (state, ids),
        (Err(error), _) | (_, Err(error)) => return failed(&format!("{number}: {}", error.text()), DATA),
    };
    match Lock::of(&state, ids.ppid).and_then(|lock| lock.take(options)) {
        Ok(true) => 0,
        Ok(false) => conflict(options),
        Err(error) => failed(&format!("{number}: {}", error.text()), DATA),
    }
}

fn conflict(options: &Options) -> i32 {
    if options.verbose {
        print_error(
            "flock",
            if options.wait == Some(Duration::ZERO) {
                "failed to get lock"
            } else {
                "timeout while waiting to get lock"
            },
        );
    }
    options.conflict
}

/// Runs a command with the file locked.
fn run(options: &Options, file: &[u8], command: &[Vec<u8>]) -> i32 {
    let shown = String::from_utf8_lossy(file).into_owned();
    let cannot = |error: Errno| failed(&format!("cannot open lock file {shown}: {}", error.text()), NO_INPUT);
    let state = match tidebox_rt::stat(file, true) {
        Err(Errno::NOENT) => {
            let how = Open { read: true, write: true, create: true, ..Open::default() };
            tidebox_rt::open(file, how).and_then(tidebox_rt::close).and_then(|()| tidebox_rt::stat(file, true))
        }
        other => other,
    };
    let (state, ids) = match (state, tidebox_rt::getids()) {
        (Ok(state), Ok(ids)) => (state, ids),
        (Err(error), _) | (_, Err(error)) => return cannot(error),
    };
    let lock = match Lock::of(&state, ids.pid) {
        Ok(lock) => lock,
        Err(error) => return cannot(error),
    };
    match lock.take(options) {
        Ok(true) => {}
        Ok(false) => return conflict(options),
        Err(error) => return cannot(error),
    }
    let words: Vec<&[u8]> = command.iter().map(Vec::as_slice).collect();
    if options.verbose {
        let name = String::from_utf8_lossy(words.first().copied().unwrap_or_default()).into_owned();
        print("flock", format!("flock: executing {name}\n").as_bytes());
    }
    let ended = Command::new(&words).run();
    // If the release fails, the lock becomes stale when this process exits.
    let _ = lock.release();
    match ended {
        Ok(status) => i32::from(status.code()),
        Err(error) => {
            let name = String::from_utf8_lossy(words.first().copied().unwrap_or_default()).into_owned();
            let code = if error == Errno::NOENT { UNAVAILABLE } else { 126 };
            failed(&format!("failed to execute {name}: {}", error.text()), code)
        }
    }
}

/// Locks of one file and the requesting process.
struct Lock {
    folder: Vec<u8>,
    holder: u32,
}

impl Lock {
    fn of(state: &tidebox_rt::Stat, holder: u32) -> Result<Self, Errno> {
        let folder = [LOCKS, format!("/{}-{}", state.dev, state.ino).as_bytes()].concat();
        for made in [LOCKS, folder.as_slice()] {
            match tidebox_rt::make_dir(made) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Self { folder, holder })
    }

    fn path(&self, name: &[u8]) -> Vec<u8> {
        [self.folder.as_slice(), b"/", name].concat()
    }

    /// Acquires the lock within the timeout of the options. Returns false if another process holds it.
    fn take(&self, options: &Options) -> Result<bool, Errno> {
        let begun = Instant::now();
        loop {
            self.guard()?;
            let acquired = self.try_take(options.kind);
            let freed = tidebox_rt::remove_dir(&self.path(b"guard"));
            if acquired? {
                return freed.map(|()| true);
            }
            if options.wait.is_some_and(|wait| begun.elapsed() >= wait) {
                return Ok(false);
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// Acquires exclusive access to the lock directory. Creating the guard directory succeeds in one process only.
    fn guard(&self) -> Result<(), Errno> {
        let path = self.path(b"guard");
        loop {
            match tidebox_rt::make_dir(&path) {
                Err(Errno::EXIST) => {}
                other => return other,
            }
            let made = tidebox_rt::stat(&path, false).map_or(u64::MAX, |state| state.mtime_ns);
            if tidebox_rt::realtime_ns().saturating_sub(made) > GUARD_LIFE_NS {
                // The guard is stale. Several processes may remove it; one of them creates the next guard.
                let _ = tidebox_rt::remove_dir(&path);
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// Creates the lock file, unless a living process holds a conflicting lock. Removes stale locks and the caller's own.
    fn try_take(&self, kind: Kind) -> Result<bool, Errno> {
        for entry in tidebox_rt::read_dir(&self.folder)? {
            let Some((letter, pid)) = holder(&entry.name) else { continue };
            if pid == self.holder || !is_alive(pid) {
                if let Err(error) = tidebox_rt::unlink(&self.path(&entry.name))
                    && error != Errno::NOENT
                {
                    return Err(error);
                }
            } else if kind == Kind::Exclusive || (kind == Kind::Shared && letter == b'x') {
                return Ok(false);
            }
        }
        let letter = match kind {
            Kind::None => return Ok(true),
            Kind::Shared => 's',
            Kind::Exclusive => 'x',
        };
        let name = format!("{letter}{}", self.holder);
        let how = Open { write: true, create: true, ..Open::default() };
        tidebox_rt::open(&self.path(name.as_bytes()), how).and_then(tidebox_rt::close).map(|()| true)
    }

    fn release(&self) -> Result<(), Errno> {
        self.guard()?;
        let released = self.try_take(Kind::None);
        tidebox_rt::remove_dir(&self.path(b"guard"))?;
        released.map(|_| ())
    }
}

/// Parses the name of a lock file: its kind and its process.
fn holder(name: &[u8]) -> Option<(u8, u32)> {
    let (letter, pid) = name.split_first().filter(|(letter, _)| matches!(letter, b's' | b'x'))?;
    Some((*letter, std::str::from_utf8(pid).ok()?.parse().ok()?))
}

fn is_alive(pid: u32) -> bool {
    i32::try_from(pid).is_ok_and(|pid| tidebox_rt::kill(pid, 0) != Err(Errno::SRCH))
}
