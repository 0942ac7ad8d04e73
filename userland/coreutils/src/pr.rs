//! `pr`: formats text in pages and columns.

mod pages;
mod row;
mod settings;

use tidebox_gnu::message::{path_label, print_error};
use tidebox_gnu::strftime;
use tidebox_gnu::zone::Zone;
use tidebox_rt::{Errno, FileKind};

use crate::cat::write;
use crate::common::Failure;
use pages::{Page, Source};
use row::Row;
use settings::{Layout, Settings};

/// Runs `pr`.
pub fn main(arguments: Vec<Vec<u8>>) -> Result<i32, Failure> {
    let (settings, mut files) = settings::read(arguments)?;
    if files.is_empty() {
        files.push(b"-".to_vec());
    }
    let groups: Vec<&[Vec<u8>]> = if settings.parallel { vec![&files] } else { files.chunks(1).collect() };
    let mut code = 0;
    for group in groups {
        let mut sources = Vec::new();
        for name in group {
            match Source::open(name) {
                Ok(source) => sources.push(source),
                Err(errno) => code = report_error(name, errno),
            }
        }
        let (Some(name), Some(source)) = (group.first(), sources.first()) else {
            continue;
        };
        let layout = Layout::new(&settings, sources.len())?;
        let heading = Heading::new(&settings, name, source);
        let mut printer = Printer { settings: &settings, layout, heading, number: 1, out: Vec::new() };
        if let Err(errno) = printer.print(&mut sources)? {
            code = report_error(name, errno);
        }
    }
    Ok(code)
}

fn report_error(name: &[u8], errno: Errno) -> i32 {
    print_error("pr", &format!("{}: {}", path_label(name), errno.text()));
    1
}

/// Page header.
struct Heading {
    date: Vec<u8>,
    text: Vec<u8>,
}

impl Heading {
    /// Takes date and name of the file. Several files, pipes and standard input have the current time.
    fn new(settings: &Settings, name: &[u8], source: &Source) -> Self {
        let is_named = name != b"-" && !settings.parallel;
        let stat = source.stat().filter(|stat| is_named && stat.kind() == FileKind::File);
        let time = stat.map_or_else(tidebox_rt::realtime_ns, |stat| stat.mtime_ns);
        let seconds = i64::try_from(time / 1_000_000_000).unwrap_or(i64::MAX);
        let date = strftime::format(b"%Y-%m-%d %H:%M", (seconds, (time % 1_000_000_000) as u32), Zone::local());
        let text = settings.header.clone().unwrap_or_else(|| if is_named { name.to_vec() } else { Vec::new() });
        Self { date, text }
    }

    fn push(&self, settings: &Settings, page: u64, out: &mut Vec<u8>) {
        let page = format!("Page {page}");
        let width = |text: &[u8]| String::from_utf8_lossy(text).chars().count();
        let available = settings.width.saturating_sub(width(&self.date) + width(&self.text) + page.len());
        out.extend_from_slice(b"\n\n");
        out.resize(out.len() + settings.indent, b' ');
        out.extend_from_slice(&self.date);
        out.resize(out.len() + (available / 2).max(1), b' ');
        out.extend_from_slice(&self.text);
        out.resize(out.len() + (available - available / 2).max(1), b' ');
        out.extend_from_slice(page.as_bytes());
        out.extend_from_slice(b"\n\n\n");
    }
}

struct Printer<'a> {
    settings: &'a Settings,
    layout: Layout,
    heading: Heading,
    /// Number of the first line of the next page.
    number: usize,
    out: Vec<u8>,
}

impl Printer<'_> {
    /// Prints all pages. The inner error is one of reading.
    fn print(&mut self, sources: &mut [Source]) -> Result<Result<(), Errno>, Failure> {
        for number in 1.. {
            match Page::read(sources, self.settings, &self.layout) {
                Ok(Some(page)) => self.page(&page, number),
                Ok(None) => break,
                Err(errno) => return Ok(Err(errno)),
            }
            write(&std::mem::take(&mut self.out))?;
        }
        Ok(Ok(()))
    }

    fn page(&mut self, page: &Page, number: u64) {
        let settings = self.settings;
        if settings.headers {
            self.heading.push(settings, number, &mut self.out);
        }
        let mut left = self.layout.rows * if settings.double_space { 2 } else { 1 };
        for at in 0..page.rows() {
            let mut row = Row::new(settings, &self.layout);
            for column in 0..self.layout.columns {
                let line = page.line(column, at);
                if line.is_none() && !settings.parallel {
                    break;
                }
                // With several files only the first column is numbered, even if its file has ended.
                let index = if settings.parallel { (column == 0).then_some(at) } else { line.map(|(index, _)| *index) };
                let number = index.map(|index| self.number.saturating_add(index));
                row.column(column, number, line.map_or(&b""[..], |(_, text)| text));
            }
            self.out.extend(row.finish());
            left = left.saturating_sub(1);
            if settings.double_space && left > 0 {
                self.out.push(b'\n');
                left -= 1;
            }
        }
        self.number = self.number.saturating_add(if settings.parallel { page.rows() } else { page.lines() });
        if settings.headers {
            self.out.resize(self.out.len() + left + settings::FOOTER, b'\n');
        } else if settings.keeps_form_feeds && page.form_feed {
            self.out.push(b'\x0c');
        }
    }
}
