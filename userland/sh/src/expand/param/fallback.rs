//! `${name:-word}` and related operators: replacements for an unset or a set parameter.

use super::Content;
use super::label::{shown_index, target_name};
use crate::expand::lossy;
use crate::expand::word::{Out, PartContext};
use crate::ir::{Bytes, Index, Name, Op, Param, Target, Test, Word};
use crate::state::{EvalResult, Shell, Unwind};
use crate::vars::Key;

impl Shell {
    /// `:-`, `:=`, `:?`, `:+` and the same without the colon.
    pub(super) fn apply_test(
        &mut self,
        param: &Param,
        meant: (&Target, &Index),
        content: Content,
        out: &mut Out,
        context: PartContext,
    ) -> EvalResult {
        let Op::Test { kind, colon, word } = &param.op else { return Ok(()) };
        let counts = self.counts_as_set(&content, *colon, context.quoted || out.mode != crate::expand::Mode::Fields);
        match (kind, counts) {
            (Test::Alternative, true) | (Test::Default, false) => self.expand_operand(word, out, context),
            // Without elements the expansion produces no word, not even an empty one.
            (Test::Alternative, false)
                if context.quoted
                    && matches!(content, Content::Many { ref values, star: false } if values.is_empty()) =>
            {
                Ok(())
            }
            (Test::Alternative, false) if context.quoted => self.emit(b"", out, context),
            (Test::Alternative, false) => Ok(()),
            (Test::Default | Test::Assign | Test::Error, true) => self.emit_content(content, out, context),
            (Test::Assign, false) => self.expand_default(param, meant, word, out, context),
            (Test::Error, false) => {
                let text = match (word.raw.is_empty(), *colon) {
                    (true, true) => b"parameter null or not set".to_vec(),
                    (true, false) => b"parameter not set".to_vec(),
                    (false, _) => self.expand_error_message(word)?,
                };
                let name = lossy(&target_name(&param.target)).into_owned();
                let (mark, index) = (if param.indirect { "!" } else { "" }, shown_index(&param.index));
                self.abort_unset(format!("{mark}{name}{index}: {}", lossy(&text)))
            }
        }
    }

    /// Returns whether the parameter counts as set; with a colon, as set and not empty. `joined` is set if the elements of
    /// `*` are one text.
    fn counts_as_set(&self, content: &Content, colon: bool, joined: bool) -> bool {
        match content {
            Content::Unset => false,
            Content::One(text) => !colon || !text.is_empty(),
            Content::Many { values, star } => match values.as_slice() {
                [] => false,
                [only] => !colon || !only.is_empty(),
                // Joined by nothing, empty ones are an empty text.
                several if *star && colon && joined && self.ifs().is_empty() => {
                    several.iter().any(|value| !value.is_empty())
                }
                _ => true,
            },
        }
    }

    /// Expands `:=` of an unset parameter: assigns the word and adds the new value.
    fn expand_default(
        &mut self,
        param: &Param,
        meant: (&Target, &Index),
        word: &Word,
        out: &mut Out,
        context: PartContext,
    ) -> EvalResult {
        if param.indirect && !matches!(meant, (Target::Var(_), Index::None)) {
            let name = [&target_name(meant.0)[..], shown_index(meant.1).as_bytes()].concat();
            return self.discard([&name[..], b": invalid variable name"].concat());
        }
        let Target::Var(name) = meant.0 else {
            let name = lossy(&target_name(&param.target)).into_owned();
            return self.discard(format!("${name}: cannot assign in this way"));
        };
        let value = self.expand_text(word)?;
        self.assign_default(name, meant.1, value)?;
        // The attributes of the variable may have changed the value.
        let value = self.content(meant.0, meant.1)?;
        self.emit_content(value, out, context)?;
        if &**name == b"IFS" {
            out.forget_ifs();
        }
        Ok(())
    }

    /// Expands the operand of `:-` and the related operators. It is split like any expansion unless it is quoted.
    fn expand_operand(&mut self, word: &Word, out: &mut Out, context: PartContext) -> EvalResult {
        // The result is a word even if it consists of no elements.
        out.present |= context.quoted;
        let inner = PartContext { quoted: context.quoted, operand: !context.quoted };
        self.expand_parts(&word.parts, out, inner)
    }

    /// Expands the word after `?`. Quotes quote in any context, and split fields are joined by blanks.
    fn expand_error_message(&mut self, word: &Word) -> EvalResult<Bytes> {
        let again = crate::parse::word_from_text(&word.raw);
        let mut out = Out::new(crate::expand::Mode::Fields, self);
        let parts = again.as_ref().unwrap_or(word).parts.as_slice();
        for part in parts {
            self.expand_part(part, &mut out, PartContext::default())?;
        }
        out.end_present();
        let words: Vec<Bytes> = out.done.into_iter().map(|field| field.text).collect();
        Ok(words.join(&b' '))
    }

    fn assign_default(&mut self, name: &Name, index: &Index, value: Bytes) -> EvalResult {
        let key = match index {
            Index::One(subscript) => self.key_of(name, subscript)?,
            Index::None => Key::Whole,
            index => {
                let message = format!("{}{}: bad array subscript", lossy(name), shown_index(index));
                return self.discard(message);
            }
        };
        if self.assign(name, key, false, value)? {
            return Ok(());
        }
        self.status = 1;
        Err(if self.options.errexit { Unwind::Exit } else { Unwind::Discard })
    }
}
