//! Output of matches.

use std::io;

use tidebox_gnu::exit::print;
use tidebox_gnu::message::{error_text, print_error};
use tidebox_gnu::regex::{Error, Regex};

use crate::options::Options;

/// Output buffer size in bytes.
const BUFFER: usize = 32 * 1024;

/// A line to print.
#[derive(Debug)]
pub(crate) struct Line<'a> {
    pub(crate) text: &'a [u8],
    pub(crate) number: u64,
    /// Its offset in the file.
    pub(crate) offset: u64,
    /// Otherwise a context line.
    pub(crate) selected: bool,
}

/// Standard output.
#[derive(Debug)]
pub(crate) struct Output {
    buffer: Vec<u8>,
    error: Option<io::Error>,
    name: Vec<u8>,
    with_name: bool,
    colors: Option<Colors>,
    separator: Option<Vec<u8>>,
    null_after_name: bool,
    terminator: u8,
    /// Minimum width of numbers, for alignment.
    width: usize,
    /// A group was printed, so a separator precedes the next one.
    used: bool,
}

impl Output {
    pub(crate) fn new(options: &Options) -> Self {
        Self {
            buffer: Vec::with_capacity(1024),
            error: None,
            name: Vec::new(),
            with_name: false,
            colors: options.color.then(Colors::from_environment),
            separator: options.separator.clone(),
            null_after_name: options.null_after_name,
            terminator: options.regex.terminator,
            width: 0,
            used: false,
        }
    }

    /// Sets the file name of the lines.
    pub(crate) fn begin_file(&mut self, name: Vec<u8>, with_name: bool) {
        self.name = name;
        self.with_name = with_name;
    }

    /// Sets the width for numbers up to this one.
    pub(crate) fn number_width(&mut self, largest: u64) {
        self.width = largest.to_string().len();
    }

    /// Returns whether writing has failed.
    pub(crate) fn is_broken(&self) -> bool {
        self.error.is_some()
    }

    /// The write error, if one occurred.
    pub(crate) fn error(&self) -> Option<String> {
        self.error.as_ref().map(error_text)
    }

    pub(crate) fn flush(&mut self) {
        if self.error.is_none() {
            self.error = print(&self.buffer).err();
        }
        self.buffer.clear();
    }

    fn end_line(&mut self, terminator: u8, at_once: bool) {
        self.buffer.push(terminator);
        if at_once || self.buffer.len() >= BUFFER {
            self.flush();
        }
    }

    /// Prints only the file name.
    pub(crate) fn file_name(&mut self) {
        self.colored(|colors| &colors.name, |out| out.buffer.extend_from_slice(&out.name));
        self.end_line(if self.null_after_name { 0 } else { b'\n' }, false);
    }

    /// Prints the number of selected lines.
    pub(crate) fn count(&mut self, count: u64) {
        if self.with_name {
            self.name_field(b':');
        }
        self.buffer.extend_from_slice(count.to_string().as_bytes());
        self.end_line(b'\n', false);
    }

    /// Prints that a binary file matches.
    pub(crate) fn binary_matches(&mut self) {
        self.flush();
        print_error("grep", &format!("{}: binary file matches", String::from_utf8_lossy(&self.name)));
    }

    /// Separates a group of lines from the previous one, unless it directly continues it in the same file.
    pub(crate) fn separate(&mut self, adjacent: bool) {
        if self.used
            && !adjacent
            && let Some(separator) = self.separator.clone()
        {
            self.colored(|colors| &colors.separator, |out| out.buffer.extend_from_slice(&separator));
            self.end_line(b'\n', false);
        }
        self.used = true;
    }

    /// Prints a line, or its matches.
    pub(crate) fn line(&mut self, options: &Options, regex: &Regex, line: &Line<'_>) -> Result<(), Error> {
        let matching = line.selected != options.invert;
        let separator = if line.selected { b':' } else { b'-' };
        if options.only_matching {
            // With `-v`, matches are in the context lines.
            if matching {
                self.parts(options, regex, line, separator)?;
            }
            return Ok(());
        }
        self.fields(options, line, 0, separator);
        if matching && self.colors.is_some() {
            self.highlighted(regex, line)?;
        } else {
            let (start, end) = self.line_color(line.selected);
            self.buffer.extend_from_slice(&start);
            self.buffer.extend_from_slice(line.text);
            self.buffer.extend_from_slice(&end);
        }
        self.end_line(self.terminator, options.line_buffered);
        Ok(())
    }

    fn parts(&mut self, options: &Options, regex: &Regex, line: &Line<'_>, separator: u8) -> Result<(), Error> {
        let mut from = 0;
        while let Some(part) = regex.find_in_line(line.text, from)? {
            if part.is_empty() {
                from = part.end + 1;
                continue;
            }
            from = part.end;
            self.fields(options, line, part.start as u64, separator);
            let text = line.text.get(part).unwrap_or_default();
            self.colored(
                |colors| if line.selected { &colors.selected_match } else { &colors.context_match },
                |out| out.buffer.extend_from_slice(text),
            );
            self.end_line(self.terminator, options.line_buffered);
        }
        Ok(())
    }

    fn highlighted(&mut self, regex: &Regex, line: &Line<'_>) -> Result<(), Error> {
        let (start, end) = self.line_color(line.selected);
        let plain = |out: &mut Self, text: &[u8]| {
            if !text.is_empty() {
                out.buffer.extend_from_slice(&start);
                out.buffer.extend_from_slice(text);
                out.buffer.extend_from_slice(&end);
            }
        };
        let (mut from, mut printed) = (0, 0);
        while let Some(part) = regex.find_in_line(line.text, from)? {
            if part.is_empty() {
                from = part.end + 1;
                continue;
            }
            plain(self, line.text.get(printed..part.start).unwrap_or_default());
            let text = line.text.get(part.clone()).unwrap_or_default();
            let selected = line.selected;
            self.colored(
                |colors| if selected { &colors.selected_match } else { &colors.context_match },
                |out| out.buffer.extend_from_slice(text),
            );
            (from, printed) = (part.end, part.end);
        }
        plain(self, line.text.get(printed..).unwrap_or_default());
        Ok(())
    }

    /// Prints name, line number and offset, if requested.
    fn fields(&mut self, options: &Options, line: &Line<'_>, within: u64, separator: u8) {
        let mut any = false;
        if self.with_name {
            self.name_field(separator);
            any = true;
        }
        if options.line_numbers {
            self.number_field(line.number, separator);
            any = true;
        }
        if options.byte_offsets {
            self.number_field(line.offset.saturating_add(within), separator);
            any = true;
        }
        if any && options.initial_tab && !line.text.is_empty() {
            self.buffer.push(b'\t');
        }
    }

    fn name_field(&mut self, separator: u8) {
        self.colored(|colors| &colors.name, |out| out.buffer.extend_from_slice(&out.name));
        if self.null_after_name {
            self.buffer.push(0);
        } else {
            self.colored(|colors| &colors.separator, |out| out.buffer.push(separator));
        }
    }

    fn number_field(&mut self, number: u64, separator: u8) {
        let width = self.width;
        self.colored(
            |colors| &colors.number,
            |out| out.buffer.extend_from_slice(format!("{number:>width$}").as_bytes()),
        );
        self.colored(|colors| &colors.separator, |out| out.buffer.push(separator));
    }

    fn colored(&mut self, which: impl Fn(&Colors) -> &String, print: impl FnOnce(&mut Self)) {
        let Some((start, end)) = self.colors.as_ref().map(|colors| Colors::sequence(which(colors))) else {
            return print(self);
        };
        self.buffer.extend_from_slice(&start);
        print(self);
        self.buffer.extend_from_slice(&end);
    }

    fn line_color(&self, selected: bool) -> (Vec<u8>, Vec<u8>) {
        match &self.colors {
            Some(colors) => Colors::sequence(if selected { &colors.selected_line } else { &colors.context_line }),
            None => (Vec::new(), Vec::new()),
        }
    }
}

/// Parameters of terminal sequences; empty ones are not printed.
#[derive(Debug)]
struct Colors {
    selected_match: String,
    context_match: String,
    selected_line: String,
    context_line: String,
    name: String,
    number: String,
    separator: String,
}

impl Colors {
    /// GNU's colors, changed by `GREP_COLORS`.
    fn from_environment() -> Self {
        let mut colors = Self {
            selected_match: "01;31".to_owned(),
            context_match: "01;31".to_owned(),
            selected_line: String::new(),
            context_line: String::new(),
            name: "35".to_owned(),
            number: "32".to_owned(),
            separator: "36".to_owned(),
        };
        if let Some(old) = std::env::var("GREP_COLOR").ok().filter(|old| !old.is_empty()) {
            print_error("grep", &format!("warning: GREP_COLOR='{old}' is deprecated; use GREP_COLORS='mt={old}'"));
            (colors.selected_match, colors.context_match) = (old.clone(), old);
        }
        for entry in std::env::var("GREP_COLORS").unwrap_or_default().split(':') {
            let (key, value) = entry.split_once('=').unwrap_or((entry, ""));
            let slot = match key {
                "mt" => {
                    colors.context_match = value.to_owned();
                    &mut colors.selected_match
                }
                "ms" => &mut colors.selected_match,
                "mc" => &mut colors.context_match,
                "sl" => &mut colors.selected_line,
                "cx" => &mut colors.context_line,
                "fn" => &mut colors.name,
                "ln" | "bn" => &mut colors.number,
                "se" => &mut colors.separator,
                _ => continue,
            };
            value.clone_into(slot);
        }
        colors
    }

    fn sequence(parameters: &str) -> (Vec<u8>, Vec<u8>) {
        if parameters.is_empty() {
            return (Vec::new(), Vec::new());
        }
        (format!("\u{1b}[{parameters}m\u{1b}[K").into_bytes(), b"\x1b[m\x1b[K".to_vec())
    }
}
