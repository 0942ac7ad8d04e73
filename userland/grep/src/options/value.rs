//! Values of options, and patterns.

use std::io::Read;

use tidebox_gnu::choice::parse_choice;
use tidebox_gnu::message::{bytes_path, error_text};
use tidebox_gnu::regex::Dialect;

use super::{Directories, Reader, Stop};

impl Reader {
    pub(super) fn dialect(&mut self, dialect: Dialect) -> Result<(), Stop> {
        let before = self.options.regex.dialect;
        if before != dialect && before != Dialect::Basic && dialect != Dialect::Basic {
            return Err(Stop::Fail("conflicting matchers specified".to_owned()));
        }
        self.options.regex.dialect = dialect;
        Ok(())
    }

    pub(super) fn matcher(&mut self, name: &[u8]) -> Result<(), Stop> {
        self.dialect(match name {
            b"grep" => Dialect::Basic,
            b"egrep" | b"awk" | b"gawk" | b"posixawk" => Dialect::Extended,
            b"fgrep" => Dialect::Fixed,
            b"perl" => Dialect::Perl,
            _ => return Err(Stop::Fail(format!("invalid matcher {}", String::from_utf8_lossy(name)))),
        })
    }

    pub(super) fn directories(&mut self, value: &[u8]) -> Result<(), Stop> {
        let words: &[&[&str]] = &[&["read"], &["recurse"], &["skip"]];
        let chosen = parse_choice("--directories", value, words).map_err(Stop::NoSuchChoice)?;
        self.options.directories = match chosen {
            0 => Directories::Read,
            1 => Directories::Recurse,
            _ => Directories::Skip,
        };
        Ok(())
    }

    /// Adds the patterns on the lines of `text`.
    pub(super) fn add_patterns(&mut self, text: &[u8]) {
        self.patterns_given = true;
        for pattern in text.split(|byte| *byte == b'\n') {
            // A duplicate pattern would only slow down the search.
            if !self.options.patterns.iter().any(|known| known == pattern) {
                self.options.patterns.push(pattern.to_vec());
            }
        }
    }

    pub(super) fn pattern_file(&mut self, name: &[u8]) -> Result<(), Stop> {
        let text = read_file(name)?;
        self.patterns_given = true;
        if !text.is_empty() {
            self.add_patterns(text.strip_suffix(b"\n").unwrap_or(&text));
        }
        Ok(())
    }
}

pub(super) fn read_file(name: &[u8]) -> Result<Vec<u8>, Stop> {
    let mut text = Vec::new();
    let read = match name {
        b"-" => std::io::stdin().read_to_end(&mut text).map(|_| text),
        name => std::fs::read(bytes_path(name)),
    };
    read.map_err(|error| Stop::Fail(format!("{}: {}", String::from_utf8_lossy(name), error_text(&error))))
}

pub(super) fn context(value: &[u8]) -> Result<usize, Stop> {
    let text = String::from_utf8_lossy(value);
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Stop::Fail(format!("{text}: invalid context length argument")));
    }
    // A number out of range is the maximum.
    Ok(text.parse().unwrap_or(usize::MAX))
}

/// A negative count means no limit.
pub(super) fn max_count(value: &[u8]) -> Result<Option<u64>, Stop> {
    let text = String::from_utf8_lossy(value);
    let digits = text.strip_prefix('-').unwrap_or(&text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Stop::Fail("invalid max count".to_owned()));
    }
    Ok(if text.starts_with('-') { None } else { text.parse().ok() })
}
