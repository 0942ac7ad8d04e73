//! `file`: detects file types, with the messages of libmagic 5.44.
//!
//! The crates with libmagic's rules decode the whole database at every start, which is too slow; those that detect signatures
//! have no descriptions. Therefore this crate detects the formats that are common in a sandbox.

mod archive;
mod bytes;
mod data;
mod document;
mod elf;
mod encoding;
mod image;
mod json;
mod kind;
mod media;
mod options;
mod program;
mod script;
mod source;
#[cfg(test)]
mod tests;
mod text;

use std::process::exit;

use tidebox_gnu::message::arguments;
use tidebox_gnu::stream::{Output, read_all};
use unicode_width::UnicodeWidthChar;

use options::{Options, Request, Style};

fn main() {
    tidebox_rt::init();
    let code = match options::parse(arguments()) {
        Request::Run(options) => run(options),
        Request::Print(text) => {
            let mut out = Output::standard();
            out.push(text.as_bytes());
            out.finish("file", 0)
        }
        Request::Refuse(message) => {
            tidebox_gnu::eprint_line!("{message}");
            1
        }
    };
    if code != 0 {
        exit(code);
    }
}

fn run(mut options: Options) -> i32 {
    for list in std::mem::take(&mut options.lists) {
        match read_all(&list) {
            Ok(text) => {
                let names = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
                options.files.extend(names.map(<[u8]>::to_vec));
            }
            Err(errno) => {
                let name = String::from_utf8_lossy(&list).into_owned();
                tidebox_gnu::eprint_line!("file: Cannot open `{name}' ({})", errno.text());
                return 1;
            }
        }
    }
    let mut out = Output::standard();
    let width = options.files.iter().map(|name| width(name)).max().unwrap_or(0);
    let mut code = 0;
    for name in &options.files {
        let description = kind::detect(name, &options);
        code |= i32::from(description.failed && options.errors_count);
        if !options.brief {
            out.push(printable(if name == b"-" { b"/dev/stdin" } else { name }).as_bytes());
            out.push(&options.separator);
            let fill = if options.pads { width.saturating_sub(self::width(name)) } else { 0 };
            out.push(&b" ".repeat(fill + 1));
        }
        out.push(description.format(&options).as_bytes());
        out.push(b"\n");
    }
    out.finish("file", code)
}

/// Formats a name on one line: unprintable bytes are three octal digits.
fn printable(name: &[u8]) -> String {
    let mut shown = String::new();
    for chunk in name.utf8_chunks() {
        for char in chunk.valid().chars() {
            if char.width().is_some() {
                shown.push(char);
            } else {
                char.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| shown.push_str(&format!("\\{byte:03o}")));
            }
        }
        chunk.invalid().iter().for_each(|byte| shown.push_str(&format!("\\{byte:03o}")));
    }
    shown
}

fn width(name: &[u8]) -> usize {
    printable(name).chars().filter_map(UnicodeWidthChar::width).sum()
}

/// Result for a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Description {
    /// The description.
    pub(crate) text: String,
    /// The media type.
    pub(crate) mime: String,
    /// The character set, or `binary`; empty if the file does not exist.
    pub(crate) charset: &'static str,
    /// The file could not be examined.
    pub(crate) failed: bool,
}

impl Description {
    fn format(&self, options: &Options) -> String {
        if self.failed {
            return self.text.clone();
        }
        match options.style {
            Style::Text => self.text.clone(),
            Style::Mime if self.charset.is_empty() => self.mime.clone(),
            Style::Mime => format!("{}; charset={}", self.mime, self.charset),
            Style::MimeType => self.mime.clone(),
            Style::MimeEncoding => if self.charset.is_empty() { "binary" } else { self.charset }.to_owned(),
        }
    }
}
