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
use super::dired::Dired;
use super::hyperlink::Hyperlinks;
use super::options::{Follow, Layout, Mark, Options, TimeStyle};
use super::order::Order;
use super::quote::{self, Style};
use crate::common::block_size::{Unit, shown};

/// Half a year, after which a time of day says little.
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
    /// Links are shown as what they lead to.
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
    hyperlinks: Option<Hyperlinks>,
    colors: Option<Rc<Colors>>,
    tab_size: usize,
    /// Names that are not quoted are moved by a column, because others are.
    moves: Cell<bool>,
    width: usize,
    end: u8,
    now: u64,
    pub(super) dired: Option<Dired>,
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
            hyperlinks: options.hyperlinks.then(Hyperlinks::new),
            colors: if options.color { Colors::from_environment().map(Rc::new) } else { None },
            tab_size: options.tab_size,
            moves: Cell::new(false),
            width: options.width,
            end: options.end,
            dired: options.dired.then(Dired::default),
            now: if long { tidebox_rt::realtime_ns() } else { 0 },
        }
    }

    /// Whether more is printed than names and types.
    pub(crate) fn needs_state(&self, kind: FileKind) -> bool {
        self.layout == Layout::Long
            || self.inodes
            || self.blocks
            || self.colors.is_some()
            || self.mark != Mark::Nothing && self.follows
            // Only of files it is asked whether they are programs.
            || self.mark == Mark::Classify && matches!(kind, FileKind::File | FileKind::Unknown)
    }

    /// Writes the list of a folder, or of files that are named `beside` folders, which come later and are in the same columns.
    pub(crate) fn write(&self, files: &[Listed], beside: Option<&[Listed]>, out: &mut Vec<u8>) {
        if beside.is_none() && (self.layout == Layout::Long || self.blocks) {
            let blocks = files.iter().filter_map(|file| file.stat.as_ref()).map(room).fold(0, u64::saturating_add);
            self.indent_line(out);
            out.extend_from_slice(format!("total {}\n", shown(blocks, self.room)).as_bytes());
        }
        let lines_up =
            matches!(self.layout, Layout::Long | Layout::Columns | Layout::Across) && quote::varies(self.style);
        let quotes = |file: &Listed| self.plain_name(&file.name) != file.name;
        self.moves.set(lines_up && files.iter().any(quotes));
        match self.layout {
            Layout::Long => self.long(files, beside.unwrap_or_default(), out),
            Layout::Lines => {
                let widths = self.before_widths(files);
                for file in files {
                    self.before(file, Some(widths), out);
                    self.name(file, out);
                    out.push(self.end);
                }
            }
            Layout::Commas => self.commas(files, out),
            Layout::Columns | Layout::Across => self.columns(files, out),
        }
    }

    /// The name of a folder over its list. A colon in it is quoted, because one follows.
    pub(crate) fn heading(&self, path: &[u8], out: &mut Vec<u8>) {
        let name = quote::heading(path, self.style, self.hides);
        self.indent_line(out);
        if let Some(dired) = &self.dired {
            dired.folder(out.len(), name.len());
        }
        match &self.hyperlinks {
            Some(links) => out.extend(links.around(path, &name)),
            None => out.extend(name),
        }
    }

    /// Lines of `--dired` are moved to the right.
    fn indent_line(&self, out: &mut Vec<u8>) {
        if self.dired.is_some() {
            out.extend_from_slice(b"  ");
        }
    }

    /// Inode number and blocks, as far as they are asked for.
    fn before(&self, file: &Listed, widths: Option<(usize, usize)>, out: &mut Vec<u8>) {
        let (inode, blocks) = self.before_cells(file);
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

    fn before_cells(&self, file: &Listed) -> (String, String) {
        match &file.stat {
            Some(stat) => (stat.ino.to_string(), shown(room(stat), self.room)),
            None => ("?".to_owned(), "?".to_owned()),
        }
    }

    fn name(&self, file: &Listed, out: &mut Vec<u8>) {
        self.name_in(self.colors.as_deref(), true, file, out);
    }

    fn name_in(&self, colors: Option<&Colors>, shows: bool, file: &Listed, out: &mut Vec<u8>) {
        let name = self.plain_name(&file.name);
        if self.moves.get() && name == file.name {
            out.push(b' ');
        }
        let written = colors.map_or_else(|| name.clone(), |colors| colors.paint(file, &name));
        if let Some(dired) = &self.dired {
            // Colours stand around the name.
            let before = written.windows(name.len().max(1)).position(|part| part == name).unwrap_or(0);
            dired.name(out.len() + before, name.len());
        }
        match &self.hyperlinks {
            Some(links) if shows => out.extend(links.around(&file.path, &written)),
            _ => out.extend(written),
        }
        // A long list tells of what a link leads to instead.
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
            self.indent_line(out);
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

    /// Which cells of a row are names and modes: those around the number of links, up to the size.
    fn left_aligned(&self) -> Vec<usize> {
        let mode = usize::from(self.inodes) + usize::from(self.blocks);
        let names = [self.owner, self.group, self.author, self.contexts].into_iter().filter(|shown| *shown).count();
        std::iter::once(mode).chain(mode + 2..mode + 2 + names).collect()
    }

    fn row(&self, file: &Listed) -> Row {
        let mut row = Vec::new();
        let (inode, blocks) = self.before_cells(file);
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
            unit => shown(stat.size, unit),
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
            // Nothing here knows when a file was made.
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
                let led = Listed { name: target.clone(), kind: stat.kind(), stat: Some(stat), ..file.clone() };
                colors.paint(&led, &name)
            }
            _ => name,
        };
        match &self.hyperlinks {
            Some(links) => out.extend(links.around(&file.path, &written)),
            None => out.extend(written),
        }
        if self.mark != Mark::Nothing
            && let Ok(stat) = tidebox_rt::stat(&file.path, true)
        {
            out.extend(self.sign(stat.kind(), Some(&stat)));
        }
    }

    /// How wide inode numbers and blocks are.
    fn before_widths(&self, files: &[Listed]) -> (usize, usize) {
        if !(self.inodes || self.blocks) {
            return (0, 0);
        }
        let before = files.iter().map(|file| self.before_cells(file));
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

/// The bits of a mode that tell what a file is.
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
