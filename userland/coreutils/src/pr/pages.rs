//! Lines of a page, as they are read.

use tidebox_gnu::stream::Input;
use tidebox_rt::{Errno, Stat};

/// A file that is read.
#[derive(Debug)]
pub(super) struct Source {
    input: Input,
    /// A form feed directly after a full page makes no page of its own.
    after_full: bool,
}

/// What a file has next.
enum Item {
    Line(Vec<u8>),
    /// A line that a form feed ends, or a form feed alone.
    Last(Option<Vec<u8>>),
    End,
}

impl Source {
    pub(super) fn open(name: &[u8]) -> Result<Self, Errno> {
        let input = Input::open(name)?;
        match tidebox_rt::fstat(input.fd()) {
            Ok(stat) if stat.kind() == tidebox_rt::FileKind::Dir => Err(Errno::ISDIR),
            _ => Ok(Self { input, after_full: false }),
        }
    }

    pub(super) fn stat(&self) -> Option<Stat> {
        tidebox_rt::fstat(self.input.fd()).ok()
    }

    fn next(&mut self) -> Result<Item, Errno> {
        let mut line = Vec::new();
        loop {
            let piece = self.input.chunk()?;
            if piece.is_empty() {
                return Ok(if line.is_empty() { Item::End } else { Item::Line(line) });
            }
            match memchr::memchr2(b'\n', b'\x0c', piece) {
                None => {
                    line.extend_from_slice(piece);
                    let count = piece.len();
                    self.input.consume(count);
                }
                Some(at) => {
                    let end = piece.get(at).copied();
                    line.extend_from_slice(piece.get(..at).unwrap_or_default());
                    self.input.consume(at + 1);
                    if end == Some(b'\n') {
                        return Ok(Item::Line(line));
                    }
                    // A line end after a form feed belongs to it.
                    if self.input.chunk()?.first() == Some(&b'\n') {
                        self.input.consume(1);
                    }
                    return Ok(Item::Last((!line.is_empty()).then_some(line)));
                }
            }
        }
    }

    /// Up to `count` lines; whether a form feed ended them, and whether there was anything at all.
    fn lines(&mut self, count: usize) -> Result<(Vec<Vec<u8>>, bool, bool), Errno> {
        let mut lines = Vec::new();
        let after_full = std::mem::take(&mut self.after_full);
        while lines.len() < count {
            match self.next()? {
                Item::Line(line) => lines.push(line),
                Item::Last(None) if after_full && lines.is_empty() => {}
                Item::Last(line) => {
                    lines.extend(line);
                    return Ok((lines, true, true));
                }
                Item::End => {
                    let some = !lines.is_empty();
                    return Ok((lines, false, some));
                }
            }
        }
        self.after_full = true;
        Ok((lines, false, true))
    }
}

/// The lines of a page, column by column.
#[derive(Debug, Default)]
pub(super) struct Page {
    columns: Vec<Vec<Vec<u8>>>,
    /// A form feed ended it.
    pub(super) fed: bool,
}

impl Page {
    /// Columns that are read down, and made equally long on a page that is not full.
    pub(super) fn down(source: &mut Source, columns: usize, rows: usize) -> Result<Option<Self>, Errno> {
        let (lines, fed, some) = source.lines(columns.saturating_mul(rows))?;
        if !some {
            return Ok(None);
        }
        let (each, more) = (lines.len() / columns.max(1), lines.len() % columns.max(1));
        let mut lines = lines.into_iter();
        let columns = (0..columns).map(|at| lines.by_ref().take(each + usize::from(at < more)).collect()).collect();
        Ok(Some(Self { columns, fed }))
    }

    /// Columns that are read across.
    pub(super) fn across(source: &mut Source, columns: usize, rows: usize) -> Result<Option<Self>, Errno> {
        let (lines, fed, some) = source.lines(columns.saturating_mul(rows))?;
        if !some {
            return Ok(None);
        }
        let mut table = vec![Vec::new(); columns];
        for (at, line) in lines.into_iter().enumerate() {
            if let Some(column) = table.get_mut(at % columns.max(1)) {
                column.push(line);
            }
        }
        Ok(Some(Self { columns: table, fed }))
    }

    /// A file in each column.
    pub(super) fn beside(sources: &mut [Source], rows: usize) -> Result<Option<Self>, Errno> {
        let mut page = Self::default();
        let mut any = false;
        for source in sources {
            let (lines, fed, some) = source.lines(rows)?;
            page.columns.push(lines);
            page.fed |= fed;
            any |= some;
        }
        Ok(any.then_some(page))
    }

    pub(super) fn rows(&self) -> usize {
        self.columns.iter().map(Vec::len).max().unwrap_or(0)
    }

    pub(super) fn lines(&self) -> usize {
        self.columns.iter().map(Vec::len).sum()
    }

    /// How many lines a column has.
    pub(super) fn column(&self, at: usize) -> usize {
        self.columns.get(at).map_or(0, Vec::len)
    }

    pub(super) fn line(&self, column: usize, row: usize) -> Option<&[u8]> {
        self.columns.get(column)?.get(row).map(Vec::as_slice)
    }
}
