//! List formatting.

mod columns;

use std::cell::Cell;
use std::rc::Rc;

use tidebox_gnu::mode::letters;
use tidebox_gnu::strftime;
use tidebox_gnu::user::{Kind, Names};
use tidebox_gnu::zone::Zone;
use tidebox_rt::{FileKind, Stat};

use super::Listed;
use super::color::Colors;
use super::options::{Follow, Layout, Mark, Options, TimeStyle};
use super::order::Order;
use super::quote::{self, Style};
use crate::common::block_size::{Unit, format_size};

/// Half a year. Older files are listed with the year instead of the time of day.
const RECENT_NS: u64 = 31_556_952 / 2 * 1_000_000_000;

/// Block size in bytes; file sizes are rounded up to it.
const BLOCK: u64 = 4096;

/// List formatting.
pub(crate) struct Format {
    layout: Layout,
    mark: Mark,
    order: Order,
    time_style: TimeStyle,
    zone: Zone,
    inodes: bool,
    blocks: bool,
    /// Links are listed as their targets.
    follows: bool,
    size: Unit,
    room: Unit,
    owner: bool,
    group: bool,
    names: Option<(Names, Names)>,
    style: Style,
    hides: bool,
    author: bool,
    contexts: bool,
    colors: Option<Rc<Colors>>,
    tab_size: usize,
    /// Unquoted names are indented by one column, because other names are quoted.
    indents_names: Cell<bool>,
    width: usize,
    end: u8,
    now: u64,
}

/// Cells of one line; the last one is the name.
type Row = Vec<String>;

impl Format {
    pub(crate) fn new(options: &Options) -> Self {
        let long = options.layout == Layout::Long;
        Self {
            layout: options.layout,
            mark: options.mark,
            order: options.order,
            time_style: options.times.clone(),
            zone: if long { Zone::of_environment() } else { Zone::utc() },
            inodes: options.inodes,
            blocks: options.blocks,
            follows: options.follow == Follow::Always,
            size: options.sizes,
            room: options.block_sizes,
            owner: options.owner,
            group: options.group,
            names: (long && !options.numeric).then(|| (Names::load(Kind::User), Names::load(Kind::Group))),
            style: options.style,
            hides: options.hides,
            author: options.author,
            contexts: options.contexts,
            colors: if options.color { Colors::from_environment().map(Rc::new) } else { None },
            tab_size: options.tab_size,
            indents_names: Cell::new(false),
            width: options.width,
            end: options.end,
            now: if long { tidebox_rt::realtime_ns() } else { 0 },
        }
    }

    /// Returns whether the list needs more than names and types.
    pub(crate) fn needs_state(&self, kind: FileKind) -> bool {
        self.layout == Layout::Long
            || self.inodes
            || self.blocks
            || self.colors.is_some()
            || self.mark != Mark::Nothing && self.follows
            // Only regular files can be marked as executable.
            || self.mark == Mark::Classify && matches!(kind, FileKind::File | FileKind::Unknown)
    }

    /// Writes the list of a directory, or of operands. `beside` are operands that are directories. They are listed later, but
    /// count for the widths of the columns.
    pub(crate) fn write(&self, files: &[Listed], beside: Option<&[Listed]>, out: &mut Vec<u8>) {
        if beside.is_none() && (self.layout == Layout::Long || self.blocks) {
            let blocks = files.iter().filter_map(|file| file.stat.as_ref()).map(room).fold(0, u64::saturating_add);
            out.extend_from_slice(format!("total {}\n", format_size(blocks, self.room)).as_bytes());
        }
        let lines_up =
            matches!(self.layout, Layout::Long | Layout::Columns | Layout::Across) && quote::varies(self.style);
        let quotes = |file: &Listed| self.plain_name(&file.name) != file.name;
        self.indents_names.set(lines_up && files.iter().any(quotes));
        match self.layout {
            Layout::Long => self.long(files, beside.unwrap_or_default(), out),
            Layout::Lines => {
                let widths = self.prefix_widths(files);
                for file in files {
                    self.prefix(file, Some(widths), out);
                    self.name(file, out);
                    out.push(self.end);
                }
            }
            Layout::Commas => self.commas(files, out),
            Layout::Columns | Layout::Across => self.columns(files, out),
        }
    }

    /// Writes the heading of a directory. A colon in the name is quoted, because one follows.
    pub(crate) fn heading(&self, path: &[u8], out: &mut Vec<u8>) {
        out.extend(quote::heading(path, self.style, self.hides));
    }

    /// Writes inode number, blocks and security context if they are selected.
    fn prefix(&self, file: &Listed, widths: Option<(usize, usize)>, out: &mut Vec<u8>) {
        let (inode, blocks) = self.prefix_cells(file);
        let (inode_width, blocks_width) = widths.unwrap_or_default();
        if self.inodes {
            out.extend_from_slice(format!("{inode:>inode_width$} ").as_bytes());
        }
        if self.blocks {
            out.extend_from_slice(format!("{blocks:>blocks_width$} ").as_bytes());
        }
        if self.contexts {
            out.extend_from_slice(b"? ");
        }
    }

    fn prefix_cells(&self, file: &Listed) -> (String, String) {
        match &file.stat {
            Some(stat) => (stat.ino.to_string(), format_size(room(stat), self.room)),
            None => ("?".to_owned(), "?".to_owned()),
        }
    }

    fn name(&self, file: &Listed, out: &mut Vec<u8>) {
        self.name_in(self.colors.as_deref(), file, out);
    }

    fn name_in(&self, colors: Option<&Colors>, file: &Listed, out: &mut Vec<u8>) {
        let name = self.plain_name(&file.name);
        if self.indents_names.get() && name == file.name {
            out.push(b' ');
        }
        out.extend(colors.map_or_else(|| name.clone(), |colors| colors.paint(file, &name)));
        // In a long list the mark follows the target of the link.
        if !(self.layout == Layout::Long && file.kind == FileKind::Symlink) {
            out.extend(self.sign(file.kind, file.stat.as_ref()));
        }
    }

    fn plain_name(&self, name: &[u8]) -> Vec<u8> {
        quote::written(name, self.style, self.hides)
    }

    fn sign(&self, kind: FileKind, stat: Option<&Stat>) -> Option<u8> {
        let runs = stat.is_some_and(|stat| stat.mode & 0o111 != 0);
        match (self.mark, kind) {
            (Mark::Slash | Mark::FileType | Mark::Classify, FileKind::Dir) => Some(b'/'),
            (Mark::FileType | Mark::Classify, FileKind::Symlink) => Some(b'@'),
            (Mark::FileType | Mark::Classify, FileKind::Pipe) => Some(b'|'),
            (Mark::FileType | Mark::Classify, FileKind::Socket) => Some(b'='),
            (Mark::Classify, FileKind::File) if runs => Some(b'*'),
            _ => None,
        }
    }

    fn long(&self, files: &[Listed], beside: &[Listed], out: &mut Vec<u8>) {
        let rows: Vec<Row> = files.iter().chain(beside).map(|file| self.row(file)).collect();
        let widths = widths(&rows);
        for (file, row) in files.iter().zip(&rows) {
            let left = self.left_aligned();
            for (at, (cell, width)) in row.iter().zip(&widths).enumerate() {
                let missing = width.saturating_sub(cell.chars().count());
                let fill = " ".repeat(missing);
                let cell = if left.contains(&at) { format!("{cell}{fill} ") } else { format!("{fill}{cell} ") };
                out.extend_from_slice(cell.as_bytes());
            }
            self.name(file, out);
            if file.kind == FileKind::Symlink && file.stat.is_some() {
                self.target(file, out);
            }
            out.push(self.end);
        }
    }

    /// Returns the indices of the cells that are aligned to the left: the mode, and the names between links and size.
    fn left_aligned(&self) -> Vec<usize> {
        let mode = usize::from(self.inodes) + usize::from(self.blocks);
        let names = [self.owner, self.group, self.author, self.contexts].into_iter().filter(|shown| *shown).count();
        std::iter::once(mode).chain(mode + 2..mode + 2 + names).collect()
    }

    fn row(&self, file: &Listed) -> Row {
        let mut row = Vec::new();
        let (inode, blocks) = self.prefix_cells(file);
        row.extend(self.inodes.then_some(inode));
        row.extend(self.blocks.then_some(blocks));
        let Some(stat) = &file.stat else {
            let unknown = || "?".to_owned();
            row.push(letters(format_bits(file.kind)).chars().take(1).chain("?????????".chars()).collect());
            row.push(unknown());
            row.extend(
                [self.owner, self.group, self.author, self.contexts].iter().filter(|shown| **shown).map(|_| unknown()),
            );
            row.extend([unknown(), format!("{:>1$}", "?", self.time(0).chars().count())]);
            return row;
        };
        row.push(letters(stat.mode));
        row.push(stat.nlink.to_string());
        let name = |id: u32, users: bool| match &self.names {
            Some((known, _)) if users => known.name_or_id(id),
            Some((_, known)) => known.name_or_id(id),
            None => id.to_string(),
        };
        row.extend(self.owner.then(|| name(stat.uid, true)));
        row.extend(self.group.then(|| name(stat.gid, false)));
        row.extend(self.author.then(|| name(stat.uid, true)));
        row.extend(self.contexts.then(|| "?".to_owned()));
        row.push(match self.size {
            Unit::Bytes(1) => stat.size.to_string(),
            unit => format_size(stat.size, unit),
        });
        row.push(self.time(self.order.time(stat)));
        row
    }

    fn time(&self, ns: u64) -> String {
        let recent = ns <= self.now && self.now - ns < RECENT_NS;
        let format = match &self.time_style {
            TimeStyle::Locale if recent => "%b %e %H:%M",
            TimeStyle::Locale => "%b %e  %Y",
            TimeStyle::LongIso => "%Y-%m-%d %H:%M",
            TimeStyle::Iso if recent => "%m-%d %H:%M",
            TimeStyle::Iso => "%Y-%m-%d ",
            TimeStyle::FullIso => "%Y-%m-%d %H:%M:%S.%N %z",
            TimeStyle::Format(format) => match format.split_once('\n') {
                Some((_, format)) if recent => format,
                Some((format, _)) => format,
                None => format,
            },
        };
        if self.order.stamp == 'b' {
            // The kernel does not record the creation time.
            return "?".to_owned();
        }
        let seconds = i64::try_from(ns / 1_000_000_000).unwrap_or(i64::MAX);
        let instant = (seconds, u32::try_from(ns % 1_000_000_000).unwrap_or(0));
        String::from_utf8_lossy(&strftime::format(format.as_bytes(), instant, &self.zone)).into_owned()
    }

    fn target(&self, file: &Listed, out: &mut Vec<u8>) {
        let target = tidebox_rt::read_link(&file.path).unwrap_or_default();
        out.extend_from_slice(b" -> ");
        let name = self.plain_name(&target);
        let written = match (&self.colors, tidebox_rt::stat(&file.path, true)) {
            (Some(colors), Ok(stat)) => {
                let target = Listed { name: target.clone(), kind: stat.kind(), stat: Some(stat), ..file.clone() };
                colors.paint(&target, &name)
            }
            _ => name,
        };
        out.extend(written);
        if self.mark != Mark::Nothing
            && let Ok(stat) = tidebox_rt::stat(&file.path, true)
        {
            out.extend(self.sign(stat.kind(), Some(&stat)));
        }
    }

    /// Returns the widths of inode numbers and blocks.
    fn prefix_widths(&self, files: &[Listed]) -> (usize, usize) {
        if !(self.inodes || self.blocks) {
            return (0, 0);
        }
        let before = files.iter().map(|file| self.prefix_cells(file));
        before.fold((0, 0), |widest: (usize, usize), (inode, blocks)| {
            (widest.0.max(inode.len()), widest.1.max(blocks.len()))
        })
    }
}

fn widths(rows: &[Row]) -> Vec<usize> {
    let mut widths: Vec<usize> = Vec::new();
    for row in rows {
        for (at, cell) in row.iter().enumerate() {
            let width = cell.chars().count();
            match widths.get_mut(at) {
                Some(widest) => *widest = (*widest).max(width),
                None => widths.push(width),
            }
        }
    }
    widths
}

fn room(stat: &Stat) -> u64 {
    if stat.kind() == FileKind::Symlink { 0 } else { stat.size.div_ceil(BLOCK).saturating_mul(BLOCK) }
}

/// Returns the bits of a mode that contain the file type.
fn format_bits(kind: FileKind) -> u32 {
    match kind {
        FileKind::Dir => 0o040_000,
        FileKind::Symlink => 0o120_000,
        FileKind::CharDevice => 0o020_000,
        FileKind::BlockDevice => 0o060_000,
        FileKind::Pipe => 0o010_000,
        FileKind::Socket => 0o140_000,
        FileKind::File | FileKind::Unknown => 0o100_000,
    }
}
