//! `${x@Q}` and the other transformations.

use super::case;
use super::param::Content;
use super::quoting::{declare_quote, key_quote, quote_value};
use crate::ir::{Bytes, Index, Param, Target};
use crate::state::{EvalResult, Shell};
use crate::vars::{self, NamerefTarget, Value};

impl Shell {
    /// Applies `@letter` to `content`, which is the value of the parameter `meant`.
    pub(crate) fn transform(
        &mut self,
        param: &Param,
        meant: (&Target, &Index),
        content: Content,
        letter: u8,
    ) -> EvalResult<Content> {
        let (target, _) = meant;
        let resolved = match target {
            Target::Var(name) => match self.vars.resolve_nameref(name) {
                NamerefTarget::Variable(name) | NamerefTarget::Element(name, _) => Some(Target::Var(name)),
                _ => None,
            },
            _ => None,
        };
        let target = resolved.as_ref().unwrap_or(target);
        if param.indirect && letter != 0 && matches!(content, Content::Unset) {
            return Ok(content);
        }
        Ok(match letter {
            0 => {
                return match content {
                    Content::Unset => Ok(content),
                    Content::Many { ref values, .. } if values.is_empty() => Ok(content),
                    _ => self.abort_unset([&param.raw[..], b": bad substitution"].concat()),
                };
            }
            b'A' => self.assignment(target, content),
            b'P' => content.each(|text| self.expand_prompt(text)),
            b'a' => self.attributes(target, content),
            b'K' | b'k' => match (target, content) {
                (Target::Var(name), Content::Many { star, .. })
                    if self.vars.get(name).is_none_or(|var| !matches!(var.value, Value::Text(_))) =>
                {
                    self.pairs(name, letter == b'k', star)
                }
                (_, content) => content.each(quote_value),
            },
            b'Q' => content.each(quote_value),
            b'E' => content.each(crate::parse::ansi_c),
            b'U' => content.each(case::upper),
            b'L' => content.each(case::lower),
            b'u' => content.each(case::first_upper),
            _ => content,
        })
    }

    /// The letters of the attributes, as `${x@a}` gives them: once, or for each element of an array.
    fn attributes(&self, target: &Target, content: Content) -> Content {
        let (letters, array) = match target {
            Target::Var(name) => {
                let array = match self.vars.get(name) {
                    Some(var) => matches!(var.value, Value::Indexed(_) | Value::Assoc(_)),
                    None => self.computed_letters(name).starts_with('a'),
                };
                (self.attribute_letters(name).into_bytes(), array)
            }
            _ => (Bytes::new(), true),
        };
        match content {
            Content::Many { values, star } if array => Content::Many { values: vec![letters; values.len()], star },
            _ => Content::One(letters),
        }
    }

    /// Keys and values alternately: as one text for `K`, as words for `k`.
    fn pairs(&mut self, name: &[u8], words: bool, star: bool) -> Content {
        let keys = self.keys(name);
        let values = self.elements(name);
        let is_assoc = matches!(self.vars.get(name).map(|var| &var.value), Some(Value::Assoc(_)));
        if words || keys.is_empty() {
            let values = keys.into_iter().zip(values).flat_map(|(key, value)| [key, value]).collect();
            return Content::Many { values, star };
        }
        let mut text = Bytes::new();
        for (key, value) in keys.iter().zip(&values) {
            if !text.is_empty() && !is_assoc {
                text.push(b' ');
            }
            text.extend(key_quote(key));
            text.push(b' ');
            text.extend(declare_quote(value));
            if is_assoc {
                text.push(b' ');
            }
        }
        Content::One(text)
    }

    /// The letters of a variable's attributes, as options of `declare`.
    pub(crate) fn attribute_letters(&self, name: &[u8]) -> String {
        let Some(var) = self.vars.get(name) else {
            return self.computed_letters(name).trim_start_matches('-').to_owned();
        };
        let mut letters = String::new();
        match var.value {
            Value::Indexed(_) => letters.push('a'),
            Value::Assoc(_) => letters.push('A'),
            Value::Unset | Value::Text(_) => {}
        }
        for (flag, letter) in [
            (vars::INTEGER, 'i'),
            (vars::NAMEREF, 'n'),
            (vars::READONLY, 'r'),
            (vars::TRACE, 't'),
            (vars::EXPORT, 'x'),
            (vars::CAPITAL, 'c'),
            (vars::LOWER, 'l'),
            (vars::UPPER, 'u'),
        ] {
            if var.has(flag) {
                letters.push(letter);
            }
        }
        letters
    }

    /// The command that recreates the variable, for `${x@A}`: as words for all elements of an array.
    fn assignment(&mut self, target: &Target, content: Content) -> Content {
        let Target::Var(name) = target else {
            // The positional parameters can only be set together, and other special parameters are read-only.
            return match content {
                Content::Many { values, star } if !values.is_empty() => {
                    let mut words: Vec<Bytes> = values.iter().map(|value| quote_value(value)).collect();
                    if let (true, Some(first)) = (star, words.first_mut()) {
                        *first = [b"set -- ", &first[..]].concat();
                    } else {
                        words.splice(..0, [b"set".to_vec(), b"--".to_vec()]);
                    }
                    Content::Many { values: words, star }
                }
                Content::Many { .. } => content,
                _ => Content::One(Bytes::new()),
            };
        };
        let letters = self.attribute_letters(name);
        let text = match (content, self.vars.get(name).map(|var| &var.value)) {
            (Content::Many { star, .. }, None) if letters.is_empty() => {
                return Content::Many { values: Vec::new(), star };
            }
            (Content::Many { star, .. }, None | Some(Value::Indexed(_) | Value::Assoc(_))) => {
                let line = match self.computed_declaration(name) {
                    Some(line) if self.vars.get(name).is_none() => line,
                    _ => self.declaration(name),
                };
                if star {
                    return Content::One(line);
                }
                let values = line.splitn(3, |&b| b == b' ').map(<[u8]>::to_vec).collect();
                return Content::Many { values, star };
            }
            (Content::One(text), _) => Some(text),
            (Content::Many { .. }, Some(Value::Text(text))) => Some(text.clone()),
            _ => None,
        };
        let mut out = if letters.is_empty() { Bytes::new() } else { format!("declare -{letters} ").into_bytes() };
        match text {
            Some(text) => {
                out.extend_from_slice(name);
                out.push(b'=');
                out.extend(quote_value(&text));
            }
            // A variable without a value has its attributes at most.
            None if out.is_empty() => {}
            None => out.extend_from_slice(name),
        }
        Content::One(out)
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
                    out.extend(key_quote(key));
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
