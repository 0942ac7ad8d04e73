//! `${name:-word}` and its kind: what stands for a parameter that is not set, or for one that is.

use super::Content;
use super::label::{shown_index, target_name};
use crate::expand::lossy;
use crate::expand::word::{Out, Place};
use crate::ir::{Bytes, Index, Name, Op, Param, Target, Test, Word};
use crate::state::{Run, Shell, Stop};
use crate::vars::Key;

impl Shell {
    /// `:-`, `:=`, `:?`, `:+` and the same without the colon.
    pub(super) fn apply_test(
        &mut self,
        param: &Param,
        meant: (&Target, &Index),
        content: Content,
        out: &mut Out,
        place: Place,
    ) -> Run {
        let Op::Test { kind, colon, word } = &param.op else { return Ok(()) };
        let counts = self.counts_as_set(&content, *colon, place.quoted || out.mode != crate::expand::Mode::Fields);
        match (kind, counts) {
            (Test::Alternative, true) | (Test::Default, false) => self.expand_operand(word, out, place),
            // Without elements there is no word, not even an empty one.
            (Test::Alternative, false)
                if place.quoted
                    && matches!(content, Content::Many { ref values, star: false } if values.is_empty()) =>
            {
                Ok(())
            }
            (Test::Alternative, false) if place.quoted => self.emit(b"", out, place),
            (Test::Alternative, false) => Ok(()),
            (Test::Default | Test::Assign | Test::Error, true) => self.emit_own(param, content, out, place),
            (Test::Assign, false) => self.expand_default(param, meant, word, out, place),
            (Test::Error, false) => {
                let text = match (word.raw.is_empty(), *colon) {
                    (true, true) => b"parameter null or not set".to_vec(),
                    (true, false) => b"parameter not set".to_vec(),
                    (false, _) => self.expand_complaint(word)?,
                };
                let name = lossy(&target_name(&param.target)).into_owned();
                let (mark, index) = (if param.indirect { "!" } else { "" }, shown_index(&param.index));
                self.abort_unset(format!("{mark}{name}{index}: {}", lossy(&text)))
            }
        }
    }

    /// Whether a test finds the parameter set; with a colon, set to something. `joined` says that elements of `*` are one
    /// text here.
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

    /// `:=` on what is not set: the word is assigned, and what the variable holds then is added.
    fn expand_default(
        &mut self,
        param: &Param,
        meant: (&Target, &Index),
        word: &Word,
        out: &mut Out,
        place: Place,
    ) -> Run {
        if param.indirect && !matches!(meant, (Target::Var(_), Index::None)) {
            let name = [&target_name(meant.0)[..], shown_index(meant.1).as_bytes()].concat();
            return self.discard_refused([&name[..], b": invalid variable name"].concat());
        }
        let Target::Var(name) = meant.0 else {
            let name = lossy(&target_name(&param.target)).into_owned();
            return self.discard_expansion(format!("${name}: cannot assign in this way"));
        };
        let value = self.expand_default_value(word)?;
        self.assign_default(name, meant.1, value)?;
        // The attributes of the variable may have made something else of it.
        let value = match meant {
            (Target::Var(name), Index::At | Index::Star) => {
                let key = assigned_key(meant.1).unwrap_or(Key::Whole);
                self.element(name, &key).map_or(Content::Unset, Content::One)
            }
            (target, index) => self.content(target, index)?,
        };
        self.emit_content(value, out, place)?;
        if &**name == b"IFS" {
            out.forget_ifs();
        }
        Ok(())
    }

    /// The word after `:-` and its kind, which is split like any expansion unless it is quoted.
    fn expand_operand(&mut self, word: &Word, out: &mut Out, place: Place) -> Run {
        // There is a word then, even where it is made of no elements.
        out.present |= place.quoted;
        let inner = Place { quoted: place.quoted, operand: !place.quoted };
        if out.marks_nothing && !place.quoted {
            return self.expand_marked(&word.parts, out, inner);
        }
        self.expand_parts(&word.parts, out, inner)
    }

    /// The word after `?`, in which quotes quote wherever it stands, and what is split is joined by blanks.
    fn expand_complaint(&mut self, word: &Word) -> Run<Bytes> {
        let again = crate::parse::word_from_text(&word.raw);
        let mut out = Out::new(crate::expand::Mode::Fields, self);
        let mut parts = again.as_ref().unwrap_or(word).parts.as_slice();
        if let Some((home, rest)) = self.leading_home(parts) {
            self.emit(&home, &mut out, Place { quoted: true, operand: false })?;
            self.emit(&rest, &mut out, Place::default())?;
            parts = parts.get(1..).unwrap_or_default();
        }
        for part in parts {
            self.expand_part(part, &mut out, Place::default())?;
        }
        out.end_present();
        let words: Vec<Bytes> = out.done.into_iter().map(|field| field.text).collect();
        Ok(words.join(&b' '))
    }

    fn assign_default(&mut self, name: &Name, index: &Index, value: Bytes) -> Run {
        let key = match index {
            Index::One(subscript) => self.key_of(name, subscript)?,
            Index::None => Key::Whole,
            index if self.is_keyed(name) => assigned_key(index).unwrap_or(Key::Whole),
            index => {
                let message = format!("{}{}: bad array subscript", lossy(name), shown_index(index));
                self.bad_default = true;
                return self.discard_expansion(message);
            }
        };
        if self.lends && key == Key::Whole {
            self.assign_below(name, value.clone())?;
        }
        if self.assign(name, key, false, value)? {
            return Ok(());
        }
        self.status = 1;
        Err(if self.options.errexit { Stop::Exit } else { Stop::Discard })
    }

    /// What is assigned within values that are for one command alone outlives the command.
    pub(crate) fn assign_below(&mut self, name: &Name, value: Bytes) -> Run {
        if !self.vars.lent_to_newest(name) {
            return Ok(());
        }
        self.vars.swap_newest();
        let kept = self.assign(name, Key::Whole, false, value);
        self.vars.swap_newest();
        kept.map(drop)
    }
}

/// The key that `@` or `*` is for an assignment to an associative array.
fn assigned_key(index: &Index) -> Option<Key> {
    match index {
        Index::At => Some(Key::Word(b"@".to_vec())),
        Index::Star => Some(Key::Word(b"*".to_vec())),
        Index::None | Index::One(_) => None,
    }
}
