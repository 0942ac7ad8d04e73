//! `${x@Q}` and its kind.

use super::lossy;
use super::param::Content;
use super::quoting::{declare_quote, quote_value};
use crate::ir::{Bytes, Index, Param, Target};
use crate::state::{Run, Shell};
use crate::vars::{self, Value};

impl Shell {
    pub(crate) fn transform(&mut self, param: &Param, content: Content, letter: u8) -> Run<Content> {
        match letter {
            0 => {
                return match content {
                    Content::Unset => Ok(content),
                    Content::Many { ref values, .. } if values.is_empty() => Ok(content),
                    _ => self.discard([&param.raw[..], b": bad substitution"].concat()),
                };
            }
            b'A' => return Ok(Content::One(self.assignment_text(param, &content))),
            b'P' => {
                return Ok(match content {
                    Content::Unset => Content::Unset,
                    Content::One(text) => Content::One(self.expand_prompt(&text)),
                    Content::Many { values, star } => {
                        let values = values.iter().map(|value| self.expand_prompt(value)).collect();
                        Content::Many { values, star }
                    }
                });
            }
            b'a' => {
                let Target::Var(name) = &param.target else { return Ok(Content::One(Bytes::new())) };
                let letters = self.attribute_letters(name).into_bytes();
                return Ok(match content {
                    Content::Many { values, star } => Content::Many { values: vec![letters; values.len()], star },
                    _ => Content::One(letters),
                });
            }
            b'K' | b'k' => {
                if let (Target::Var(name), Index::At | Index::Star) = (&param.target, &param.index) {
                    return Ok(self.pairs(name, letter == b'k'));
                }
            }
            _ => {}
        }
        let edit = |text: &[u8]| -> Bytes {
            match letter {
                b'Q' | b'K' | b'k' => quote_value(text),
                b'E' => crate::parse::ansi_c(text),
                b'U' => lossy(text).to_uppercase().into_bytes(),
                b'L' => lossy(text).to_lowercase().into_bytes(),
                b'u' => {
                    let text = lossy(text).into_owned();
                    let mut chars = text.chars();
                    let first: String = chars.next().map(|c| c.to_uppercase().collect()).unwrap_or_default();
                    [first.as_bytes(), chars.as_str().as_bytes()].concat()
                }
                _ => text.to_vec(),
            }
        };
        Ok(match content {
            Content::Unset => Content::Unset,
            Content::One(text) => Content::One(edit(&text)),
            Content::Many { values, star } => Content::Many { values: values.iter().map(|v| edit(v)).collect(), star },
        })
    }

    /// Keys and values in turn: as one text for `K`, as words for `k`.
    fn pairs(&mut self, name: &[u8], words: bool) -> Content {
        let keys = self.keys(name);
        let values = self.elements(name);
        let is_assoc = matches!(self.vars.get(name).map(|var| &var.value), Some(Value::Assoc(_)));
        if words {
            let values = keys.into_iter().zip(values).flat_map(|(key, value)| [key, value]).collect();
            return Content::Many { values, star: false };
        }
        let mut text = Bytes::new();
        for (key, value) in keys.iter().zip(&values) {
            if !text.is_empty() && !is_assoc {
                text.push(b' ');
            }
            text.extend_from_slice(key);
            text.push(b' ');
            text.extend(declare_quote(value));
            if is_assoc {
                text.push(b' ');
            }
        }
        Content::One(text)
    }

    /// The letters of a variable's attributes, as `declare` takes them.
    pub(crate) fn attribute_letters(&self, name: &[u8]) -> String {
        let Some(var) = self.vars.get(name) else { return String::new() };
        let mut letters = String::new();
        match var.value {
            Value::Indexed(_) => letters.push('a'),
            Value::Assoc(_) => letters.push('A'),
            Value::Unset | Value::Text(_) => {}
        }
        for (flag, letter) in [
            (vars::INTEGER, 'i'),
            (vars::CAPITAL, 'c'),
            (vars::LOWER, 'l'),
            (vars::NAMEREF, 'n'),
            (vars::READONLY, 'r'),
            (vars::TRACE, 't'),
            (vars::UPPER, 'u'),
            (vars::EXPORT, 'x'),
        ] {
            if var.has(flag) {
                letters.push(letter);
            }
        }
        letters
    }

    /// A command that makes the variable what it is, as `${x@A}` gives it.
    fn assignment_text(&mut self, param: &Param, content: &Content) -> Bytes {
        let Target::Var(name) = &param.target else { return Bytes::new() };
        if let Index::At | Index::Star = param.index {
            return self.declaration(name);
        }
        let Content::One(text) = content else { return Bytes::new() };
        let letters = self.attribute_letters(name);
        let mut out = if letters.is_empty() { Bytes::new() } else { format!("declare -{letters} ").into_bytes() };
        out.extend_from_slice(name);
        out.push(b'=');
        out.extend(quote_value(text));
        out
    }

    /// The line that `declare -p` prints, without its end.
    pub(crate) fn declaration(&mut self, name: &[u8]) -> Bytes {
        let letters = self.attribute_letters(name);
        let flags = if letters.is_empty() { "-".to_owned() } else { letters };
        let mut out = format!("declare -{flags} ").into_bytes();
        out.extend_from_slice(name);
        let bare = self.vars.get(name).is_some_and(|var| var.has(vars::BARE));
        match self.vars.get(name).map(|var| &var.value) {
            None | Some(Value::Unset) => {}
            Some(Value::Indexed(_) | Value::Assoc(_)) if bare => {}
            Some(Value::Text(text)) => {
                out.push(b'=');
                out.extend(declare_quote(text));
            }
            Some(Value::Indexed(map)) => {
                out.extend_from_slice(b"=(");
                for (at, (key, value)) in map.iter().enumerate() {
                    if at > 0 {
                        out.push(b' ');
                    }
                    out.extend_from_slice(format!("[{key}]=").as_bytes());
                    out.extend(declare_quote(value));
                }
                out.push(b')');
            }
            Some(Value::Assoc(map)) => {
                out.extend_from_slice(b"=(");
                for (key, value) in map.entries() {
                    out.push(b'[');
                    let plain =
                        !key.is_empty() && key.iter().all(|b| b.is_ascii_alphanumeric() || b"_-./:@%+=,".contains(b));
                    if plain {
                        out.extend_from_slice(key)
                    } else {
                        out.extend(declare_quote(key))
                    }
                    out.extend_from_slice(b"]=");
                    out.extend(declare_quote(value));
                    out.push(b' ');
                }
                out.push(b')');
            }
        }
        out
    }
}
