//! Effects of the special variables.

use std::rc::Rc;

use super::{Machine, Outcome, fatal};
use crate::array::Key;
use crate::compile::slot;
use crate::input::Ending;
use crate::pattern::Pattern;
use crate::record::MAX_FIELDS;
use crate::split::{Splitter, Width};
use crate::value::Value;

/// Special variables in their parsed form.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) field_separator: Vec<u8>,
    pub(crate) record_separator: Vec<u8>,
    pub(crate) subscript_separator: Vec<u8>,
    /// `CONVFMT` and `OFMT`.
    pub(crate) conversion: Rc<[u8]>,
    pub(crate) output: Rc<[u8]>,
    pub(crate) ignore_case: bool,
    pub(crate) ending: Ending,
    pub(crate) splitting: Splitting,
}

/// The variable that controls field splitting: the last one assigned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Splitting {
    Separator,
    Widths,
    Content,
}

impl Splitting {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Separator => "FS",
            Self::Widths => "FIELDWIDTHS",
            Self::Content => "FPAT",
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            field_separator: b" ".to_vec(),
            record_separator: b"\n".to_vec(),
            subscript_separator: b"\x1c".to_vec(),
            conversion: Rc::from(&b"%.6g"[..]),
            output: Rc::from(&b"%.6g"[..]),
            ignore_case: false,
            ending: Ending::Byte(b'\n'),
            splitting: Splitting::Separator,
        }
    }
}

const NF: u32 = slot("NF");
const FS: u32 = slot("FS");
const OFS: u32 = slot("OFS");
const ORS: u32 = slot("ORS");
const RS: u32 = slot("RS");
const SUBSEP: u32 = slot("SUBSEP");
const CONVFMT: u32 = slot("CONVFMT");
const OFMT: u32 = slot("OFMT");
const IGNORECASE: u32 = slot("IGNORECASE");
const FIELDWIDTHS: u32 = slot("FIELDWIDTHS");
const FPAT: u32 = slot("FPAT");

impl Machine {
    /// The value of a special variable.
    pub(super) fn special(&mut self, slot: u32) -> Outcome<Value> {
        if slot == NF {
            let count = self.record.count();
            self.record_error()?;
            return Ok(Value::Number(count as f64));
        }
        Ok(self.globals[slot as usize].clone())
    }

    /// Error of the last field split.
    #[inline]
    pub(super) fn record_error(&mut self) -> Outcome<()> {
        match self.record.trouble.take() {
            Some(trouble) => fatal(trouble),
            None => Ok(()),
        }
    }

    pub(super) fn set_special(&mut self, slot: u32, value: Value) -> Outcome<()> {
        let text = |value: &Value, this: &Self| value.to_text(&this.settings.conversion).bytes().to_vec();
        match slot {
            NF => {
                let count = value.number();
                if count < 0.0 || count.is_nan() {
                    return fatal("NF set to negative value");
                }
                if count > MAX_FIELDS as f64 {
                    return fatal("NF set to a value that is too large");
                }
                self.record.set_count(count as usize);
                return Ok(());
            }
            OFS => {
                self.record.rebuild(&self.settings.field_separator, &self.settings.conversion);
                self.settings.field_separator = text(&value, self);
            }
            ORS => self.settings.record_separator = text(&value, self),
            SUBSEP => self.settings.subscript_separator = text(&value, self),
            CONVFMT => self.settings.conversion = Rc::from(text(&value, self)),
            OFMT => self.settings.output = Rc::from(text(&value, self)),
            IGNORECASE => {
                let on = value.is_true();
                if on != self.settings.ignore_case {
                    self.settings.ignore_case = on;
                    self.globals[slot as usize] = value;
                    self.renew_splitter()?;
                    return self.renew_ending();
                }
            }
            FS | FIELDWIDTHS | FPAT => {
                self.settings.splitting = match slot {
                    FS => Splitting::Separator,
                    FIELDWIDTHS => Splitting::Widths,
                    _ => Splitting::Content,
                };
                self.globals[slot as usize] = value;
                if let Value::Array(procinfo) = &self.globals[crate::compile::slot("PROCINFO") as usize] {
                    let name = Value::text(self.settings.splitting.name().as_bytes());
                    procinfo.borrow_mut().set(&Key::of_bytes(b"FS"), name);
                }
                return self.renew_splitter();
            }
            RS => {
                self.globals[slot as usize] = value;
                self.renew_ending()?;
                return self.renew_splitter();
            }
            _ => {}
        }
        self.globals[slot as usize] = value;
        Ok(())
    }

    fn renew_ending(&mut self) -> Outcome<()> {
        let separator = self.globals[RS as usize].to_text(&self.settings.conversion);
        self.check_pattern(separator.bytes())?;
        if let Value::Regex(pattern) = &self.globals[RS as usize] {
            self.settings.ending = Ending::Pattern(Rc::clone(pattern));
            return Ok(());
        }
        self.settings.ending = Ending::of(separator.bytes(), self.settings.ignore_case);
        Ok(())
    }

    /// Reports a separator that is not a valid regular expression.
    fn check_pattern(&self, separator: &[u8]) -> Outcome<()> {
        if separator.len() > 1
            && let Err(error) = Pattern::check(separator)
        {
            return fatal(format!("invalid regexp: {error}: /{}/", String::from_utf8_lossy(separator)));
        }
        Ok(())
    }

    fn renew_splitter(&mut self) -> Outcome<()> {
        let ignore_case = self.settings.ignore_case;
        let splitter = match self.settings.splitting {
            Splitting::Separator => {
                let separator = self.globals[FS as usize].to_text(&self.settings.conversion);
                self.check_pattern(separator.bytes())?;
                match &self.globals[FS as usize] {
                    Value::Regex(pattern) => Splitter::Separator(Rc::clone(pattern)),
                    _ => Splitter::of(separator.bytes(), ignore_case),
                }
            }
            Splitting::Widths => {
                let widths = self.globals[FIELDWIDTHS as usize].to_text(&self.settings.conversion);
                Splitter::Widths(Rc::from(self.widths(widths.bytes())?))
            }
            Splitting::Content => {
                let pattern = self.globals[FPAT as usize].to_text(&self.settings.conversion);
                self.check_pattern(pattern.bytes())?;
                Splitter::Content(Rc::new(Pattern::new(pattern.bytes().to_vec(), ignore_case)))
            }
        };
        // A paragraph's lines are separate fields, unless blanks separate them anyway.
        let newline =
            matches!(self.settings.ending, Ending::Paragraph) && self.settings.splitting == Splitting::Separator;
        self.record.set_splitter(splitter, newline);
        self.record_error()
    }

    fn widths(&self, text: &[u8]) -> Outcome<Vec<Width>> {
        let mut widths = Vec::new();
        let words = text.split(|byte| matches!(byte, b' ' | b'\t' | b'\n')).filter(|word| !word.is_empty());
        for word in words {
            let shown = String::from_utf8_lossy(word).into_owned();
            let at = widths.len() + 1;
            let invalid = || fatal(format!("invalid FIELDWIDTHS value, for field {at}, near `{shown}'"));
            if widths.last().is_some_and(|width: &Width| width.chars.is_none()) {
                return fatal("`*' must be the last designator in FIELDWIDTHS");
            }
            if word == b"*" {
                widths.push(Width { skip: 0, chars: None });
                continue;
            }
            let (skip, width) = match shown.split_once(':') {
                Some((skip, width)) => (skip.parse().ok(), width),
                None => (Some(0), shown.as_str()),
            };
            let chars = if width == "*" { Some(None) } else { width.parse().ok().map(Some) };
            match (skip, chars) {
                (Some(skip), Some(chars)) if chars != Some(0) => widths.push(Width { skip, chars }),
                _ => return invalid(),
            }
        }
        Ok(widths)
    }
}
