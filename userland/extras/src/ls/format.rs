//! How a list is printed.

use std::cell::Cell;
use std::rc::Rc;

use tidebox_gnu::calendar::Moment;
use tidebox_gnu::mode::letters;
use tidebox_gnu::user::{Kind, Names};
use tidebox_rt::{FileKind, Stat};

use super::Listed;
use super::color::Colors;
use super::options::{Layout, Mark, Options, TimeStyle};
use super::order::Order;
use super::quote::{self, Style};
use crate::du::{Unit, shown};

/// Half a year, after which a time of day says little.
const RECENT_NS: u64 = 31_556_952 / 2 * 1_000_000_000;

/// What files are rounded up to.
const BLOCK: u64 = 4096;

/// Columns that are tried. Every one costs a look at all names, and nobody reads more.
const MOST_COLUMNS: usize = 500;

/// How a list is printed.
pub(crate) struct Format {
    layout: Layout,
    mark: Mark,
    order: Order,
    time_style: TimeStyle,
    inodes: bool,
    blocks: bool,
    size: Unit,
    room: Unit,
    owner: bool,
    group: bool,
    names: Option<(Names, Names)>,
    style: Style,
    hides: bool,
    author: bool,
    colors: Option<Rc<Colors>>,
    tab_size: usize,
    /// Names that are not quoted are moved by a column, because others are.
    moves: Cell<bool>,
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
            time_style: options.time_style.clone(),
            inodes: options.inodes,
            blocks: options.blocks,
            size: options.sizes,
            room: options.block_sizes,
            owner: options.owner,
            group: options.group,
            names: (long && !options.numeric).then(|| (Names::load(Kind::User), Names::load(Kind::Group))),
            style: options.style,
            hides: options.hides,
            author: options.author,
            colors: if options.color { Colors::from_environment().map(Rc::new) } else { None },
            tab_size: options.tab_size,
            moves: Cell::new(false),
            width: options.width,
            end: options.end,
            now: if long { tidebox_rt::realtime_ns() } else { 0 },
        }
    }

    /// Whether more is printed than names and types.
    pub(crate) fn needs_state(&self) -> bool {
        self.layout == Layout::Long
            || self.inodes
            || self.blocks
            || self.colors.is_some()
            || self.mark == Mark::Classify
    }

    pub(crate) fn write(&self, files: &[Listed], folder: bool, out: &mut Vec<u8>) {
        if folder && (self.layout == Layout::Long || self.blocks) {
            let blocks = files.iter().filter_map(|file| file.stat.as_ref()).map(room).fold(0, u64::saturating_add);
            out.extend_from_slice(format!("total {}\n", shown(blocks, self.room)).as_bytes());
        }
        let lines_up =
            matches!(self.layout, Layout::Long | Layout::Columns | Layout::Across) && quote::varies(self.style);
        let quotes = |file: &Listed| self.plain_name(&file.name) != file.name;
        self.moves.set(lines_up && files.iter().any(quotes));
        match self.layout {
            Layout::Long => self.long(files, out),
            Layout::Lines => {
                for file in files {
                    self.before(file, None, out);
                    self.name(file, out);
                    out.push(self.end);
                }
            }
            Layout::Commas => self.commas(files, out),
            Layout::Columns | Layout::Across => self.columns(files, out),
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
    }

    fn before_cells(&self, file: &Listed) -> (String, String) {
        match &file.stat {
            Some(stat) => (stat.ino.to_string(), shown(room(stat), self.room)),
            None => ("?".to_owned(), "?".to_owned()),
        }
    }

    fn name(&self, file: &Listed, out: &mut Vec<u8>) {
        self.name_in(self.colors.as_deref(), file, out);
    }

    fn name_in(&self, colors: Option<&Colors>, file: &Listed, out: &mut Vec<u8>) {
        let name = self.plain_name(&file.name);
        if self.moves.get() && name == file.name {
            out.push(b' ');
        }
        match colors {
            Some(colors) => out.extend(colors.paint(file, &name)),
            None => out.extend(name),
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

    fn long(&self, files: &[Listed], out: &mut Vec<u8>) {
        let rows: Vec<Row> = files.iter().map(|file| self.row(file)).collect();
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
            if file.kind == FileKind::Symlink {
                self.target(file, out);
            }
            out.push(self.end);
        }
    }

    /// Which cells of a row are names and modes.
    fn left_aligned(&self) -> Vec<usize> {
        let first = usize::from(self.inodes) + usize::from(self.blocks);
        // The mode, then the number of links, then owner and group.
        vec![first, first + 2, first + 1 + usize::from(self.owner) + usize::from(self.group)]
            .into_iter()
            .filter(|at| *at != first + 1)
            .collect()
    }

    fn row(&self, file: &Listed) -> Row {
        let mut row = Vec::new();
        let (inode, blocks) = self.before_cells(file);
        row.extend(self.inodes.then_some(inode));
        row.extend(self.blocks.then_some(blocks));
        let Some(stat) = &file.stat else {
            row.extend(["??????????", "?", "?", "?", "?", "?"].map(str::to_owned));
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
        row.push(match self.size {
            Unit::Bytes(1) => stat.size.to_string(),
            unit => shown(stat.size, unit),
        });
        row.push(self.time(self.order.time(stat)));
        row
    }

    fn time(&self, ns: u64) -> String {
        let moment = Moment::from_ns(ns);
        let field = |letter| moment.field(letter).unwrap_or_default();
        let recent = ns <= self.now && self.now - ns < RECENT_NS;
        match &self.time_style {
            TimeStyle::Locale if recent => format!("{} {} {}", field('b'), field('e'), field('R')),
            TimeStyle::Locale => format!("{} {}  {}", field('b'), field('e'), moment.year),
            TimeStyle::LongIso => format!("{} {}", field('F'), field('R')),
            TimeStyle::Iso if recent => format!("{}-{} {}", field('m'), field('d'), field('R')),
            TimeStyle::Iso => format!("{} ", field('F')),
            TimeStyle::FullIso => format!("{} {}.{:09} +0000", field('F'), field('T'), moment.nanoseconds),
            TimeStyle::Format(format) => formatted(format, &moment),
        }
    }

    fn target(&self, file: &Listed, out: &mut Vec<u8>) {
        let target = tidebox_rt::read_link(&file.path).unwrap_or_default();
        out.extend_from_slice(b" -> ");
        let name = self.plain_name(&target);
        match (&self.colors, tidebox_rt::stat(&file.path, true)) {
            (Some(colors), Ok(stat)) => {
                let led = Listed { name: target.clone(), kind: stat.kind(), stat: Some(stat), ..file.clone() };
                out.extend(colors.paint(&led, &name));
            }
            _ => out.extend(name),
        }
        if self.mark != Mark::Nothing
            && let Ok(stat) = tidebox_rt::stat(&file.path, true)
        {
            out.extend(self.sign(stat.kind(), Some(&stat)));
        }
    }

    /// The text of every file and how wide it is on a screen.
    fn cells(&self, files: &[Listed]) -> Vec<(Vec<u8>, usize)> {
        let before = files.iter().map(|file| self.before_cells(file));
        let widths = before.fold((0, 0), |widest: (usize, usize), (inode, blocks)| {
            (widest.0.max(inode.len()), widest.1.max(blocks.len()))
        });
        files
            .iter()
            .map(|file| {
                let (mut text, mut plain) = (Vec::new(), Vec::new());
                self.before(file, Some(widths), &mut text);
                plain.extend_from_slice(&text);
                self.name(file, &mut text);
                self.name_in(None, file, &mut plain);
                let width = String::from_utf8_lossy(&plain).chars().count();
                (text, width)
            })
            .collect()
    }

    /// Blanks from one column to another, tabs where they reach a stop.
    fn indent(&self, from: usize, to: usize, out: &mut Vec<u8>) {
        let tab = self.tab_size;
        let mut at = from;
        while at < to {
            if tab != 0 && to / tab > (at + 1) / tab {
                out.push(b'\t');
                at += tab - at % tab;
            } else {
                out.push(b' ');
                at += 1;
            }
        }
    }

    fn commas(&self, files: &[Listed], out: &mut Vec<u8>) {
        let mut column = 0;
        let cells = self.cells(files);
        for (at, (text, width)) in cells.iter().enumerate() {
            let last = at + 1 == cells.len();
            if at > 0 {
                let breaks = column + 1 + width + usize::from(!last) > self.width;
                out.push(if breaks { b'\n' } else { b' ' });
                column = if breaks { 0 } else { column + 1 };
            }
            out.extend_from_slice(text);
            if !last {
                out.push(b',');
            }
            column += width + 1;
        }
        if !cells.is_empty() {
            out.push(b'\n');
        }
    }

    fn columns(&self, files: &[Listed], out: &mut Vec<u8>) {
        let cells = self.cells(files);
        let count = cells.len();
        if count == 0 {
            return;
        }
        let across = self.layout == Layout::Across;
        let mut best = (count, vec![cells.iter().map(|(_, width)| *width).max().unwrap_or(0)]);
        // More columns than three characters each never fit.
        for columns in 2..=count.min(self.width / 3 + 1).min(MOST_COLUMNS) {
            let rows = count.div_ceil(columns);
            let used = if across { columns } else { count.div_ceil(rows) };
            let mut widths = vec![0usize; used];
            for (at, (_, width)) in cells.iter().enumerate() {
                let column = if across { at % used } else { at / rows };
                if let Some(widest) = widths.get_mut(column) {
                    *widest = (*widest).max(*width);
                }
            }
            let total: usize = widths.iter().sum::<usize>() + 2 * (used - 1);
            if total <= self.width.saturating_sub(1) {
                best = (rows, widths);
            }
        }
        let (rows, widths) = best;
        for row in 0..rows {
            let (mut column_at, mut next) = (0, 0);
            for (column, widest) in widths.iter().enumerate() {
                let at = if across { row * widths.len() + column } else { column * rows + row };
                let Some((text, width)) = cells.get(at) else {
                    continue;
                };
                self.indent(column_at, next, out);
                out.extend_from_slice(text);
                (column_at, next) = (next + width, next + widest + 2);
            }
            out.push(b'\n');
        }
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

fn formatted(format: &str, moment: &Moment) -> String {
    let mut out = String::new();
    let mut chars = format.chars();
    while let Some(char) = chars.next() {
        match (char, if char == '%' { chars.next() } else { None }) {
            ('%', Some('N')) => out.push_str(&format!("{:09}", moment.nanoseconds)),
            ('%', Some(letter)) => match moment.field(letter) {
                Some(field) => out.push_str(&field),
                None => out.extend(['%', letter]),
            },
            (char, _) => out.push(char),
        }
    }
    out
}
