//! Items from the input.

use std::io::{BufReader, ErrorKind, Read};

use tidebox_gnu::message::{error_text, print_error};

use crate::options::{Options, Separator};

/// An item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) bytes: Vec<u8>,
    /// It is the last item of its line.
    pub(crate) ends_line: bool,
}

/// Iterator over the items of an input.
pub(crate) struct Items {
    from: BufReader<Box<dyn Read>>,
    separator: Separator,
    end: Option<Vec<u8>>,
    /// A byte that was read ahead.
    back: Option<u8>,
    ended: bool,
    /// Set once the warning about zero bytes is printed.
    warned: bool,
}

impl Items {
    pub(crate) fn new(from: Box<dyn Read>, options: &Options) -> Self {
        Self {
            from: BufReader::new(from),
            separator: options.separator,
            end: options.end.clone(),
            back: None,
            ended: false,
            warned: false,
        }
    }

    /// Returns the next item, or `None` at the end.
    pub(crate) fn next_item(&mut self) -> Result<Option<Item>, String> {
        if self.ended {
            return Ok(None);
        }
        let mut item = match self.separator {
            Separator::Byte(byte) => self.until(byte)?,
            Separator::Blanks => self.quoted(false)?,
            Separator::Lines => self.quoted(true)?,
        };
        if let Some(item) = item.as_mut().filter(|_| self.separator != Separator::Byte(0)) {
            self.cut_at_zero(item);
        }
        self.ended = match (&item, &self.end) {
            (None, _) => true,
            (Some(item), Some(end)) => item.bytes == *end && !matches!(self.separator, Separator::Byte(_)),
            _ => false,
        };
        Ok(item.filter(|_| !self.ended))
    }

    /// Truncates an item at a zero byte.
    fn cut_at_zero(&mut self, item: &mut Item) {
        let Some(at) = item.bytes.iter().position(|byte| *byte == 0) else {
            return;
        };
        item.bytes.truncate(at);
        if !self.warned && !matches!(self.separator, Separator::Byte(_)) {
            let message = "WARNING: a NUL character occurred in the input.  It cannot be passed through in the \
                           argument list.  Did you mean to use the --null option?";
            print_error("xargs", message);
            self.warned = true;
        }
    }

    /// Returns the number of bytes that were read and belong to no item.
    pub(crate) fn unread(&self) -> usize {
        self.from.buffer().len() + usize::from(self.back.is_some())
    }

    fn byte(&mut self) -> Result<Option<u8>, String> {
        if let Some(byte) = self.back.take() {
            return Ok(Some(byte));
        }
        let mut byte = [0];
        loop {
            match self.from.read(&mut byte) {
                Ok(0) => return Ok(None),
                Ok(_) => return Ok(byte.first().copied()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(format!("read error: {}", error_text(&error))),
            }
        }
    }

    fn until(&mut self, separator: u8) -> Result<Option<Item>, String> {
        let mut bytes = Vec::new();
        loop {
            match self.byte()? {
                None if bytes.is_empty() => return Ok(None),
                Some(byte) if byte != separator => bytes.push(byte),
                _ => return Ok(Some(Item { bytes, ends_line: true })),
            }
        }
    }

    /// Reads an item with quotes and backslashes. With `lines` only line ends separate items.
    fn quoted(&mut self, lines: bool) -> Result<Option<Item>, String> {
        let mut bytes = Vec::new();
        // A quoted item may be empty.
        let mut begun = false;
        loop {
            let Some(byte) = self.byte()? else {
                return Ok(begun.then_some(Item { bytes, ends_line: true }));
            };
            match byte {
                b'\n' if begun => return Ok(Some(Item { bytes, ends_line: true })),
                b'\n' => {}
                // Skip all white space before an item. Only blanks and line ends terminate it.
                b' ' | b'\t' | b'\r' | 0x0b | 0x0c if !begun => {}
                b' ' | b'\t' if !lines => {
                    let ends_line = self.is_line_end()?;
                    return Ok(Some(Item { bytes, ends_line }));
                }
                b'\'' | b'"' => {
                    self.quotation(byte, &mut bytes)?;
                    begun = true;
                }
                b'\\' => {
                    bytes.extend(self.byte()?);
                    begun = true;
                }
                byte => {
                    bytes.push(byte);
                    begun = true;
                }
            }
        }
    }

    fn quotation(&mut self, quote: u8, bytes: &mut Vec<u8>) -> Result<(), String> {
        let name = if quote == b'"' { "double" } else { "single" };
        loop {
            match self.byte()? {
                Some(byte) if byte == quote => return Ok(()),
                Some(b'\n') | None => {
                    return Err(format!(
                        "unmatched {name} quote; by default quotes are special to xargs unless you use the -0 option"
                    ));
                }
                Some(byte) => bytes.push(byte),
            }
        }
    }

    /// Returns whether the line ends. A trailing blank continues it on the next line.
    fn is_line_end(&mut self) -> Result<bool, String> {
        loop {
            match self.byte()? {
                Some(b' ' | b'\t') => {}
                Some(b'\n') => return Ok(false),
                None => return Ok(true),
                Some(byte) => {
                    self.back = Some(byte);
                    return Ok(false);
                }
            }
        }
    }
}
