//! `ls`: what is in folders.

mod color;
mod dired;
mod format;
mod hyperlink;
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
    /// How it is named in the list.
    pub(crate) name: Vec<u8>,
    /// How it is found.
    pub(crate) path: Vec<u8>,
    pub(crate) kind: FileKind,
    /// Its state, when the list needs it and it can be had.
    pub(crate) stat: Option<Stat>,
}

/// Exit code when a file within a folder cannot be listed.
pub(crate) const MINOR: i32 = 1;
/// Exit code when a file that was named cannot be listed.
pub(crate) const MAJOR: i32 = 2;

struct Ls {
    options: Options,
    format: Format,
    out: Vec<u8>,
    code: i32,
    /// Something was printed, so that a folder's heading is set apart.
    begun: bool,
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

/// `dir`: names in columns.
pub fn dir(arguments: Vec<Vec<u8>>) -> ToolResult {
    list("dir", arguments, Options { layout: options::Layout::Columns, style: Style::Escape, ..Options::default() })
}

/// `vdir`: one file on each line, with its state.
pub fn vdir(arguments: Vec<Vec<u8>>) -> ToolResult {
    list("vdir", arguments, Options { layout: options::Layout::Long, style: Style::Escape, ..Options::default() })
}

fn list(tool: &str, arguments: Vec<Vec<u8>>, defaults: Options) -> ToolResult {
    let options = match options::parse(tool, arguments, defaults) {
        Ok(options) => options,
        Err(answer) => return answer,
    };
    let format = Format::new(&options);
    let mut ls = Ls { options, format, out: Vec::new(), code: 0, begun: false };
    ls.all();
    if let Some(dired) = &ls.format.dired {
        dired.end(ls.options.style, &mut ls.out);
    }
    ToolResult::PrintAndCode(std::mem::take(&mut ls.out), ls.code)
}

impl Ls {
    fn all(&mut self) {
        let mut operands = std::mem::take(&mut self.options.files);
        if operands.is_empty() {
            operands.push(b".".to_vec());
        }
        let several = operands.len() > 1;
        let (mut files, mut folders) = (Vec::new(), Vec::new());
        for operand in operands {
            match self.named(operand) {
                Some(file) if file.kind == FileKind::Dir && !self.options.folders_as_files => folders.push(file),
                Some(file) => files.push(file),
                None => {}
            }
        }
        self.options.order.sort(&mut files);
        self.options.order.sort(&mut folders);
        if !files.is_empty() {
            self.format.write(&files, Some(&folders), &mut self.out);
            self.begun = true;
        }
        let headings = several || self.options.recursive || self.code != 0;
        for folder in folders {
            self.folder(folder, headings);
        }
    }

    fn trouble(&mut self, message: &str, code: i32) {
        self.code = self.code.max(code);
        if let Some(dired) = &self.format.dired {
            dired.printed(self.out.len());
        }
        // Flush the list so far first.
        let _ = print(&std::mem::take(&mut self.out));
        print_error("ls", message);
    }

    /// A command line operand. Links are followed unless they are shown as links.
    fn named(&mut self, path: Vec<u8>) -> Option<Listed> {
        let stat = match self.options.follow {
            Follow::Always | Follow::Named => tidebox_rt::stat(&path, true),
            Follow::Folders => match tidebox_rt::stat(&path, true) {
                Ok(stat) if stat.kind() == FileKind::Dir => Ok(stat),
                _ => tidebox_rt::stat(&path, false),
            },
            Follow::Never => tidebox_rt::stat(&path, false),
        };
        match stat {
            Ok(stat) => Some(Listed { name: path.clone(), path, kind: stat.kind(), stat: Some(stat) }),
            Err(error) => {
                self.trouble(&format!("cannot access {}: {}", quote_path(&path), error.text()), MAJOR);
                None
            }
        }
    }

    /// Lists a folder and, if asked, those below it. Without recursion of our own, however deep they are.
    fn folder(&mut self, root: Listed, headings: bool) {
        let mut waiting = vec![(root, None::<Rc<Ancestor>>, MAJOR)];
        while let Some((folder, parent, code)) = waiting.pop() {
            let entries = match tidebox_rt::read_dir(&folder.path) {
                Ok(entries) => entries,
                Err(error) => {
                    self.trouble(
                        &format!("cannot open directory {}: {}", quote_path(&folder.path), error.text()),
                        code,
                    );
                    continue;
                }
            };
            let Some(ancestor) = self.enter(&folder, parent) else {
                continue;
            };
            let mut files: Vec<Listed> = Vec::new();
            if self.options.shows == Shows::All {
                for name in [b".".as_slice(), b".."] {
                    files.extend(self.entry(&folder.path, name.to_vec(), FileKind::Dir));
                }
            }
            for entry in entries {
                if entry.name != b"." && entry.name != b".." && self.is_shown(&entry.name) {
                    files.extend(self.entry(&folder.path, entry.name, entry.kind));
                }
            }
            self.options.order.sort(&mut files);
            if headings {
                if std::mem::replace(&mut self.begun, true) {
                    self.out.push(b'\n');
                }
                self.format.heading(&folder.path, &mut self.out);
                self.out.extend_from_slice(b":\n");
            }
            self.format.write(&files, None, &mut self.out);
            self.begun = true;
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
        let kept_back = self.options.shows == Shows::Visible
            && self.options.hidden.iter().any(|glob| glob::matches(glob, name, Flags::default()));
        !hidden && !kept_back && !self.options.ignore.iter().any(|glob| glob::matches(glob, name, Flags::default()))
    }

    fn entry(&mut self, folder: &[u8], name: Vec<u8>, kind: FileKind) -> Option<Listed> {
        let slash: &[u8] = if folder.ends_with(b"/") { b"" } else { b"/" };
        let path = [folder, slash, &name].concat();
        let follow = self.options.follow == Follow::Always;
        let leads_on = follow && kind == FileKind::Symlink;
        let needs_state = self.format.needs_state(kind) || self.options.order.needs_state();
        if !(needs_state || leads_on) {
            return Some(Listed { name, path, kind, stat: None });
        }
        match tidebox_rt::stat(&path, follow) {
            Ok(stat) => Some(Listed { name, path, kind: stat.kind(), stat: Some(stat) }),
            Err(error) => {
                if needs_state || self.options.recursive || !matches!(error, Errno::NOENT | Errno::LOOP) {
                    let shown = if folder == b"." { &name } else { &path };
                    self.trouble(&format!("cannot access {}: {}", quote_path(shown), error.text()), MINOR);
                }
                Some(Listed { name, path, kind, stat: None })
            }
        }
    }

    /// Records a directory as an ancestor, unless it is one already, which needs links.
    fn enter(&mut self, folder: &Listed, parent: Option<Rc<Ancestor>>) -> Option<Rc<Ancestor>> {
        let id = match tidebox_rt::stat(&folder.path, true) {
            Ok(stat) if self.options.recursive => (stat.dev, stat.ino),
            // Cycles are possible only with recursion.
            _ => (0, 0),
        };
        let mut above = parent.as_ref();
        while let Some(ancestor) = above {
            if ancestor.id == id && id != (0, 0) {
                let name = path_label(&folder.path);
                self.trouble(&format!("{name}: not listing already-listed directory"), MAJOR);
                return None;
            }
            above = ancestor.parent.as_ref();
        }
        Some(Rc::new(Ancestor { id, parent }))
    }
}
