//! Walking the pieces of a word and collecting fields, plain text or patterns.

mod choice;

pub(crate) use super::fields::{Mode, Out};
use crate::ir::{Arg, Bytes, Index, Op, Part, Target, Test, Word};
use crate::pattern;
use crate::state::{Run, Shell, Stop};
use crate::vars::Value;

/// Whether a part stands for all elements of something, one word each.
fn gives_elements(part: &Part) -> bool {
    let Part::Param(param) = part else { return false };
    match param.op {
        Op::Test { .. } | Op::Length => false,
        Op::Names { star } | Op::Keys { star } => !star,
        _ => matches!((&param.target, &param.index), (Target::Special(b'@'), _) | (Target::Var(_), Index::At)),
    }
}

/// Whether a part has an operator that makes a word beside elements, even an empty one, unless there is nothing to edit.
fn edits_word(part: &Part) -> bool {
    let Part::Param(param) = part else { return false };
    let edits = matches!(param.op, Op::Substring { .. } | Op::Replace { .. } | Op::Case { .. });
    edits || matches!(param.op, Op::Strip { .. } | Op::Transform(_))
}

/// Whether a part beside elements makes a word even where it comes out as nothing.
fn makes_empty_word(part: &Part) -> bool {
    let Part::Param(param) = part else { return false };
    match &param.op {
        Op::Test { kind: Test::Assign, .. } => true,
        Op::Test { word, .. } => word.parts.iter().any(|part| match part {
            Part::Double(inner) => inner.iter().any(gives_elements),
            part => gives_elements(part),
        }),
        _ => false,
    }
}

/// Where the pieces stand.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Place {
    /// Between double quotes.
    pub(crate) quoted: bool,
    /// In the operand of an expansion, whose unquoted text is split like the expansion itself.
    pub(crate) operand: bool,
}

impl Shell {
    /// Turns what ran out of memory into the end of the shell.
    pub(crate) fn fits<T>(&mut self, result: Result<T, usize>) -> Run<T> {
        match result {
            Ok(value) => Ok(value),
            Err(wanted) => self.out_of_memory(wanted),
        }
    }

    /// The separators of words.
    pub(crate) fn ifs(&self) -> Bytes {
        match self.vars.get(b"IFS") {
            None => b" \t\n".to_vec(),
            Some(var) => var.scalar().cloned().unwrap_or_default(),
        }
    }

    /// The arguments that words make.
    #[inline(never)]
    pub(crate) fn expand_args(&mut self, args: &[Arg]) -> Run<Vec<Bytes>> {
        self.expand_all(args.iter().filter_map(|arg| if let Arg::Word(word) = arg { Some(word) } else { None }))
    }

    pub(crate) fn expand_words(&mut self, words: &[Word]) -> Run<Vec<Bytes>> {
        self.expand_all(words.iter())
    }

    /// The arguments that words make. Patterns become names of files only when all words are expanded, which may make files.
    fn expand_all<'w>(&mut self, words: impl Iterator<Item = &'w Word>) -> Run<Vec<Bytes>> {
        let mut fields = Vec::with_capacity(words.size_hint().1.unwrap_or_default());
        let outer = self.globs.replace(Vec::new());
        let expanded = words.into_iter().try_for_each(|word| self.expand_fields(word, &mut fields));
        let globs = std::mem::replace(&mut self.globs, outer).unwrap_or_default();
        expanded?;
        if globs.is_empty() {
            return Ok(fields);
        }
        let (mut all, mut globs) = (Vec::with_capacity(fields.len()), globs.into_iter().peekable());
        for (at, field) in fields.into_iter().enumerate() {
            match globs.next_if(|(place, _)| *place == at) {
                Some((_, glob)) => self.expand_glob(field, &glob, &mut all)?,
                None => all.push(field),
            }
        }
        Ok(all)
    }

    /// Appends the arguments that one word makes.
    #[inline(never)]
    pub(crate) fn expand_fields(&mut self, word: &Word, into: &mut Vec<Bytes>) -> Run {
        match word.parts.as_slice() {
            [Part::Lit(text)] if !word.braces && !pattern::is_pattern(text, self.options.extglob) => {
                into.push(text.clone());
                return Ok(());
            }
            [Part::Quoted(text)] => {
                into.push(text.clone());
                return Ok(());
            }
            _ => {}
        }
        if word.braces && self.options.braceexpand {
            return self.expand_braced(word, into);
        }
        self.fields_of(&word.parts, into)
    }

    #[inline(never)]
    pub(super) fn fields_of(&mut self, parts: &[Part], into: &mut Vec<Bytes>) -> Run {
        let mut out = Out::new(Mode::Fields, self);
        self.expand_parts(parts, &mut out, Place::default())?;
        if out.present {
            out.end_field();
        }
        for field in out.done {
            match field.glob {
                Some(glob) if !self.options.noglob && pattern::is_glob(&glob, self.options.extglob) => {
                    match &mut self.globs {
                        Some(globs) => {
                            globs.push((into.len(), glob));
                            into.push(field.text);
                        }
                        None => self.expand_glob(field.text, &glob, into)?,
                    }
                }
                _ => into.push(field.text),
            }
        }
        Ok(())
    }

    /// One string, as for the value of an assignment.
    #[inline(never)]
    pub(crate) fn expand_text(&mut self, word: &Word) -> Run<Bytes> {
        match word.parts.as_slice() {
            [] => Ok(Bytes::new()),
            [Part::Lit(text) | Part::Quoted(text)] => Ok(text.clone()),
            parts => self.expand_as(parts, Mode::Text),
        }
    }

    /// A value that is assigned. In it elements that an operator edits are joined as `*` joins them.
    pub(crate) fn expand_value(&mut self, word: &Word) -> Run<Bytes> {
        self.expand_assigned(word, false)
    }

    /// A value that an argument of `declare` and its kin assigns.
    pub(crate) fn expand_declared_value(&mut self, word: &Word) -> Run<Bytes> {
        self.expand_assigned(word, true)
    }

    fn expand_assigned(&mut self, word: &Word, argument: bool) -> Run<Bytes> {
        if matches!(word.parts.as_slice(), [] | [Part::Lit(_) | Part::Quoted(_)]) {
            return self.expand_text(word);
        }
        let mut out = Out::new(Mode::Text, self);
        out.assigned = true;
        out.argument = argument;
        out.loses_marks = !argument;
        self.expand_parts(&word.parts, &mut out, Place::default())?;
        Ok(out.current.text)
    }

    /// A value that `${name=word}` assigns.
    pub(super) fn expand_default_value(&mut self, word: &Word) -> Run<Bytes> {
        let mut out = Out::new(Mode::Text, self);
        out.loses_marks = true;
        self.expand_parts(&word.parts, &mut out, Place::default())?;
        Ok(out.current.text)
    }

    /// A word whose tildes stay, as those in lists of keys and values do.
    pub(crate) fn expand_without_tildes(&mut self, word: &Word) -> Run<Bytes> {
        if !word.parts.iter().any(|part| matches!(part, Part::Tilde(_))) {
            return self.expand_text(word);
        }
        let as_written = |part: &Part| match part {
            Part::Tilde(name) => Part::Lit([b"~", &name[..]].concat()),
            part => part.clone(),
        };
        let parts: Vec<Part> = word.parts.iter().map(as_written).collect();
        self.expand_as(&parts, Mode::Text)
    }

    /// The body of a here-document.
    pub(crate) fn expand_document(&mut self, word: &Word) -> Run<Bytes> {
        let mut out = Out::new(Mode::Text, self);
        out.document = true;
        out.keeps_lists = !word.parts.iter().any(gives_elements);
        self.expand_parts(&word.parts, &mut out, Place::default())?;
        Ok(out.current.text)
    }

    /// One pattern in which quoted text means itself.
    pub(crate) fn expand_pattern(&mut self, word: &Word) -> Run<Bytes> {
        self.expand_as(&word.parts, Mode::Pattern)
    }

    /// The pattern of an operator such as `%`, of a parameter that stands between double quotes if `quoted`.
    pub(super) fn expand_operator_pattern(&mut self, word: &Word, quoted: bool) -> Run<Bytes> {
        let mut out = Out::new(Mode::Pattern, self);
        out.operator = true;
        out.quotes_lists = quoted;
        self.expand_parts(&word.parts, &mut out, Place::default())?;
        Ok(out.current.text)
    }

    pub(crate) fn expand_as(&mut self, parts: &[Part], mode: Mode) -> Run<Bytes> {
        let mut out = Out::new(mode, self);
        self.expand_parts(parts, &mut out, Place::default())?;
        Ok(out.current.text)
    }

    pub(crate) fn expand_parts(&mut self, parts: &[Part], out: &mut Out, place: Place) -> Run {
        for part in parts {
            self.expand_part(part, out, place)?;
        }
        Ok(())
    }

    pub(super) fn expand_part(&mut self, part: &Part, out: &mut Out, place: Place) -> Run {
        match part {
            Part::Lit(text) | Part::Quoted(text) if place.quoted => {
                let done = out.quoted(text);
                self.fits(done)
            }
            Part::Lit(text) if place.operand => {
                let done = out.expanded(self, text);
                self.fits(done)
            }
            Part::Lit(text) => {
                let done = out.literal(text);
                self.fits(done)
            }
            Part::Quoted(text) => {
                let done = out.quoted(text);
                self.fits(done)
            }
            Part::Double(inner) => self.expand_double(inner, out),
            Part::Tilde(name) => {
                let home = self.tilde(name);
                let done = out.quoted(&home);
                self.fits(done)
            }
            Part::Param(param) => self.expand_param(param, out, place),
            Part::Command(substitution) => {
                let text = self.deeper(|shell| shell.substitute(substitution))?;
                self.emit(&text, out, place)
            }
            Part::Arith(arith) => {
                let value = match self.evaluate(arith) {
                    // POSIX calls it a mistake of the language.
                    Err(Stop::Discard) if self.options.posix => return self.end_of_expansion(),
                    evaluated => evaluated?,
                };
                self.emit(value.to_string().as_bytes(), out, place)
            }
            Part::Process { output, body } => {
                let path = self.process_substitution(*output, body)?;
                let done = out.quoted(&path);
                self.fits(done)
            }
        }
    }

    /// What stands between double quotes.
    fn expand_double(&mut self, inner: &[Part], out: &mut Out) -> Run {
        if inner.is_empty() {
            out.present = true;
        }
        // A pattern or fields: what is in the quotes is quoted, whatever surrounds them.
        let place = Place { quoted: true, operand: false };
        if !inner.iter().any(gives_elements) {
            if !inner.iter().any(|part| self.tests_elements(part)) {
                return self.expand_parts(inner, out, place);
            }
            let outer = std::mem::replace(&mut out.among_elements, true);
            let expanded = self.expand_parts(inner, out, place);
            out.among_elements = outer;
            return expanded;
        }
        let before = (out.present, out.done.len(), out.current.text.len());
        let outer = std::mem::replace(&mut out.among_elements, true);
        let elements = self.expand_elements(inner, out, place);
        out.among_elements = outer;
        let elements = elements?;
        // Where there are no elements and no text beside them, there is no word.
        if !elements && (before.1, before.2) == (out.done.len(), out.current.text.len()) {
            out.present = before.0;
        }
        Ok(())
    }

    /// Whether a part stands for elements that are there, with a word that would take their place.
    fn tests_elements(&self, part: &Part) -> bool {
        let Part::Param(param) = part else { return false };
        let Op::Test { kind: Test::Default | Test::Assign | Test::Error, .. } = param.op else { return false };
        match (&param.target, &param.index) {
            (Target::Special(b'@'), _) => !self.positional.is_empty(),
            (Target::Var(name), Index::At) => match self.vars.get(name).map(|var| &var.value) {
                Some(Value::Indexed(map)) => !map.is_empty(),
                Some(Value::Assoc(map)) => map.len() > 0,
                Some(Value::Text(_)) => true,
                _ => false,
            },
            _ => false,
        }
    }

    /// Expands what stands between double quotes; says whether it made a word although it may have no text.
    fn expand_elements(&mut self, parts: &[Part], out: &mut Out, place: Place) -> Run<bool> {
        let mut words = false;
        for part in parts {
            let makes_word = gives_elements(part) || makes_empty_word(part);
            let before = (std::mem::replace(&mut out.present, false), out.done.len());
            self.expand_part(part, out, place)?;
            words |= out.present && (makes_word || (edits_word(part) && !out.nothing));
            out.present |= before.0 && before.1 == out.done.len();
        }
        Ok(words)
    }

    /// Adds the result of an expansion.
    pub(crate) fn emit(&mut self, text: &[u8], out: &mut Out, place: Place) -> Run {
        let done = if place.quoted { out.quoted(text) } else { out.expanded(self, text) };
        self.fits(done)
    }
}
