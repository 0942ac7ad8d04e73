//! The form that words have when a script is printed, where it is another than they were written in.

use crate::ir::{Bytes, Substitution};
use crate::parse::Parser;

impl Parser<'_> {
    /// The text from `start` on, with what has another form in that form.
    pub(in crate::parse) fn reprinted(&self, start: usize) -> Bytes {
        // They are noted where they end, so those of this stretch are the newest.
        let newest = self.reprinted.iter().rev().take_while(|(from, ..)| *from >= start);
        let mut forms: Vec<_> = newest.filter(|(_, to, _)| *to <= self.pos).collect();
        forms.sort_by_key(|(from, to, _)| (*from, std::cmp::Reverse(*to)));
        let (mut out, mut at) = (Bytes::new(), start);
        for (from, to, form) in forms {
            if *from >= at {
                out.extend_from_slice(self.slice(at, *from));
                out.extend_from_slice(form);
                at = *to;
            }
        }
        out.extend_from_slice(self.slice(at, self.pos));
        out
    }

    /// Notes the form of the substitution that was just read, from `start` on; `open` are its first two bytes.
    pub(super) fn note_substitution(&mut self, start: usize, open: &[u8], body: &Substitution) {
        if self.for_print {
            let text = crate::print::substitution(&body.body);
            let blank: &[u8] = if text.first() == Some(&b'(') { b" " } else { b"" };
            self.reprinted.push((start, self.pos, [open, blank, &text, b")"].concat()));
        }
    }

    /// A backslash and a newline are no part of the text that is shown and kept.
    pub(in crate::parse) fn leave_out_continuation(&mut self) {
        self.reprinted.push((self.pos, self.pos + 2, Bytes::new()));
    }
}
