//! `rm`: removes files and directory trees.

use tidebox_gnu::choice::parse_choice;
use tidebox_gnu::exit::{IntoExitCode, ToolResult};
use tidebox_gnu::message::{path_label, print_error, quote_path};
use tidebox_gnu::options::Syntax;
use tidebox_rt::{Errno, FileKind, Stat};

use crate::common::{ask, print_line};

const USAGE: &str = "\
Usage: rm [OPTION]... [FILE]...
Removes the FILEs. Directories need -r or -d.

";

tidebox_gnu::options! {
    /// Options of `rm`.
    enum Flag {
        Force = "-f, --force", "ignore missing files, and never prompt";
        AskAlways = "-i", "prompt before every removal";
        AskOnce = "-I", "prompt once before more than three files or a directory tree are removed";
        Interactive = "--interactive[=WHEN]", "prompt never, once (-I) or always (-i)";
        OneFileSystem = "--one-file-system", "skip directories on other file systems";
        NoPreserveRoot = "--no-preserve-root", "allow to remove /";
        PreserveRoot = "--preserve-root[=all]", "refuse to remove / (the default)";
        Recursive = "-r, -R, --recursive", "remove directories and their content";
        Dir = "-d, --dir", "remove empty directories";
        Verbose = "-v, --verbose", "print each removed file";
        PresumeInputTty = "---presume-input-tty", "";
    }
}

const LINE: Syntax<'_, Flag> = Syntax::core("rm", USAGE, 27);

/// Maximum length of a path in bytes. Directories with longer paths are entered, because the system limits path lengths.
const LONG_PATH: usize = 2000;

/// When to prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Ask {
    /// Before write-protected files if stdin is a terminal.
    #[default]
    Protected,
    Never,
    Once,
    Always,
}

#[derive(Debug, Default)]
struct Remover {
    ask: Ask,
    force: bool,
    recursive: bool,
    empty_dirs: bool,
    one_system: bool,
    removes_root: bool,
    verbose: bool,
    at_terminal: bool,
    /// `--no-preserve-root` is on the command line in full. It must not be abbreviated.
    spelled_out: bool,
    failed: bool,
}

/// A directory that is being emptied.
struct Open {
    /// Path from the working directory of the process.
    path: Vec<u8>,
    /// Path shown in messages.
    shown: Vec<u8>,
    rest: std::vec::IntoIter<tidebox_rt::Entry>,
    /// Number of directory levels the process entered.
    entered: usize,
    device: u32,
    /// An entry of the directory was not removed.
    kept: bool,
}

/// Runs `rm`.
pub fn main(arguments: Vec<Vec<u8>>) -> i32 {
    answer(arguments).unwrap_or_else(|answer| answer.into_exit_code("rm"))
}

fn answer(arguments: Vec<Vec<u8>>) -> Result<i32, ToolResult> {
    let words = arguments.clone();
    let mut remover = Remover { at_terminal: tidebox_rt::is_terminal(0), ..Remover::default() };
    remover.spelled_out = words.iter().any(|word| word == b"--no-preserve-root");
    let files =
        LINE.parse(arguments, |key, value| remover.set(key, &value)).map_err(|answer| add_hint(answer, &words))?;
    if files.is_empty() {
        return if remover.force { Ok(0) } else { Err(LINE.usage_error("missing operand")) };
    }
    if remover.ask == Ask::Once && (files.len() > 3 || remover.recursive) {
        let plural = if files.len() == 1 { "" } else { "s" };
        let how = if remover.recursive { " recursively" } else { "" };
        if !ask::yes(&format!("rm: remove {} argument{plural}{how}? ", files.len())) {
            return Ok(0);
        }
    }
    for file in &files {
        remover.operand(file);
    }
    Ok(i32::from(remover.failed))
}

/// Adds a hint to the error if an argument that looks like options is an existing file.
fn add_hint(answer: ToolResult, words: &[Vec<u8>]) -> ToolResult {
    let dashed = |word: &&Vec<u8>| word.len() > 1 && word.starts_with(b"-") && tidebox_rt::stat(word, false).is_ok();
    match (answer, words.iter().find(dashed)) {
        (ToolResult::Usage(message, code), Some(file)) => {
            let path = [b"./", file.as_slice()].concat();
            ToolResult::Usage(
                format!("{message}\nTry 'rm {}' to remove the file {}.", path_label(&path), quote_path(file)),
                code,
            )
        }
        (answer, _) => answer,
    }
}

impl Remover {
    fn set(&mut self, key: Flag, value: &[u8]) -> Result<(), ToolResult> {
        match key {
            Flag::Force => (self.ask, self.force) = (Ask::Never, true),
            Flag::AskAlways => (self.ask, self.force) = (Ask::Always, false),
            Flag::AskOnce => (self.ask, self.force) = (Ask::Once, false),
            Flag::Interactive => {
                let words: &[&[&str]] = &[&["never", "no", "none"], &["once"], &["always", "yes"]];
                let at = if value.is_empty() {
                    2
                } else {
                    parse_choice("--interactive", value, words).map_err(|m| ToolResult::Usage(m, 1))?
                };
                self.ask = match at {
                    0 => Ask::Never,
                    1 => Ask::Once,
                    _ => Ask::Always,
                };
                self.force &= at == 0;
            }
            Flag::OneFileSystem => self.one_system = true,
            Flag::NoPreserveRoot if !self.spelled_out => {
                return Err(ToolResult::Failure("you may not abbreviate the --no-preserve-root option".to_owned(), 1));
            }
            Flag::NoPreserveRoot => self.removes_root = true,
            Flag::PreserveRoot if value.is_empty() || value == b"all" => self.removes_root = false,
            Flag::PreserveRoot => {
                let shown = quote_path(value);
                return Err(ToolResult::Failure(format!("unrecognized --preserve-root argument: {shown}"), 1));
            }
            Flag::PresumeInputTty => self.at_terminal = true,
            Flag::Recursive => self.recursive = true,
            Flag::Dir => self.empty_dirs = true,
            _ => self.verbose = true,
        }
        Ok(())
    }

    fn report(&mut self, message: &str) {
        print_error("rm", message);
        self.failed = true;
    }

    fn cannot(&mut self, shown: &[u8], errno: Errno) {
        self.report(&format!("cannot remove {}: {}", quote_path(shown), errno.text()));
    }

    /// Removes one operand.
    fn operand(&mut self, file: &[u8]) {
        // Removes all but one of several slashes at the end.
        let mut file = file;
        while file.ends_with(b"//") && file.len() > 2 {
            file = file.get(..file.len() - 1).unwrap_or_default();
        }
        let mut name = file;
        while let Some(shorter) = name.strip_suffix(b"/") {
            name = shorter;
        }
        let last = name.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        let stat = match tidebox_rt::stat(file, false) {
            Ok(stat) => stat,
            Err(Errno::NOENT | Errno::NOTDIR) if self.force => return,
            Err(errno) => return self.cannot(file, errno),
        };
        let is_dir = stat.kind() == FileKind::Dir;
        if is_dir && self.recursive {
            if matches!(last, b"." | b"..") {
                let shown = quote_path(file);
                return self.report(&format!("refusing to remove '.' or '..' directory: skipping {shown}"));
            }
            if !self.removes_root
                && tidebox_rt::stat(b"/", true).is_ok_and(|root| (root.dev, root.ino) == (stat.dev, stat.ino))
            {
                let same = if file == b"/" { String::new() } else { " (same as '/')".to_owned() };
                self.report(&format!("it is dangerous to operate recursively on {}{same}", quote_path(file)));
                return self.report("use --no-preserve-root to override this failsafe");
            }
        }
        match (is_dir, self.recursive) {
            (true, true) => self.tree(file, stat),
            (true, false) if !self.empty_dirs => self.cannot(file, Errno::ISDIR),
            _ => {
                self.one(file, file, &stat, is_dir);
            }
        }
    }

    /// Returns whether a file may be removed. Prompts if the options or its mode require it. `verb` names the action.
    fn confirm(&self, path: &[u8], shown: &[u8], stat: &Stat, verb: &str) -> bool {
        let asks = self.ask == Ask::Always || self.ask != Ask::Never && self.at_terminal;
        if !asks || self.force {
            return true;
        }
        let protected = stat.kind() != FileKind::Symlink && tidebox_rt::access(path, 2).is_err();
        if self.ask != Ask::Always && !protected {
            return true;
        }
        let guard = if protected { "write-protected " } else { "" };
        let what = if verb == "descend into" { "directory" } else { tidebox_gnu::message::kind(stat) };
        ask::yes(&format!("rm: {verb} {guard}{what} {}? ", quote_path(shown)))
    }

    /// Removes a file or an empty directory. Returns false on an error.
    fn one(&mut self, path: &[u8], shown: &[u8], stat: &Stat, is_dir: bool) -> bool {
        // A declined prompt is not an error. The directory is still prompted for.
        if !self.confirm(path, shown, stat, "remove") {
            return true;
        }
        match if is_dir { tidebox_rt::remove_dir(path) } else { tidebox_rt::unlink(path) } {
            Ok(()) => {
                if self.verbose {
                    let what = if is_dir { "removed directory" } else { "removed" };
                    self.failed |= !print_line("rm", &format!("{what} {}", quote_path(shown)));
                }
                true
            }
            Err(Errno::NOENT) if self.force => true,
            Err(errno) => {
                self.cannot(shown, errno);
                false
            }
        }
    }

    /// Removes a directory tree without recursion; the depth is limited by memory only.
    fn tree(&mut self, file: &[u8], stat: Stat) {
        let mut open: Vec<Open> = Vec::new();
        let mut next = Some((file.to_vec(), file.to_vec(), stat));
        loop {
            if let Some((path, shown, stat)) = next.take() {
                let kept = match self.enter(&path, &shown, &stat) {
                    Entered::Open(dir) => {
                        open.push(dir);
                        false
                    }
                    Entered::Done => false,
                    Entered::Kept => true,
                };
                if let Some(parent) = open.last_mut() {
                    parent.kept |= kept;
                }
            }
            let Some(dir) = open.last_mut() else {
                return;
            };
            if let Some(entry) = dir.rest.next() {
                let path = join(&dir.path, &entry.name);
                let shown = join(&dir.shown, &entry.name);
                let device = dir.device;
                match tidebox_rt::stat(&path, false) {
                    Ok(stat) if stat.kind() == FileKind::Dir && self.one_system && stat.dev != device => {
                        self.report(&format!("skipping {}, since it's on a different device", quote_path(&shown)));
                        keep(&mut open);
                    }
                    Ok(stat) if stat.kind() == FileKind::Dir => next = Some((path, shown, stat)),
                    Ok(stat) => {
                        if !self.one(&path, &shown, &stat, false) {
                            keep(&mut open);
                        }
                    }
                    Err(Errno::NOENT) if self.force => {}
                    Err(errno) => {
                        self.cannot(&shown, errno);
                        keep(&mut open);
                    }
                }
                continue;
            }
            let Some(dir) = open.pop() else {
                return;
            };
            if self.leave(dir) {
                keep(&mut open);
            }
        }
    }

    /// Starts emptying a directory.
    fn enter(&mut self, path: &[u8], shown: &[u8], stat: &Stat) -> Entered {
        let listed = tidebox_rt::read_dir(path);
        let empty = listed.as_ref().is_ok_and(Vec::is_empty);
        // For an empty directory the only prompt is that of its removal.
        if !empty && !self.confirm(path, shown, stat, "descend into") {
            return Entered::Done;
        }
        match listed {
            Ok(entries) => {
                let mut dir = Open {
                    path: path.to_vec(),
                    shown: shown.to_vec(),
                    rest: entries.into_iter(),
                    entered: 0,
                    device: stat.dev,
                    kept: false,
                };
                if path.len() > LONG_PATH && tidebox_rt::chdir(path).is_ok() {
                    dir.entered = path.split(|byte| *byte == b'/').filter(|name| !name.is_empty()).count();
                    dir.path = Vec::new();
                }
                Entered::Open(dir)
            }
            // An empty directory can be removed without read permission.
            Err(_) if tidebox_rt::remove_dir(path).is_ok() => Entered::Done,
            Err(errno) => {
                self.cannot(shown, errno);
                Entered::Kept
            }
        }
    }

    /// Removes an emptied directory. Returns whether something is left in it.
    fn leave(&mut self, dir: Open) -> bool {
        let mut path = dir.path;
        if dir.entered > 0 {
            let up = b"../".repeat(dir.entered);
            // The process entered the directory through these parents.
            if tidebox_rt::chdir(&up).is_err() {
                self.report("cannot return to the parent directory");
                return true;
            }
            path = last_names(&dir.shown, dir.entered);
        }
        if dir.kept {
            return true;
        }
        match tidebox_rt::stat(&path, false) {
            Ok(stat) => !self.one(&path, &dir.shown, &stat, true),
            Err(errno) => {
                self.cannot(&dir.shown, errno);
                true
            }
        }
    }
}

/// Result of entering a directory to empty it.
enum Entered {
    Open(Open),
    Done,
    Kept,
}

fn keep(open: &mut [Open]) {
    if let Some(dir) = open.last_mut() {
        dir.kept = true;
    }
}

/// Joins a directory and a name. The path of the working directory is empty.
fn join(dir: &[u8], name: &[u8]) -> Vec<u8> {
    match dir {
        b"" => name.to_vec(),
        dir if dir.ends_with(b"/") => [dir, name].concat(),
        dir => [dir, b"/", name].concat(),
    }
}

/// Returns the last `count` names of a path.
fn last_names(path: &[u8], count: usize) -> Vec<u8> {
    let names: Vec<&[u8]> = path.split(|byte| *byte == b'/').filter(|name| !name.is_empty()).collect();
    names.get(names.len().saturating_sub(count)..).unwrap_or_default().join(&b"/"[..])
}
