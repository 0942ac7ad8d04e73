//! How what a parameter holds is added to the words: as one text, as fields, or joined.
//!
//! Which of these it is depends on the parameter, the operator, the quotes, `IFS` and on what is being expanded.

use super::Content;
use crate::expand::word::{Out, Place};
use crate::ir::{Bytes, Op, Param, Target};
use crate::state::{Run, Shell};

impl Shell {
    /// Adds content as it is.
    pub(crate) fn emit_content(&mut self, content: Content, out: &mut Out, place: Place) -> Run {
        match content {
            Content::Unset => self.emit(b"", out, place),
            Content::One(text) => self.emit(&text, out, place),
            Content::Many { values, star } => self.emit_many(&values, star, out, place),
        }
    }

    /// Adds what a parameter holds, as it is.
    pub(super) fn emit_own(&mut self, param: &Param, content: Content, out: &mut Out, place: Place) -> Run {
        let is_variable = matches!(param.target, Target::Var(_));
        let is_list = matches!(&content, Content::Many { star, .. } if is_variable || !star);
        // In a pattern elements mean themselves where IFS does not begin with a blank; those of `*` where it is empty.
        let themselves = matches!(out.mode, crate::expand::Mode::Pattern | crate::expand::Mode::Regex)
            && match &content {
                Content::Many { star: false, .. } => self.ifs().first().is_some_and(|&byte| byte != b' '),
                Content::Many { star: true, .. } => is_variable && self.ifs().is_empty(),
                _ => false,
            };
        let place = Place { quoted: place.quoted || themselves || (out.quotes_lists && is_list), ..place };
        if is_variable {
            self.emit_content(content, out, place)
        } else {
            self.emit_edited(&param.op, content, out, place)
        }
    }

    /// Adds what an operator made of a parameter, or a parameter that is no variable. In a here-document blanks join them.
    pub(super) fn emit_edited(&mut self, op: &Op, content: Content, out: &mut Out, place: Place) -> Run {
        let content = match content {
            Content::Many { values, star: true }
                if out.among_elements && out.mode == crate::expand::Mode::Fields && place.quoted && edits(op) =>
            {
                return self.emit_rejoined(&values, out, place);
            }
            Content::Many { values, .. } if self.joins_edited(op, out, place) => Content::Many { values, star: true },
            Content::Many { values, .. }
                if (out.document && !(out.keeps_lists && keeps_star(op)))
                    || (out.among_elements && out.mode == crate::expand::Mode::Fields && edits(op))
                    || (out.assigned
                        && (place.operand || (out.argument && !place.quoted))
                        && self.ifs().is_empty()) =>
            {
                Content::Many { values, star: false }
            }
            Content::Many { values, star: false } if splits_within_operand(op, out, place) => {
                return self.emit_split(&values, out, place);
            }
            other => other,
        };
        self.emit_content(content, out, place)
    }

    /// Adds the elements that an operator made within an operand: joined by blanks, which also stand where they would be
    /// split. Nothing but those blanks splits them then.
    fn emit_split(&mut self, values: &[Bytes], out: &mut Out, place: Place) -> Run {
        let ifs = self.ifs();
        let fields = out.mode == crate::expand::Mode::Fields;
        if fields && ifs.contains(&b' ') {
            return self.emit_many(values, false, out, Place::default());
        }
        let mut values = values.to_vec();
        match ifs.first() {
            Some(b'\t' | b'\n') if fields => {
                let mut split = Out::new(crate::expand::Mode::Fields, self);
                self.emit_many(&values, false, &mut split, Place::default())?;
                split.end_present();
                values = split.done.into_iter().map(|field| field.text).collect();
            }
            None | Some(b' ' | b'\t' | b'\n') => {}
            Some(_) => values.iter_mut().flatten().filter(|byte| ifs.contains(byte)).for_each(|byte| *byte = b' '),
        }
        self.emit_many(&values, false, out, place)
    }

    /// Adds what an operator made of `*` beside elements: joined by the first separator, and split there again. What is
    /// empty is lost where that is a blank, and at the end.
    fn emit_rejoined(&mut self, values: &[Bytes], out: &mut Out, place: Place) -> Run {
        let ifs = self.ifs();
        for (at, value) in values.iter().enumerate() {
            let ends = match ifs.first() {
                None => false,
                Some(b' ' | b'\t' | b'\n') => !out.current.text.is_empty(),
                Some(_) => true,
            };
            if at > 0 && ends {
                out.end_field();
            }
            if !value.is_empty() {
                self.emit(value, out, place)?;
            }
        }
        Ok(())
    }

    /// Whether elements that `op` edits are joined as `*` joins them, because they are the value of an assignment.
    pub(super) fn joins_edited(&self, op: &Op, out: &Out, place: Place) -> bool {
        let edited = match op {
            Op::Strip { pattern, .. } => !pattern.raw.is_empty(),
            Op::Transform(_) => true,
            op => edits(op) && place.quoted,
        };
        out.assigned && edited && !self.ifs().is_empty()
    }

    /// Whether values that `op` yields are one word joined by blanks, because nothing separates words.
    pub(super) fn joins_unsplit(&self, op: &Op, target: &Target, out: &Out, place: Place) -> bool {
        let joins = match op {
            Op::Strip { pattern, .. } => !pattern.raw.is_empty() && matches!(target, Target::Var(_)),
            Op::Keys { star } => *star,
            _ => false,
        };
        joins && out.mode == crate::expand::Mode::Fields && !place.quoted && self.ifs().is_empty()
    }

    fn emit_many(&mut self, values: &[Bytes], star: bool, out: &mut Out, place: Place) -> Run {
        let fields = out.mode == crate::expand::Mode::Fields;
        if star && (place.quoted || !fields) {
            let ifs = self.ifs();
            let separator = ifs.get(..crate::character::char_len(&ifs)).unwrap_or_default();
            let joined = values.join(separator);
            return if place.quoted {
                self.emit(&joined, out, place)
            } else {
                self.emit(&joined, out, Place::default())
            };
        }
        // As if joined by the first separator: what is empty in between stays where that is no white space, and white space is one
        // with a separator that an element begins with.
        let ifs = self.ifs();
        let keeps = fields && !place.quoted && ifs.first().is_some_and(|b| !matches!(b, b' ' | b'\t' | b'\n'));
        if fields && !place.quoted && place.operand && !star && ifs.first().is_some_and(|&byte| byte != b' ') {
            // In an operand blanks join them, and nothing but those is split.
            for (at, value) in values.iter().enumerate() {
                if at > 0 {
                    self.emit(b" ", out, place)?;
                }
                self.emit(value, out, Place { quoted: true, operand: false })?;
            }
            return Ok(());
        }
        if fields && !place.quoted {
            out.begin_list(values.first().map_or(&[][..], |value| value), &ifs);
        }
        for (at, value) in values.iter().enumerate() {
            if at > 0 {
                if keeps {
                    out.end_at_separator();
                } else if !fields {
                    if out.arm && place.quoted {
                        out.arm_end.get_or_insert(out.current.text.len());
                    }
                    self.emit(b" ", out, place)?;
                } else if place.quoted {
                    out.end_field();
                } else if ifs.is_empty() {
                    out.end_present();
                } else {
                    out.end_at_join();
                }
            }
            self.emit(value, out, place)?;
            if value.is_empty() && place.quoted && !star && values.len() > 1 {
                out.mark_nothing(at);
            }
        }
        Ok(())
    }
}

/// Whether an operator makes something else of every value.
pub(super) fn edits(op: &Op) -> bool {
    !matches!(op, Op::None | Op::Test { .. })
}

/// Whether `*` joins what this operator yields by the first separator in here-documents, too.
fn keeps_star(op: &Op) -> bool {
    matches!(op, Op::Names { .. } | Op::Replace { .. })
}

/// Whether elements that an operator made within an operand, a pattern or a replacement are split before they are joined.
fn splits_within_operand(op: &Op, out: &Out, place: Place) -> bool {
    let splits = match op {
        Op::Strip { pattern, .. } => !pattern.raw.is_empty(),
        op => edits(op),
    };
    splits
        && !place.quoted
        && if out.mode == crate::expand::Mode::Fields { place.operand } else { !out.assigned && !out.document }
}
