//! Expands the parts of a word to fields, plain text or patterns.

pub(crate) use super::fields::{Mode, Out};
use crate::ir::{Arg, Bytes, Index, Op, Part, Target, Word};
use crate::pattern;
use crate::state::{EvalResult, Shell, Unwind};

/// Returns whether a part expands to all elements of an array or to `$@`, one word each.
fn gives_elements(part: &Part) -> bool {
    let Part::Param(param) = part else { return false };
    match param.op {
        Op::Test { .. } | Op::Length => false,
        Op::Names { star } | Op::Keys { star } => !star,
        _ => matches!((&param.target, &param.index), (Target::Special(b'@'), _) | (Target::Var(_), Index::At)),
    }
}

/// The context of the parts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PartContext {
    /// Between double quotes.
    pub(crate) quoted: bool,
    /// In the operand of an expansion, whose unquoted text is split like the expansion itself.
    pub(crate) operand: bool,
}

impl Shell {
    /// Ends the shell if memory ran out.
    pub(crate) fn fits<T>(&mut self, result: Result<T, usize>) -> EvalResult<T> {
        match result {
            Ok(value) => Ok(value),
            Err(requested) => self.out_of_memory(requested),
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
    pub(crate) fn expand_args(&mut self, args: &[Arg]) -> EvalResult<Vec<Bytes>> {
        self.expand_all(args.iter().filter_map(|arg| if let Arg::Word(word) = arg { Some(word) } else { None }))
    }

    pub(crate) fn expand_words(&mut self, words: &[Word]) -> EvalResult<Vec<Bytes>> {
        self.expand_all(words.iter())
    }

    /// The arguments that words make. Patterns become names of files only when all words are expanded, which may make files.
    fn expand_all<'w>(&mut self, words: impl Iterator<Item = &'w Word>) -> EvalResult<Vec<Bytes>> {
        let mut fields = Vec::with_capacity(words.size_hint().1.unwrap_or_default());
        let outer = self.expansion.pending_globs.replace(Vec::new());
        let expanded = words.into_iter().try_for_each(|word| self.expand_fields(word, &mut fields));
        let globs = std::mem::replace(&mut self.expansion.pending_globs, outer).unwrap_or_default();
        expanded?;
        if globs.is_empty() {
            return Ok(fields);
        }
        let (mut all, mut globs) = (Vec::with_capacity(fields.len()), globs.into_iter().peekable());
        for (at, field) in fields.into_iter().enumerate() {
            match globs.next_if(|(context, _)| *context == at) {
                Some((_, glob)) => self.expand_glob(field, &glob, &mut all)?,
                None => all.push(field),
            }
        }
        Ok(all)
    }

    /// Appends the arguments that one word makes.
    #[inline(never)]
    pub(crate) fn expand_fields(&mut self, word: &Word, into: &mut Vec<Bytes>) -> EvalResult {
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
    pub(super) fn fields_of(&mut self, parts: &[Part], into: &mut Vec<Bytes>) -> EvalResult {
        let mut out = Out::new(Mode::Fields, self);
        self.expand_parts(parts, &mut out, PartContext::default())?;
        if out.present {
            out.end_field();
        }
        for field in out.done {
            match field.glob {
                Some(glob) if !self.options.noglob && pattern::is_glob(&glob, self.options.extglob) => {
                    match &mut self.expansion.pending_globs {
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
    pub(crate) fn expand_text(&mut self, word: &Word) -> EvalResult<Bytes> {
        match word.parts.as_slice() {
            [] => Ok(Bytes::new()),
            [Part::Lit(text) | Part::Quoted(text)] => Ok(text.clone()),
            parts => self.expand_as(parts, Mode::Text),
        }
    }

    /// One pattern in which quoted text means itself.
    pub(crate) fn expand_pattern(&mut self, word: &Word) -> EvalResult<Bytes> {
        self.expand_as(&word.parts, Mode::Pattern)
    }

    pub(crate) fn expand_as(&mut self, parts: &[Part], mode: Mode) -> EvalResult<Bytes> {
        let mut out = Out::new(mode, self);
        self.expand_parts(parts, &mut out, PartContext::default())?;
        Ok(out.current.text)
    }

    pub(crate) fn expand_parts(&mut self, parts: &[Part], out: &mut Out, context: PartContext) -> EvalResult {
        for part in parts {
            self.expand_part(part, out, context)?;
        }
        Ok(())
    }

    pub(super) fn expand_part(&mut self, part: &Part, out: &mut Out, context: PartContext) -> EvalResult {
        match part {
            Part::Lit(text) | Part::Quoted(text) if context.quoted => {
                let done = out.quoted(text);
                self.fits(done)
            }
            Part::Lit(text) if context.operand => {
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
            Part::Param(param) => self.expand_param(param, out, context),
            Part::Command(substitution) => {
                let text = self.deeper(|shell| shell.substitute(substitution))?;
                self.emit(&text, out, context)
            }
            Part::Arith(arith) => {
                let value = match self.evaluate(arith) {
                    // POSIX treats it as an error of the language.
                    Err(Unwind::Discard) if self.options.posix => return self.end_after_expansion_error(),
                    evaluated => evaluated?,
                };
                self.emit(value.to_string().as_bytes(), out, context)
            }
            Part::Process { output, body } => {
                let path = self.process_substitution(*output, body)?;
                let done = out.quoted(&path);
                self.fits(done)
            }
        }
    }

    /// Expands the parts between double quotes.
    fn expand_double(&mut self, inner: &[Part], out: &mut Out) -> EvalResult {
        if inner.is_empty() {
            out.present = true;
        }
        // In patterns and fields, text in quotes is quoted in any context.
        let context = PartContext { quoted: true, operand: false };
        if !inner.iter().any(gives_elements) {
            return self.expand_parts(inner, out, context);
        }
        let before = (out.present, out.done.len(), out.current.text.len());
        let mut words = false;
        for part in inner {
            let present = (std::mem::replace(&mut out.present, false), out.done.len());
            self.expand_part(part, out, context)?;
            words |= out.present && gives_elements(part);
            out.present |= present.0 && present.1 == out.done.len();
        }
        // Without elements and other text the quotation produces no word.
        if !words && (before.1, before.2) == (out.done.len(), out.current.text.len()) {
            out.present = before.0;
        }
        Ok(())
    }

    /// Adds the result of an expansion.
    pub(crate) fn emit(&mut self, text: &[u8], out: &mut Out, context: PartContext) -> EvalResult {
        let done = if context.quoted { out.quoted(text) } else { out.expanded(self, text) };
        self.fits(done)
    }
}
