//! Evaluation of the options.

use std::rc::Rc;

use tidebox_gnu::options::ParsedOption;
use tidebox_gnu::regex::{self, Regex};

use super::{Flag, Heading, Options, Palette, Reader, Style, StyleOption};
use crate::Failure;
use crate::file::File;
use crate::groups::Formats;
use crate::script::Space;

impl Reader {
    pub(super) fn option(&mut self, ParsedOption { id, letter, value }: ParsedOption<Flag>) -> Result<(), Failure> {
        let options = &mut self.options;
        match id {
            Flag::Text => options.text = true,
            Flag::IgnoreBlankLines => options.rules.ignore_blank_lines = true,
            Flag::IgnoreSpaceChange => options.rules.space = options.rules.space.max(Space::Some),
            Flag::IgnoreTabExpansion => options.rules.ignore_tabs = true,
            Flag::IgnoreTrailingSpace => options.rules.space = options.rules.space.max(Space::NotAtEnd),
            Flag::IgnoreAllSpace => options.rules.space = Space::Nothing,
            Flag::Minimal => options.rules.minimal = true,
            Flag::ShowFunctionLine => options.heading = Some(Heading::Matching(Box::new(regex(&[value])?))),
            Flag::IgnoreMatchingLines => self.patterns.push(value),
            Flag::IgnoreCase => options.rules.ignore_case = true,
            Flag::Label => options.labels.push(value),
            Flag::NewFile => options.new_file = true,
            Flag::UnidirectionalNewFile => options.new_in_first = true,
            Flag::ShowCFunction => self.function = true,
            Flag::Brief => options.brief = true,
            Flag::Recursive => options.recursive = true,
            Flag::StartingFile => options.starting = Some(value),
            Flag::ReportIdenticalFiles => options.reports_same = true,
            Flag::Exclude => options.excluded.push(value),
            Flag::ExcludeFrom => options.excluded.extend(listed(&value)?),
            Flag::SpeedLargeFiles | Flag::Ignored | Flag::Help | Flag::Version | Flag::Paginate | Flag::ForwardEd => {}
            // It has no effect, but must be a number.
            Flag::HorizonLines if !value.iter().all(u8::is_ascii_digit) => {
                let shown = String::from_utf8_lossy(&value);
                return Err(Failure::Usage(format!("invalid horizon length '{shown}'")));
            }
            Flag::HorizonLines => {}
            Flag::Digit => self.digits.extend(letter),
            Flag::StripTrailingCr => options.rules.strip_return = true,
            Flag::NoDereference => options.links = true,
            Flag::FromFile => self.from = Some(value),
            Flag::ToFile => self.to = Some(value),
            Flag::IgnoreFileNameCase | Flag::NoIgnoreFileNameCase => {
                options.fold_names = id == Flag::IgnoreFileNameCase;
            }
            Flag::PresumeOutputTty => self.terminal = true,
            Flag::ExpandTabs
            | Flag::InitialTab
            | Flag::Width
            | Flag::Color
            | Flag::Palette
            | Flag::Tabsize
            | Flag::LeftColumn
            | Flag::SuppressCommonLines
            | Flag::SuppressBlankEmpty => {
                self.layout(id, &value)?;
            }
            Flag::Ed => self.styled(StyleOption::Ed, None)?,
            Flag::Rcs => self.styled(StyleOption::Rcs, None)?,
            Flag::SideBySide => self.styled(StyleOption::Columns, None)?,
            Flag::Normal => self.styled(StyleOption::Normal, None)?,
            Flag::Context | Flag::Unified => {
                let style = if id == Flag::Context { StyleOption::Context } else { StyleOption::Unified };
                // Only `-C` and `-U` require a number.
                let number = Some(value).filter(|value| matches!(letter, Some('C' | 'U')) || !value.is_empty());
                self.styled(style, number)?;
            }
            Flag::Ifdef
            | Flag::LineFormat
            | Flag::OldLineFormat
            | Flag::NewLineFormat
            | Flag::UnchangedLineFormat
            | Flag::OldGroupFormat
            | Flag::NewGroupFormat
            | Flag::UnchangedGroupFormat
            | Flag::ChangedGroupFormat => {
                self.styled(StyleOption::Groups, None)?;
                formats(&mut self.options.formats, id, value)?;
            }
        }
        Ok(())
    }

    pub(super) fn layout(&mut self, key: Flag, value: &[u8]) -> Result<(), Failure> {
        let layout = &mut self.options.layout;
        let number = |what: &str| {
            let number = std::str::from_utf8(value).ok().and_then(|text| text.parse::<u16>().ok());
            let wrong = || Failure::Usage(format!("invalid {what} '{}'", String::from_utf8_lossy(value)));
            number.filter(|number| *number > 0).map(usize::from).ok_or_else(wrong)
        };
        match key {
            Flag::ExpandTabs => layout.expand_tabs = true,
            Flag::InitialTab => layout.initial_tab = true,
            Flag::Width => layout.width = number("width")?,
            Flag::Tabsize => layout.tab_size = number("tabsize")?,
            Flag::LeftColumn => layout.left_column = true,
            Flag::SuppressCommonLines => layout.suppress_common = true,
            Flag::SuppressBlankEmpty => layout.bare_blanks = true,
            Flag::Palette => self.palette = String::from_utf8_lossy(value).into_owned(),
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

    pub(super) fn styled(&mut self, style: StyleOption, context: Option<Vec<u8>>) -> Result<(), Failure> {
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
        // The largest number takes precedence.
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
            Some(StyleOption::Unified) => Style::Unified(context),
            Some(StyleOption::Context) => Style::Context(context),
            Some(StyleOption::Ed) => Style::Ed,
            Some(StyleOption::Rcs) => Style::Rcs,
            Some(StyleOption::Columns) => Style::Columns,
            Some(StyleOption::Groups) => Style::Groups,
            // As in GNU, -p alone selects the context format.
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

/// Applies `-D` and the format options.
pub(super) fn formats(formats: &mut Formats, key: Flag, value: Vec<u8>) -> Result<(), Failure> {
    let (slot, option) = match key {
        Flag::Ifdef => {
            formats.ifdef(&value);
            return Ok(());
        }
        Flag::LineFormat => {
            for slot in [&mut formats.old_line, &mut formats.new_line, &mut formats.same_line] {
                Formats::set(slot, value.clone(), "--line-format")?;
            }
            return Ok(());
        }
        Flag::OldLineFormat => (&mut formats.old_line, "--old-line-format"),
        Flag::NewLineFormat => (&mut formats.new_line, "--new-line-format"),
        Flag::UnchangedLineFormat => (&mut formats.same_line, "--unchanged-line-format"),
        Flag::OldGroupFormat => (&mut formats.old_group, "--old-group-format"),
        Flag::NewGroupFormat => (&mut formats.new_group, "--new-group-format"),
        Flag::UnchangedGroupFormat => (&mut formats.same_group, "--unchanged-group-format"),
        _ => (&mut formats.changed_group, "--changed-group-format"),
    };
    Formats::set(slot, value, option)
}

/// Compiles a basic regular expression for lines.
pub(super) fn regex(patterns: &[Vec<u8>]) -> Result<Regex, Failure> {
    let options = regex::Options { unicode: tidebox_gnu::message::unicode_locale(), ..regex::Options::basic() };
    Regex::new(patterns, &options).map_err(|error| {
        // The message contains the invalid one.
        let wrong = patterns.iter().find(|pattern| Regex::new(std::slice::from_ref(pattern), &options).is_err());
        let shown = String::from_utf8_lossy(wrong.or(patterns.first()).map_or(&b""[..], Vec::as_slice)).into_owned();
        Failure::Other(format!("{shown}: {error}"))
    })
}

/// Reads the lines of a pattern file.
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
