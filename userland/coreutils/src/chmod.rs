//! `chmod`: file modes.

use tidebox_gnu::exit::{ToolResult, print};
use tidebox_gnu::message::{print_error, quote_path, quote_value};
use tidebox_gnu::mode::{Change, letters};
use tidebox_gnu::options::Syntax;
use tidebox_rt::{FileKind, Stat};

const USAGE: &str = "\
Usage: chmod [OPTION]... MODE[,MODE]... FILE...
   or: chmod [OPTION]... --reference=FILE FILE...
Changes the mode of each FILE to MODE, octal digits or [ugoa]*([-+=]([rwxXst]*|[ugo]))+.

";

tidebox_gnu::options! {
    /// Options of `chmod`.
    enum Flag {
        Changes = "-c, --changes", "print each change";
        Quiet = "-f, --silent, --quiet", "suppress most error messages";
        Verbose = "-v, --verbose", "print the result for every file";
        Recursive = "-R, --recursive", "change directories recursively";
        Reference = "--reference=FILE", "use the mode of FILE";
        PreserveRoot = "--preserve-root", "refuse to change / recursively";
        NoPreserveRoot = "--no-preserve-root", "allow to change / recursively (the default)";
    }
}

#[derive(Debug, Default)]
struct Chmod {
    prints_changes: bool,
    prints_all: bool,
    silent: bool,
    recursive: bool,
    preserve_root: bool,
    umask: u32,
    out: Vec<u8>,
    failed: bool,
}

/// Source of the new mode.
enum Source {
    Change {
        change: Change,
        /// The mode starts with a dash, such as `-w`. If the umask changes its effect, a message is printed.
        dashed: bool,
    },
    Reference(u32),
}

/// Runs `chmod`.
pub fn main(arguments: Vec<Vec<u8>>) -> ToolResult {
    let mut chmod = Chmod { umask: tidebox_rt::umask(None).unwrap_or(0), ..Chmod::default() };
    let (modes, arguments) = split_modes(arguments);
    let mut reference = None;
    let operands = Syntax::core("chmod", USAGE, 25).parse(arguments, |key, value| {
        match key {
            Flag::Reference => reference = Some(value),
            key => chmod.option(key),
        }
        Ok(())
    });
    let mut operands = match operands {
        Ok(operands) => operands,
        Err(result) => return result,
    };
    let source = match source(reference, modes, &mut operands) {
        Ok(source) => source,
        Err(result) => return result,
    };
    for file in &operands {
        chmod.file(file, &source, true);
    }
    ToolResult::PrintAndCode(std::mem::take(&mut chmod.out), i32::from(chmod.failed))
}

/// Separates modes that begin with a dash, such as `-x`, from the options.
fn split_modes(arguments: Vec<Vec<u8>>) -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
    let mut ended = false;
    arguments.into_iter().partition(|argument| {
        ended |= argument == b"--";
        let letters = argument.strip_prefix(b"-").unwrap_or_default();
        !ended
            && !letters.is_empty()
            && letters.iter().all(|byte| b"rwxXstugoa,+-=01234567".contains(byte))
            && letters != b"-"
    })
}

fn source(reference: Option<Vec<u8>>, modes: Vec<Vec<u8>>, operands: &mut Vec<Vec<u8>>) -> Result<Source, ToolResult> {
    if let Some(file) = reference {
        if operands.is_empty() {
            return Err(ToolResult::Usage("missing operand".to_owned(), 1));
        }
        let stat = tidebox_rt::stat(&file, true);
        let stat = stat.map_err(|error| {
            ToolResult::Failure(format!("failed to get attributes of {}: {}", quote_path(&file), error.text()), 1)
        })?;
        return Ok(Source::Reference(stat.mode & 0o7777));
    }
    let dashed = !modes.is_empty();
    let mode = if modes.is_empty() {
        if operands.is_empty() {
            return Err(ToolResult::Usage("missing operand".to_owned(), 1));
        }
        operands.remove(0)
    } else {
        modes.join(&b',')
    };
    if operands.is_empty() {
        return Err(ToolResult::Usage(format!("missing operand after {}", quote_value(&mode)), 1));
    }
    let change = std::str::from_utf8(&mode).ok().and_then(Change::parse);
    change
        .map(|change| Source::Change { change, dashed })
        .ok_or_else(|| ToolResult::Usage(format!("invalid mode: {}", quote_value(&mode)), 1))
}

impl Chmod {
    fn option(&mut self, key: Flag) {
        match key {
            Flag::Changes => (self.prints_changes, self.prints_all) = (true, false),
            Flag::Verbose => (self.prints_changes, self.prints_all) = (true, true),
            Flag::Quiet => self.silent = true,
            Flag::Recursive => self.recursive = true,
            Flag::PreserveRoot => self.preserve_root = true,
            Flag::NoPreserveRoot => self.preserve_root = false,
            _ => {}
        }
    }

    fn report_error(&mut self, message: &str) {
        self.failed = true;
        if !self.silent {
            // Printed first, to keep the order of output and messages.
            let _ = print(&std::mem::take(&mut self.out));
            print_error("chmod", message);
        }
    }

    fn file(&mut self, root: &[u8], source: &Source, named: bool) {
        let mut pending = vec![(root.to_vec(), named)];
        while let Some((path, named)) = pending.pop() {
            // Symbolic links inside directories, and their targets, are not changed.
            let stat = match tidebox_rt::stat(&path, named) {
                Ok(stat) => stat,
                Err(_) if named && tidebox_rt::stat(&path, false).is_ok() => {
                    self.report_error(&format!("cannot operate on dangling symlink {}", quote_path(&path)));
                    continue;
                }
                Err(error) => {
                    self.report_error(&format!("cannot access {}: {}", quote_path(&path), error.text()));
                    continue;
                }
            };
            if !named && stat.kind() == FileKind::Symlink {
                if self.prints_all {
                    let line = format!("neither symbolic link {} nor referent has been changed\n", quote_path(&path));
                    self.out.extend_from_slice(line.as_bytes());
                }
                continue;
            }
            let is_dir = stat.kind() == FileKind::Dir;
            if self.recursive && self.preserve_root && path == b"/" {
                self.report_error("it is dangerous to operate recursively on '/'\nchmod: use --no-preserve-root to override this failsafe");
                continue;
            }
            self.change(&path, &stat, source);
            if !(self.recursive && is_dir) {
                continue;
            }
            match tidebox_rt::read_dir(&path) {
                Ok(entries) => {
                    for entry in entries.into_iter().rev().filter(|entry| entry.name != b"." && entry.name != b"..") {
                        let slash: &[u8] = if path.ends_with(b"/") { b"" } else { b"/" };
                        pending.push(([path.as_slice(), slash, &entry.name].concat(), false));
                    }
                }
                Err(error) => {
                    self.report_error(&format!("cannot read directory {}: {}", quote_path(&path), error.text()))
                }
            }
        }
    }

    fn change(&mut self, path: &[u8], stat: &Stat, source: &Source) {
        let (old, is_dir) = (stat.mode & 0o7777, stat.kind() == FileKind::Dir);
        let new = match source {
            Source::Reference(mode) => *mode,
            Source::Change { change, .. } => change.apply(old, is_dir, self.umask),
        };
        if let Err(error) = tidebox_rt::chmod(path, new) {
            return self.report_error(&format!("changing permissions of {}: {}", quote_path(path), error.text()));
        }
        let described = |mode: u32| format!("{mode:04o} ({})", letters(mode).get(1..).unwrap_or_default());
        if old != new && self.prints_changes {
            let line = format!("mode of {} changed from {} to {}\n", quote_path(path), described(old), described(new));
            self.out.extend_from_slice(line.as_bytes());
        } else if old == new && self.prints_all {
            self.out
                .extend_from_slice(format!("mode of {} retained as {}\n", quote_path(path), described(new)).as_bytes());
        }
        if let Source::Change { change, dashed: true } = source {
            let naive = change.apply(old, is_dir, 0);
            if new & !naive != 0 {
                let nine = |mode: u32| letters(mode).get(1..).unwrap_or_default().to_owned();
                let name = tidebox_gnu::message::path_label(path);
                self.report_error(&format!("{name}: new permissions are {}, not {}", nine(new), nine(naive)));
            }
        }
    }
}
