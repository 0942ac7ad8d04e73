//! `ls`: lists files and directories.

mod color;
mod format;
mod options;
mod order;
pub(crate) mod quote;

use std::rc::Rc;

use tidebox_gnu::exit::{ToolResult, print};
use tidebox_gnu::glob::{self, Flags};
use tidebox_gnu::message::{path_label, print_error, quote_path};
use tidebox_rt::{Errno, FileKind, Stat};

use format::Format;
use options::{Follow, Options, Shows};
use quote::Style;

/// A file that is listed.
#[derive(Clone, Debug)]
pub(crate) struct Listed {
    /// Name in the list.
    pub(crate) name: Vec<u8>,
    /// Path to the file.
    pub(crate) path: Vec<u8>,
    pub(crate) kind: FileKind,
    /// Attributes, if the list needs them and they can be read.
    pub(crate) stat: Option<Stat>,
}

/// Exit code if a file in a directory cannot be listed.
pub(crate) const MINOR: i32 = 1;
/// Exit code if an operand cannot be listed.
pub(crate) const MAJOR: i32 = 2;

struct Ls {
    options: Options,
    format: Format,
    out: Vec<u8>,
    code: i32,
    /// Output exists, so the next heading follows an empty line.
    has_output: bool,
}

/// An ancestor directory, used to detect cycles of links.
struct Ancestor {
    id: (u32, u64),
    parent: Option<Rc<Self>>,
}

/// Runs `ls`.
pub fn main(arguments: Vec<Vec<u8>>) -> ToolResult {
    list("ls", arguments, Options::default())
}

/// Runs `dir`: prints names in columns.
pub fn dir(arguments: Vec<Vec<u8>>) -> ToolResult {
    list("dir", arguments, Options { layout: options::Layout::Columns, style: Style::Escape, ..Options::default() })
}

/// Runs `vdir`: prints one file on each line, with its attributes.
pub fn vdir(arguments: Vec<Vec<u8>>) -> ToolResult {
    list("vdir", arguments, Options { layout: options::Layout::Long, style: Style::Escape, ..Options::default() })
}

fn list(tool: &str, arguments: Vec<Vec<u8>>, defaults: Options) -> ToolResult {
    let options = match options::parse(tool, arguments, defaults) {
        Ok(options) => options,
        Err(answer) => return answer,
    };
    let format = Format::new(&options);
    let mut ls = Ls { options, format, out: Vec::new(), code: 0, has_output: false };
    ls.all();
    ToolResult::PrintAndCode(std::mem::take(&mut ls.out), ls.code)
}

impl Ls {
    fn all(&mut self) {
        let mut operands = std::mem::take(&mut self.options.files);
        if operands.is_empty() {
            operands.push(b".".to_vec());
        }
        let several = operands.len() > 1;
        let (mut files, mut dirs) = (Vec::new(), Vec::new());
        for operand in operands {
            match self.stat_operand(operand) {
                Some(file) if file.kind == FileKind::Dir && !self.options.dirs_as_files => dirs.push(file),
                Some(file) => files.push(file),
                None => {}
            }
        }
        self.options.order.sort(&mut files);
        self.options.order.sort(&mut dirs);
        if !files.is_empty() {
            self.format.write(&files, Some(&dirs), &mut self.out);
            self.has_output = true;
        }
        let headings = several || self.options.recursive || self.code != 0;
        for dir in dirs {
            self.list_dir(dir, headings);
        }
    }

    fn report(&mut self, message: &str, code: i32) {
        self.code = self.code.max(code);
        // Flush the list first, so that the message follows it.
        let _ = print(&std::mem::take(&mut self.out));
        print_error("ls", message);
    }

    /// Stats an operand. Links are followed unless they are shown as links.
    fn stat_operand(&mut self, path: Vec<u8>) -> Option<Listed> {
        let stat = match self.options.follow {
            Follow::Always | Follow::Operands => tidebox_rt::stat(&path, true),
            Follow::Dirs => match tidebox_rt::stat(&path, true) {
                Ok(stat) if stat.kind() == FileKind::Dir => Ok(stat),
                _ => tidebox_rt::stat(&path, false),
            },
            Follow::Never => tidebox_rt::stat(&path, false),
        };
        match stat {
            Ok(stat) => Some(Listed { name: path.clone(), path, kind: stat.kind(), stat: Some(stat) }),
            Err(error) => {
                self.report(&format!("cannot access {}: {}", quote_path(&path), error.text()), MAJOR);
                None
            }
        }
    }

    /// Lists a directory and, with `-R`, those below it. Does not recurse, so that the depth is not limited by the stack.
    fn list_dir(&mut self, root: Listed, headings: bool) {
        let mut waiting = vec![(root, None::<Rc<Ancestor>>, MAJOR)];
        while let Some((dir, parent, code)) = waiting.pop() {
            let entries = match tidebox_rt::read_dir(&dir.path) {
                Ok(entries) => entries,
                Err(error) => {
                    self.report(&format!("cannot open directory {}: {}", quote_path(&dir.path), error.text()), code);
                    continue;
                }
            };
            let Some(ancestor) = self.enter(&dir, parent) else {
                continue;
            };
            let mut files: Vec<Listed> = Vec::new();
            if self.options.shows == Shows::All {
                for name in [b".".as_slice(), b".."] {
                    files.extend(self.entry(&dir.path, name.to_vec(), FileKind::Dir));
                }
            }
            for entry in entries {
                if entry.name != b"." && entry.name != b".." && self.is_shown(&entry.name) {
                    files.extend(self.entry(&dir.path, entry.name, entry.kind));
                }
            }
            self.options.order.sort(&mut files);
            if headings {
                if std::mem::replace(&mut self.has_output, true) {
                    self.out.push(b'\n');
                }
                self.format.heading(&dir.path, &mut self.out);
                self.out.extend_from_slice(b":\n");
            }
            self.format.write(&files, None, &mut self.out);
            self.has_output = true;
            if self.options.recursive {
                let below = files
                    .into_iter()
                    .rev()
                    .filter(|file| file.kind == FileKind::Dir && file.name != b"." && file.name != b"..");
                waiting.extend(below.map(|file| (file, Some(Rc::clone(&ancestor)), MINOR)));
            }
        }
    }

    fn is_shown(&self, name: &[u8]) -> bool {
        let hidden = name.starts_with(b".") && self.options.shows == Shows::Visible;
        let excluded = self.options.shows == Shows::Visible
            && self.options.hidden.iter().any(|glob| glob::matches(glob, name, Flags::default()));
        !hidden && !excluded && !self.options.ignore.iter().any(|glob| glob::matches(glob, name, Flags::default()))
    }

    fn entry(&mut self, dir: &[u8], name: Vec<u8>, kind: FileKind) -> Option<Listed> {
        let slash: &[u8] = if dir.ends_with(b"/") { b"" } else { b"/" };
        let path = [dir, slash, &name].concat();
        let follow = self.options.follow == Follow::Always;
        let is_followed = follow && kind == FileKind::Symlink;
        let needs_state = self.format.needs_state(kind) || self.options.order.needs_state();
        if !(needs_state || is_followed) {
            return Some(Listed { name, path, kind, stat: None });
        }
        match tidebox_rt::stat(&path, follow) {
            Ok(stat) => Some(Listed { name, path, kind: stat.kind(), stat: Some(stat) }),
            Err(error) => {
                if needs_state || self.options.recursive || !matches!(error, Errno::NOENT | Errno::LOOP) {
                    let shown = if dir == b"." { &name } else { &path };
                    self.report(&format!("cannot access {}: {}", quote_path(shown), error.text()), MINOR);
                }
                Some(Listed { name, path, kind, stat: None })
            }
        }
    }

    /// Records a directory as an ancestor. Returns `None` after a message if it is one already, which followed links can cause.
    fn enter(&mut self, dir: &Listed, parent: Option<Rc<Ancestor>>) -> Option<Rc<Ancestor>> {
        let id = match tidebox_rt::stat(&dir.path, true) {
            Ok(stat) if self.options.recursive => (stat.dev, stat.ino),
            // Cycles are possible only with recursion.
            _ => (0, 0),
        };
        let mut above = parent.as_ref();
        while let Some(ancestor) = above {
            if ancestor.id == id && id != (0, 0) {
                let name = path_label(&dir.path);
                self.report(&format!("{name}: not listing already-listed directory"), MAJOR);
                return None;
            }
            above = ancestor.parent.as_ref();
        }
        Some(Rc::new(Ancestor { id, parent }))
    }
}
