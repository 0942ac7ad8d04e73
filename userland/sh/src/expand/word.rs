//! Walking the pieces of a word and collecting fields, plain text or patterns.

use crate::ir::{Arg, Bytes, Index, Op, Part, Target, Word};
use crate::pattern;
use crate::state::{Run, Shell};

/// How bash marks quoted nothing.
const NOTHING: u8 = 0x7f;

/// What the pieces become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Arguments: unquoted expansions are split, and patterns become names of files.
    Fields,
    /// One string.
    Text,
    /// One pattern, in which quoted text is escaped.
    Pattern,
    /// One regular expression, in which quoted text is escaped.
    Regex,
    /// What is put in place of a match, in which quoted text has no `&` that means the match.
    Replacement,
}

/// One argument in the making.
#[derive(Debug, Default, Clone)]
pub(crate) struct Field {
    pub(crate) text: Bytes,
    /// The text as a pattern, once it holds an unquoted `*`, `?` or `[`.
    pub(crate) glob: Option<Bytes>,
}

/// Collects pieces.
#[derive(Debug)]
pub(crate) struct Out {
    pub(crate) mode: Mode,
    pub(crate) done: Vec<Field>,
    pub(crate) current: Field,
    /// The current field exists even when it is empty, because something in it was quoted.
    pub(crate) present: bool,
    /// The last byte seen was white space that ended a field.
    after_space: bool,
    /// What is expanded is the body of a here-document.
    pub(crate) document: bool,
    /// Elements stand in the same quotes, with which also what `*` yields is kept apart where an operator edits it.
    pub(super) among_elements: bool,
    /// Quoted nothing within an operand leaves a mark, as it does in patterns of `case`.
    pub(super) marks_nothing: bool,
    /// What is expanded is a pattern of `case`, of which quoted elements leave only what comes up to the first of them:
    /// the length of that.
    pub(super) arm: bool,
    pub(super) arm_end: Option<usize>,
    extended: bool,
    ifs: Option<Bytes>,
}

impl Out {
    pub(crate) fn new(mode: Mode, shell: &Shell) -> Self {
        Self {
            mode,
            done: Vec::new(),
            current: Field::default(),
            present: false,
            after_space: false,
            document: false,
            among_elements: false,
            marks_nothing: false,
            arm: false,
            arm_end: None,
            extended: shell.options.extglob,
            ifs: None,
        }
    }

    /// Room for `extra` more bytes. Big strings are where a script runs out of memory.
    fn reserve(&mut self, extra: usize) -> Result<(), usize> {
        let text = &mut self.current.text;
        text.try_reserve(extra).map_err(|_| text.len().saturating_add(extra))
    }

    /// Text that was quoted.
    pub(crate) fn quoted(&mut self, text: &[u8]) -> Result<(), usize> {
        self.reserve(text.len())?;
        self.present = true;
        self.after_space = false;
        match self.mode {
            Mode::Fields => {
                self.current.text.extend_from_slice(text);
                if let Some(glob) = &mut self.current.glob {
                    if text.contains(&b'/') && pattern::leaves_open(glob) {
                        // A quoted slash does not end a bracket.
                        text.split_inclusive(|&byte| byte == b'/').for_each(|piece| {
                            let (body, slash) = match piece.split_last() {
                                Some((b'/', body)) => (body, &b"\\/"[..]),
                                _ => (piece, &b""[..]),
                            };
                            pattern::escape_into(glob, body);
                            glob.extend_from_slice(slash);
                        });
                    } else {
                        pattern::escape_into(glob, text);
                    }
                }
            }
            Mode::Text => self.current.text.extend_from_slice(text),
            Mode::Pattern => pattern::escape_into(&mut self.current.text, text),
            Mode::Replacement => {
                for &byte in text {
                    if matches!(byte, b'&' | b'\\') {
                        self.current.text.push(b'\\');
                    }
                    self.current.text.push(byte);
                }
            }
            Mode::Regex if within_brackets(&self.current.text) => self.current.text.extend_from_slice(text),
            Mode::Regex => {
                for &byte in text {
                    if b"\\.[]{}()*+?^$|".contains(&byte) {
                        self.current.text.push(b'\\');
                    }
                    self.current.text.push(byte);
                }
            }
        }
        Ok(())
    }

    /// Unquoted text of the script itself: never split.
    pub(crate) fn literal(&mut self, text: &[u8]) -> Result<(), usize> {
        self.reserve(text.len())?;
        if !text.is_empty() {
            self.present = true;
            self.after_space = false;
        }
        if self.mode == Mode::Fields {
            self.plain(text);
        } else {
            self.current.text.extend_from_slice(text);
        }
        Ok(())
    }

    /// Unquoted text in a field, which may make it a pattern.
    fn plain(&mut self, text: &[u8]) {
        let field = &mut self.current;
        // A backslash that an expansion yields quotes in a pattern, should the field become one.
        if field.glob.is_none() && (text.contains(&b'\\') || pattern::has_special(text, self.extended)) {
            let mut glob = Bytes::new();
            pattern::escape_into(&mut glob, &field.text);
            field.glob = Some(glob);
        }
        if let Some(glob) = &mut field.glob {
            glob.extend_from_slice(text);
        }
        field.text.extend_from_slice(text);
    }

    /// The result of an unquoted expansion: split where arguments are wanted.
    pub(crate) fn expanded(&mut self, shell: &Shell, text: &[u8]) -> Result<(), usize> {
        self.reserve(text.len())?;
        if self.mode != Mode::Fields {
            self.current.text.extend_from_slice(text);
            return Ok(());
        }
        if self.ifs.is_none() {
            self.ifs = Some(shell.ifs());
        }
        let ifs = self.ifs.take().unwrap_or_default();
        let mut rest = text;
        let wide = !ifs.is_ascii();
        loop {
            let found = if wide { wide_separator(rest, &ifs) } else { rest.iter().position(|b| ifs.contains(b)) };
            let Some(at) = found else { break };
            let (before, after) = rest.split_at(at);
            if !before.is_empty() {
                self.present = true;
                self.after_space = false;
                self.plain(before);
            }
            let Some(&separator) = after.first() else { break };
            let len = if wide { pattern::char_len(after) } else { 1 };
            rest = after.get(len..).unwrap_or_default();
            if matches!(separator, b' ' | b'\t' | b'\n') {
                if self.present {
                    self.end_field();
                    self.after_space = true;
                }
            } else if self.after_space && !self.present {
                self.after_space = false;
            } else {
                self.end_field();
                self.after_space = false;
            }
        }
        if !rest.is_empty() {
            self.present = true;
            self.after_space = false;
            self.plain(rest);
        }
        self.ifs = Some(ifs);
        Ok(())
    }

    /// Ends the current field, empty or not.
    pub(crate) fn end_field(&mut self) {
        self.done.push(std::mem::take(&mut self.current));
        self.present = false;
    }

    /// Ends the current field if there is one.
    pub(crate) fn end_present(&mut self) {
        if self.present || !self.current.text.is_empty() {
            self.end_field();
        }
    }
}

/// Whether a part stands for all elements of something, one word each.
fn gives_elements(part: &Part) -> bool {
    let Part::Param(param) = part else { return false };
    match param.op {
        Op::Test { .. } | Op::Length => false,
        Op::Names { star } | Op::Keys { star } => !star,
        _ => matches!((&param.target, &param.index), (Target::Special(b'@'), _) | (Target::Var(_), Index::At)),
    }
}

/// Whether a regular expression ends within brackets, where a backslash would mean itself.
fn within_brackets(text: &[u8]) -> bool {
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        match byte {
            b'\\' => at += 1,
            b'[' => {
                at += if text.get(at + 1) == Some(&b'^') { 2 } else { 1 };
                // A bracket that comes first closes nothing.
                let rest = text.get(at + 1..).unwrap_or_default();
                match rest.iter().position(|&b| b == b']') {
                    Some(close) => at += close + 1,
                    None => return true,
                }
            }
            _ => {}
        }
        at += 1;
    }
    false
}

/// Where the first separator is, when some of them take more than one byte.
fn wide_separator(text: &[u8], ifs: &[u8]) -> Option<usize> {
    let chars = |text: &'_ [u8]| -> Vec<(usize, usize)> {
        let mut at = 0;
        std::iter::from_fn(|| {
            let len = pattern::char_len(text.get(at..)?).max(1);
            at += len;
            (at <= text.len()).then_some((at - len, len))
        })
        .collect()
    };
    let separators: Vec<&[u8]> = chars(ifs).into_iter().filter_map(|(at, len)| ifs.get(at..at + len)).collect();
    let is_separator = |(at, len): &(usize, usize)| text.get(*at..at + len).is_some_and(|c| separators.contains(&c));
    chars(text).into_iter().find(is_separator).map(|(at, _)| at)
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

    /// The body of a here-document.
    pub(crate) fn expand_document(&mut self, word: &Word) -> Run<Bytes> {
        let mut out = Out::new(Mode::Text, self);
        out.document = true;
        self.expand_parts(&word.parts, &mut out, Place::default())?;
        Ok(out.current.text)
    }

    /// One pattern in which quoted text means itself.
    pub(crate) fn expand_pattern(&mut self, word: &Word) -> Run<Bytes> {
        self.expand_as(&word.parts, Mode::Pattern)
    }

    /// A pattern of `case`. There bash leaves its mark for quoted nothing in the operand of an expansion, unless the mark
    /// is all, or the word has quoted nothing before it.
    pub(crate) fn expand_arm(&mut self, word: &Word) -> Run<Bytes> {
        let odd = |part: &Part| match part {
            Part::Param(param) => matches!(param.op, Op::Test { .. }),
            Part::Double(inner) => inner.iter().any(gives_elements),
            _ => false,
        };
        if !word.parts.iter().any(odd) {
            return self.expand_pattern(word);
        }
        let mut out = Out::new(Mode::Pattern, self);
        out.arm = true;
        out.marks_nothing = true;
        for part in &word.parts {
            let before = out.current.text.len();
            self.expand_part(part, &mut out, Place::default())?;
            let quoted = matches!(part, Part::Quoted(_) | Part::Double(_));
            out.marks_nothing &= !quoted || out.current.text.len() > before;
        }
        let mut text = out.current.text;
        text.truncate(out.arm_end.unwrap_or(usize::MAX));
        Ok(if text == [NOTHING] { Bytes::new() } else { text })
    }

    /// Expands the operand of an expansion in such a pattern.
    pub(super) fn expand_marked(&mut self, parts: &[Part], out: &mut Out, place: Place) -> Run {
        for part in parts {
            let before = out.current.text.len();
            self.expand_part(part, out, place)?;
            let quoted = match part {
                Part::Quoted(_) => true,
                Part::Double(inner) => !inner.iter().any(gives_elements),
                _ => false,
            };
            if quoted && out.current.text.len() == before {
                out.current.text.push(NOTHING);
            }
        }
        Ok(())
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
            Part::Double(inner) => {
                if inner.is_empty() {
                    out.present = true;
                }
                // A pattern or fields: what is in the quotes is quoted, whatever surrounds them.
                let place = Place { quoted: true, operand: false };
                if !inner.iter().any(gives_elements) {
                    return self.expand_parts(inner, out, place);
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
                let value = self.evaluate(arith)?;
                self.emit(value.to_string().as_bytes(), out, place)
            }
            Part::Process { output, body } => {
                let path = self.process_substitution(*output, body)?;
                let done = out.quoted(&path);
                self.fits(done)
            }
        }
    }

    /// Expands what stands between double quotes; says whether it made a word although it may have no text.
    fn expand_elements(&mut self, parts: &[Part], out: &mut Out, place: Place) -> Run<bool> {
        let mut words = false;
        for part in parts {
            let operand = matches!(part, Part::Param(param) if matches!(param.op, Op::Test { .. }));
            let before = std::mem::replace(&mut out.present, false);
            self.expand_part(part, out, place)?;
            words |= out.present && (operand || gives_elements(part));
            out.present |= before;
        }
        Ok(words)
    }

    /// Adds the result of an expansion.
    pub(crate) fn emit(&mut self, text: &[u8], out: &mut Out, place: Place) -> Run {
        let done = if place.quoted { out.quoted(text) } else { out.expanded(self, text) };
        self.fits(done)
    }
}
