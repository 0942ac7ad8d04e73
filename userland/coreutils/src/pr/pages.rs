//! Lines of a page.

use tidebox_gnu::stream::Input;
use tidebox_rt::{Errno, FileKind, Stat};

use super::settings::{Layout, Settings};

/// An input file.
#[derive(Debug)]
pub(super) struct Source {
    input: Input,
    /// The last page was full. A form feed directly after it does not make another page.
    after_full: bool,
}

/// Lines of a page, and whether a form feed ended it.
type Lines = (Vec<Vec<u8>>, bool);

/// Next part of a file.
enum Item {
    Line(Vec<u8>),
    /// A form feed, with the line before it if that is not empty.
    FormFeed(Option<Vec<u8>>),
    End,
}

impl Source {
    pub(super) fn open(name: &[u8]) -> Result<Self, Errno> {
        let input = Input::open(name)?;
        match tidebox_rt::fstat(input.fd()) {
            Ok(stat) if stat.kind() == FileKind::Dir => Err(Errno::ISDIR),
            _ => Ok(Self { input, after_full: false }),
        }
    }

    pub(super) fn stat(&self) -> Option<Stat> {
        tidebox_rt::fstat(self.input.fd()).ok()
    }

    fn next(&mut self) -> Result<Item, Errno> {
        let mut line = Vec::new();
        loop {
            let chunk = self.input.chunk()?;
            if chunk.is_empty() {
                return Ok(if line.is_empty() { Item::End } else { Item::Line(line) });
            }
            let found = memchr::memchr2(b'\n', b'\x0c', chunk);
            let count = found.unwrap_or(chunk.len());
            let end = found.and_then(|at| chunk.get(at)).copied();
            line.extend_from_slice(chunk.get(..count).unwrap_or_default());
            self.input.consume(count + usize::from(found.is_some()));
            match end {
                None => {}
                Some(b'\n') => return Ok(Item::Line(line)),
                Some(_) => {
                    // A line end directly after a form feed belongs to it.
                    if self.input.chunk()?.first() == Some(&b'\n') {
                        self.input.consume(1);
                    }
                    return Ok(Item::FormFeed((!line.is_empty()).then_some(line)));
                }
            }
        }
    }

    /// Reads up to `count` lines. Returns `None` at the end of the file.
    fn lines(&mut self, count: usize) -> Result<Option<Lines>, Errno> {
        let mut lines = Vec::new();
        let after_full = std::mem::take(&mut self.after_full);
        while lines.len() < count {
            match self.next()? {
                Item::Line(line) => lines.push(line),
                Item::FormFeed(None) if after_full && lines.is_empty() => {}
                Item::FormFeed(line) => {
                    lines.extend(line);
                    return Ok(Some((lines, true)));
                }
                Item::End => return Ok((!lines.is_empty()).then_some((lines, false))),
            }
        }
        self.after_full = true;
        Ok(Some((lines, false)))
    }
}

/// A line with its index in the page.
type Line = (usize, Vec<u8>);

/// The lines of a page, column by column.
#[derive(Debug, Default)]
pub(super) struct Page {
    columns: Vec<Vec<Line>>,
    /// A form feed of the input ended the page.
    pub(super) form_feed: bool,
}

impl Page {
    /// Reads the next page: a column of every file, or columns of one file. Returns `None` at the end.
    pub(super) fn read(sources: &mut [Source], settings: &Settings, layout: &Layout) -> Result<Option<Self>, Errno> {
        let mut page = Self { columns: vec![Vec::new(); layout.columns], form_feed: false };
        let columns = if settings.parallel { 1 } else { layout.columns };
        let mut any = false;
        for (at, source) in sources.iter_mut().enumerate() {
            let Some((lines, form_feed)) = source.lines(columns.saturating_mul(layout.rows))? else {
                continue;
            };
            any = true;
            page.form_feed |= form_feed;
            // The columns of a page that is not full differ by at most one line.
            let (each, longer) = (lines.len() / columns, lines.len() % columns);
            for (index, line) in lines.into_iter().enumerate() {
                let column = match index.checked_sub(longer * (each + 1)) {
                    _ if settings.parallel => at,
                    _ if settings.across => index % columns,
                    None => index / (each + 1),
                    Some(after) => longer + after / each.max(1),
                };
                if let Some(column) = page.columns.get_mut(column) {
                    column.push((index, line));
                }
            }
        }
        Ok(any.then_some(page))
    }

    pub(super) fn rows(&self) -> usize {
        self.columns.iter().map(Vec::len).max().unwrap_or(0)
    }

    pub(super) fn lines(&self) -> usize {
        self.columns.iter().map(Vec::len).sum()
    }

    pub(super) fn line(&self, column: usize, row: usize) -> Option<&Line> {
        self.columns.get(column)?.get(row)
    }
}
