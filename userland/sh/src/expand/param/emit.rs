//! Adds the values of a parameter to the words: as one text, as fields, or joined.

use super::Content;
use crate::expand::word::{Out, PartContext};
use crate::ir::Bytes;
use crate::state::{EvalResult, Shell};

impl Shell {
    /// Adds content as it is.
    pub(crate) fn emit_content(&mut self, content: Content, out: &mut Out, context: PartContext) -> EvalResult {
        match content {
            Content::Unset => self.emit(b"", out, context),
            Content::One(text) => self.emit(&text, out, context),
            Content::Many { values, star } => self.emit_many(&values, star, out, context),
        }
    }

    fn emit_many(&mut self, values: &[Bytes], star: bool, out: &mut Out, context: PartContext) -> EvalResult {
        let ifs = self.ifs();
        if out.mode != crate::expand::Mode::Fields || (star && context.quoted) {
            // `*` joins with the first separator, `@` with a blank.
            let first = ifs.get(..crate::character::char_len(&ifs)).unwrap_or_default();
            let joined = values.join(if star { first } else { b" " });
            return self.emit(&joined, out, context);
        }
        // A separator other than white space keeps the empty values between others.
        let keeps = ifs.first().is_some_and(|b| !matches!(b, b' ' | b'\t' | b'\n'));
        for (at, value) in values.iter().enumerate() {
            match at {
                0 => {}
                _ if context.quoted => out.end_field(),
                _ if keeps => out.end_at_separator(),
                _ if ifs.is_empty() => out.end_present(),
                _ => out.end_at_blank(),
            }
            self.emit(value, out, context)?;
        }
        Ok(())
    }
}
