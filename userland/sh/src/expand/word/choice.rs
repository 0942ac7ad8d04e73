//! What `case` chooses by: its subject and the patterns of its arms.

use super::{Place, gives_elements};
use crate::expand::fields::{Mode, NOTHING, Out};
use crate::ir::{Bytes, Op, Part, Word};
use crate::state::{Run, Shell};

impl Shell {
    /// The subject of `case`.
    pub(crate) fn expand_subject(&mut self, word: &Word) -> Run<Bytes> {
        if matches!(word.parts.as_slice(), [] | [Part::Lit(_) | Part::Quoted(_)]) {
            return self.expand_text(word);
        }
        if word.parts.iter().any(|part| self.holds_elements(part)) && self.splits_subject(&word.parts) {
            return self.expand_split_subject(word);
        }
        let mut out = Out::new(Mode::Text, self);
        out.subject = true;
        self.expand_parts(&word.parts, &mut out, Place::default())?;
        Ok(out.current.text)
    }

    /// Whether a subject with elements in it is split: where they stand between double quotes and something beside them, and
    /// wherever `IFS` begins with no blank.
    fn splits_subject(&self, parts: &[Part]) -> bool {
        match self.ifs().first() {
            Some(b' ') => parts.len() > 1 && parts.iter().any(|part| self.quotes_elements(part)),
            first => first.is_some(),
        }
    }

    /// A subject of `case` that bash splits, all of it but the elements themselves; what comes of that is joined by blanks.
    /// Nothing between two of those leaves its mark.
    #[inline(never)]
    fn expand_split_subject(&mut self, word: &Word) -> Run<Bytes> {
        let mut out = Out::new(Mode::Fields, self);
        for part in &word.parts {
            let unedited = matches!(part, Part::Param(param) if matches!(param.op, Op::None));
            match part {
                Part::Lit(text) => self.emit(text, &mut out, Place::default())?,
                part => {
                    let quoted = unedited && gives_elements(part);
                    self.expand_part(part, &mut out, Place { quoted, operand: false })?;
                }
            }
        }
        out.end_present();
        let several = out.done.len() > 1;
        let mark = |text: Bytes| if several && text.is_empty() { vec![NOTHING] } else { text };
        let words: Vec<Bytes> = out.done.into_iter().map(|field| mark(field.text)).collect();
        Ok(words.join(&b' '))
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
    pub(in crate::expand) fn expand_marked(&mut self, parts: &[Part], out: &mut Out, place: Place) -> Run {
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

    /// Whether a part stands for elements, or holds a part that does.
    fn holds_elements(&self, part: &Part) -> bool {
        match part {
            Part::Double(inner) => inner.iter().any(|part| self.holds_elements(part)),
            Part::Param(param) => match &param.op {
                Op::Test { word, .. } => {
                    self.tests_elements(part) || word.parts.iter().any(|part| self.holds_elements(part))
                }
                _ => gives_elements(part),
            },
            _ => false,
        }
    }

    /// Whether a part stands for elements between double quotes, or holds a part that does.
    fn quotes_elements(&self, part: &Part) -> bool {
        match part {
            Part::Double(inner) => inner.iter().any(|part| self.holds_elements(part)),
            Part::Param(param) => match &param.op {
                Op::Test { word, .. } => word.parts.iter().any(|part| self.quotes_elements(part)),
                _ => false,
            },
            _ => false,
        }
    }
}
