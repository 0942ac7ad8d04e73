//! What the options together ask for.

use std::rc::Rc;

use tidebox_gnu::regex::{self, Regex};

use super::{
    BARE_BLANKS, CHANGED_GROUP, COLOR, CONTEXT, FROM_FILE, Heading, IGNORED, KEEP_NAME_CASE, LEFT_COLUMN, LINE_FORMAT,
    NAME_CASE, NEW_GROUP, NEW_LINE, NO_DEREFERENCE, NORMAL, OLD_GROUP, OLD_LINE, Options, PALETTE, Palette, Reader,
    SAME_GROUP, SAME_LINE, STRIP, SUPPRESS_COMMON, Style, TAB_SIZE, TERMINAL, TO_FILE,
};
use crate::Failure;
use crate::file::File;
use crate::groups::Formats;
use crate::script::Space;

impl Reader {
    pub(super) fn option(&mut self, key: char, value: Vec<u8>) -> Result<(), Failure> {
        let options = &mut self.options;
        match key {
            'a' => options.text = true,
            'B' => options.rules.ignore_blank_lines = true,
            'b' => options.rules.space = options.rules.space.max(Space::Some),
            'E' => options.rules.ignore_tabs = true,
            'Z' => options.rules.space = options.rules.space.max(Space::NotAtEnd),
            'w' => options.rules.space = Space::Nothing,
            'd' => options.rules.minimal = true,
            'F' => options.heading = Some(Heading::Matching(Box::new(regex(&[value])?))),
            'I' => self.patterns.push(value),
            'i' => options.rules.ignore_case = true,
            'L' => options.labels.push(value),
            'N' => options.new_file = true,
            'P' => options.new_in_first = true,
            'p' => self.function = true,
            'q' => options.brief = true,
            'r' => options.recursive = true,
            'S' => options.starting = Some(value),
            's' => options.tells_same = true,
            'x' => options.excluded.push(value),
            'X' => options.excluded.extend(listed(&value)?),
            'H' | 'h' => {}
            // It has no effect, and is a number all the same.
            IGNORED if !value.iter().all(u8::is_ascii_digit) => {
                let shown = String::from_utf8_lossy(&value);
                return Err(Failure::Usage(format!("invalid horizon length '{shown}'")));
            }
            IGNORED => {}
            '0'..='9' => self.digits.push(key),
            STRIP => options.rules.strip_return = true,
            NO_DEREFERENCE => options.links = true,
            FROM_FILE => self.from = Some(value),
            TO_FILE => self.to = Some(value),
            NAME_CASE | KEEP_NAME_CASE => options.fold_names = key == NAME_CASE,
            TERMINAL => self.terminal = true,
            'l' => options.paginate = true,
            't' | 'T' | 'W' | COLOR | PALETTE | TAB_SIZE | LEFT_COLUMN | SUPPRESS_COMMON | BARE_BLANKS => {
                self.layout(key, &value)?;
            }
            'D' | LINE_FORMAT..=CHANGED_GROUP => {
                self.styled('D', None)?;
                formats(&mut self.options.formats, key, value)?;
            }
            'e' | 'f' | 'n' | 'y' => self.styled(key, None)?,
            NORMAL => self.styled('N', None)?,
            'c' | 'u' => self.styled(key, None)?,
            'C' => self.styled('c', Some(value))?,
            'U' => self.styled('u', Some(value))?,
            CONTEXT => self.styled('c', Some(value).filter(|value| !value.is_empty()))?,
            _ => self.styled('u', Some(value).filter(|value| !value.is_empty()))?,
        }
        Ok(())
    }

    pub(super) fn layout(&mut self, key: char, value: &[u8]) -> Result<(), Failure> {
        let layout = &mut self.options.layout;
        let number = |what: &str| {
            let number = std::str::from_utf8(value).ok().and_then(|text| text.parse::<u16>().ok());
            let wrong = || Failure::Usage(format!("invalid {what} '{}'", String::from_utf8_lossy(value)));
            number.filter(|number| *number > 0).map(usize::from).ok_or_else(wrong)
        };
        match key {
            't' => layout.expand_tabs = true,
            'T' => layout.initial_tab = true,
            'W' => layout.width = number("width")?,
            TAB_SIZE => layout.tab_size = number("tabsize")?,
            LEFT_COLUMN => layout.left_column = true,
            SUPPRESS_COMMON => layout.suppress_common = true,
            BARE_BLANKS => layout.bare_blanks = true,
            PALETTE => self.palette = String::from_utf8_lossy(value).into_owned(),
            _ => match value {
                b"" | b"auto" => {
                    let able = std::env::var_os("TERM").is_none_or(|term| term != "dumb");
                    self.color = able && (self.terminal || tidebox_rt::is_terminal(1));
                }
                b"always" => self.color = true,
                b"never" => self.color = false,
                _ => {
                    return Err(Failure::Usage(format!("invalid color '{}'", String::from_utf8_lossy(value))));
                }
            },
        }
        Ok(())
    }

    pub(super) fn styled(&mut self, style: char, context: Option<Vec<u8>>) -> Result<(), Failure> {
        if self.style.is_some_and(|other| other != style) {
            return Err(Failure::Usage("conflicting output style options".to_owned()));
        }
        self.style = Some(style);
        let number = match context {
            Some(text) => {
                self.explicit = true;
                lines(&text)?
            }
            None => 3,
        };
        // The largest number wins.
        self.context = self.context.max(number);
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<Options, Failure> {
        if self.options.labels.len() > 2 {
            return Err(Failure::Other("too many file label options".to_owned()));
        }
        let mut context = self.context;
        if !self.digits.is_empty() && self.style.is_some() {
            let number = lines(self.digits.as_bytes())?;
            context = if self.explicit { context.max(number) } else { number };
        }
        let headed = self.function || self.options.heading.is_some();
        self.options.style = match self.style {
            Some('u') => Style::Unified(context),
            Some('c') => Style::Context(context),
            Some('e') => Style::Ed,
            Some('f') => Style::ForwardEd,
            Some('n') => Style::Rcs,
            Some('y') => Style::Columns,
            Some('D') => Style::Groups,
            // As in GNU, -p alone asks for context.
            None if headed => Style::Context(3),
            _ => Style::Normal,
        };
        if self.function && self.options.heading.is_none() {
            self.options.heading = Some(Heading::Function);
        }
        if !self.patterns.is_empty() {
            self.options.rules.ignored = Some(Rc::new(regex(&self.patterns)?));
        }
        if self.color {
            self.options.layout.palette = Some(Palette::new(&self.palette));
        }
        Ok(self.options)
    }
}

/// `-D` and the options for formats.
pub(super) fn formats(formats: &mut Formats, key: char, value: Vec<u8>) -> Result<(), Failure> {
    let (slot, option) = match key {
        'D' => {
            formats.ifdef(&value);
            return Ok(());
        }
        LINE_FORMAT => {
            for slot in [&mut formats.old_line, &mut formats.new_line, &mut formats.same_line] {
                Formats::set(slot, value.clone(), "--line-format")?;
            }
            return Ok(());
        }
        OLD_LINE => (&mut formats.old_line, "--old-line-format"),
        NEW_LINE => (&mut formats.new_line, "--new-line-format"),
        SAME_LINE => (&mut formats.same_line, "--unchanged-line-format"),
        OLD_GROUP => (&mut formats.old_group, "--old-group-format"),
        NEW_GROUP => (&mut formats.new_group, "--new-group-format"),
        SAME_GROUP => (&mut formats.same_group, "--unchanged-group-format"),
        _ => (&mut formats.changed_group, "--changed-group-format"),
    };
    Formats::set(slot, value, option)
}

/// A basic regular expression for lines.
pub(super) fn regex(patterns: &[Vec<u8>]) -> Result<Regex, Failure> {
    let options = regex::Options { unicode: tidebox_gnu::message::unicode_locale(), ..regex::Options::basic() };
    Regex::new(patterns, &options).map_err(|error| {
        // The message names the one that is wrong.
        let wrong = patterns.iter().find(|pattern| Regex::new(std::slice::from_ref(pattern), &options).is_err());
        let shown = String::from_utf8_lossy(wrong.or(patterns.first()).map_or(&b""[..], Vec::as_slice)).into_owned();
        Failure::Other(format!("{shown}: {error}"))
    })
}

/// The lines of a file of patterns.
pub(super) fn listed(name: &[u8]) -> Result<Vec<Vec<u8>>, Failure> {
    let wrong =
        |errno: tidebox_rt::Errno| Failure::Other(format!("{}: {}", String::from_utf8_lossy(name), errno.text()));
    let text = File::open(name).and_then(|file| file.load()).map_err(wrong)?;
    Ok(text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).map(<[u8]>::to_vec).collect())
}

pub(super) fn lines(text: &[u8]) -> Result<usize, Failure> {
    let number = std::str::from_utf8(text).ok().and_then(|text| text.parse::<u32>().ok());
    number
        .and_then(|number| usize::try_from(number).ok())
        .ok_or_else(|| Failure::Usage(format!("invalid context length '{}'", String::from_utf8_lossy(text))))
}
