//! `pr`: text in pages and columns.

mod number;
mod pages;
mod row;
mod settings;

use tidebox_gnu::message::{path_label, print_error, unicode_locale};
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
    let parallel = settings.parallel;
    let groups: Vec<Vec<Vec<u8>>> =
        if parallel { vec![files] } else { files.into_iter().map(|file| vec![file]).collect() };
    let mut code = 0;
    for group in groups {
        let mut sources = Vec::new();
        for name in &group {
            match Source::open(name) {
                Ok(source) => sources.push(source),
                Err(errno) => {
                    code = 1;
                    if !settings.quiet {
                        print_error("pr", &format!("{}: {}", path_label(name), errno.text()));
                    }
                }
            }
        }
        if sources.is_empty() {
            continue;
        }
        let layout = Layout::new(&settings, sources.len())?;
        let heading = Heading::new(&settings, group.first().map(Vec::as_slice), sources.first());
        let mut print = Print { settings: &settings, layout, heading, number: settings.first_number, out: Vec::new() };
        if let Err(errno) = print.pages(&mut sources, parallel)? {
            print_error(
                "pr",
                &format!("{}: {}", path_label(group.first().map_or(&b"-"[..], Vec::as_slice)), errno.text()),
            );
            code = 1;
        }
    }
    Ok(code)
}

/// A number so many lines on.
fn later(number: i64, lines: usize) -> i64 {
    number.saturating_add(i64::try_from(lines).unwrap_or(i64::MAX))
}

/// Page header.
struct Heading {
    date: Vec<u8>,
    text: Vec<u8>,
}

impl Heading {
    fn new(settings: &Settings, name: Option<&[u8]>, source: Option<&Source>) -> Self {
        let stat = source.and_then(Source::stat).filter(|stat| stat.kind() == FileKind::File && !settings.parallel);
        let name = name.filter(|name| *name != b"-" && !settings.parallel);
        let time = match (name, stat) {
            (Some(_), Some(stat)) => stat.mtime_ns,
            _ => tidebox_rt::realtime_ns(),
        };
        let seconds = i64::try_from(time / 1_000_000_000).unwrap_or(i64::MAX);
        let posix = std::env::var_os("POSIXLY_CORRECT").is_some() && !unicode_locale();
        let usual: &[u8] = if posix { b"%b %e %H:%M %Y" } else { b"%Y-%m-%d %H:%M" };
        let format = settings.date_format.as_deref().unwrap_or(usual);
        let date = strftime::format(format, (seconds, (time % 1_000_000_000) as u32), Zone::local());
        Self { date, text: settings.header.clone().unwrap_or_else(|| name.unwrap_or_default().to_vec()) }
    }

    fn push(&self, settings: &Settings, page: u64, out: &mut Vec<u8>) {
        let page = format!("Page {page}");
        let wide = |text: &[u8]| String::from_utf8_lossy(text).chars().count();
        let used = wide(&self.date) + wide(&self.text) + page.len();
        let room = settings.width.saturating_sub(used);
        let before = (room / 2).max(1);
        let after = (room - room / 2).max(1);
        out.extend_from_slice(b"\n\n");
        out.resize(out.len() + settings.indent, b' ');
        out.extend_from_slice(&self.date);
        out.resize(out.len() + before, b' ');
        out.extend_from_slice(&self.text);
        out.resize(out.len() + after, b' ');
        out.extend_from_slice(page.as_bytes());
        out.extend_from_slice(b"\n\n\n");
    }
}

struct Print<'a> {
    settings: &'a Settings,
    layout: Layout,
    heading: Heading,
    /// The number of the next line.
    number: i64,
    out: Vec<u8>,
}

impl Print<'_> {
    /// Prints all pages that are asked for.
    fn pages(&mut self, sources: &mut [Source], parallel: bool) -> Result<Result<(), Errno>, Failure> {
        let settings = self.settings;
        let mut number = 0_u64;
        loop {
            number += 1;
            if settings.last_page.is_some_and(|last| number > last) {
                return Ok(Ok(()));
            }
            let page = if parallel {
                Page::beside(sources, self.layout.rows)
            } else {
                match sources.first_mut() {
                    Some(source) if settings.across => Page::across(source, self.layout.columns, self.layout.rows),
                    Some(source) => Page::down(source, self.layout.columns, self.layout.rows),
                    None => return Ok(Ok(())),
                }
            };
            let page = match page {
                Ok(Some(page)) => page,
                Ok(None) => {
                    if number <= settings.first_page && settings.first_page > 1 {
                        let count = number - 1;
                        let first = settings.first_page;
                        print_error("pr", &format!("starting page number {first} exceeds page count {count}"));
                    }
                    return Ok(Ok(()));
                }
                Err(errno) => return Ok(Err(errno)),
            };
            if number < settings.first_page {
                if settings.counts_skipped {
                    let lines = if parallel { page.rows() } else { page.lines() };
                    self.number = later(self.number, lines);
                }
                continue;
            }
            self.page(&page, number);
            write(&std::mem::take(&mut self.out))?;
        }
    }

    fn page(&mut self, page: &Page, number: u64) {
        let settings = self.settings;
        if settings.extremities {
            self.heading.push(settings, number, &mut self.out);
        }
        let mut left = self.layout.rows * if settings.double_space { 2 } else { 1 };
        let numbers = self.numbers(page);
        for at in 0..page.rows() {
            let mut row = Row::new(settings, &self.layout);
            let mut out = Vec::new();
            let filled = |column: usize| page.line(column, at).is_some();
            let mut skipped = Vec::new();
            // Of several files every row has its number, also where the first of them has ended.
            let beside = |column: usize| self.numbered(column).then(|| later(self.number, at));
            for column in 0..self.layout.columns {
                match page.line(column, at) {
                    Some(line) => {
                        // Columns before the first text of a row are aligned once there is one.
                        for earlier in std::mem::take(&mut skipped) {
                            row.empty(earlier, beside(earlier), &mut out);
                            row.separate();
                        }
                        let before = if settings.across { at * self.layout.columns + column } else { at };
                        let first = numbers.get(if settings.across { 0 } else { column }).copied();
                        let number = first.map(|first| later(first, before));
                        row.text(column, self.numbered(column).then_some(number).flatten(), line, &mut out);
                    }
                    None if !settings.parallel => break,
                    None if (0..column).any(filled) => row.empty(column, beside(column), &mut out),
                    None => {
                        skipped.push(column);
                        continue;
                    }
                }
                row.separate();
            }
            out.push(b'\n');
            self.out.append(&mut out);
            left = left.saturating_sub(1);
            if settings.double_space && left > 0 {
                self.out.push(b'\n');
                left -= 1;
            }
        }
        let lines = if settings.parallel { page.rows() } else { page.lines() };
        self.number = later(self.number, lines);
        if settings.extremities {
            if settings.form_feed {
                // A page without lines keeps the end of one.
                if page.fed && page.rows() == 0 {
                    self.out.push(b'\n');
                }
                self.out.push(b'\x0c');
            } else {
                self.out.resize(self.out.len() + left + settings::FOOTER, b'\n');
            }
        } else if settings.keeps_form_feeds && page.fed {
            self.out.push(b'\x0c');
        }
    }

    fn numbered(&self, column: usize) -> bool {
        self.settings.numbers.is_some() && (!self.settings.parallel || column == 0)
    }

    /// The number of the first line of each column.
    fn numbers(&self, page: &Page) -> Vec<i64> {
        let mut next = self.number;
        let mut numbers = Vec::new();
        for column in 0..self.layout.columns {
            numbers.push(next);
            if !self.settings.parallel {
                next = later(next, page.column(column));
            }
        }
        numbers
    }
}
