//! Expansion of variable references and function calls.

use crate::failure::Stop;
use crate::file::FileId;
use crate::pattern::{Pattern, replaced};
use crate::variable::{ScopeId, Variable};
use crate::words::{closing, first_word, joined, partner, trim_end, words};
use crate::{Make, function};

/// Maximum nesting of references and values. Each level takes some kilobytes of stack.
const MAX_DEPTH: usize = 1200;

impl Make {
    /// Expands all references in a text.
    pub(crate) fn expand(&mut self, text: &[u8]) -> Result<Vec<u8>, Stop> {
        if memchr::memchr(b'$', text).is_none() {
            return Ok(text.to_vec());
        }
        if self.depth >= MAX_DEPTH {
            return Err(self.fatal(format!("references nest deeper than {MAX_DEPTH}")));
        }
        self.depth += 1;
        let mut out = Vec::with_capacity(text.len());
        let done = self.expand_into(text, &mut out);
        self.depth -= 1;
        done.map(|()| out)
    }

    /// Expands a text in the scope of a target.
    pub(crate) fn expand_for(&mut self, target: FileId, text: &[u8]) -> Result<Vec<u8>, Stop> {
        let outside = self.target.replace(target);
        let text = self.expand(text);
        self.target = outside;
        text
    }

    fn expand_into(&mut self, text: &[u8], out: &mut Vec<u8>) -> Result<(), Stop> {
        let mut rest = text;
        while let Some(at) = memchr::memchr(b'$', rest) {
            out.extend_from_slice(rest.get(..at).unwrap_or_default());
            let behind = rest.get(at + 1..).unwrap_or_default();
            match behind.split_first() {
                None => {
                    out.push(b'$');
                    return Ok(());
                }
                Some((b'$', after)) => {
                    out.push(b'$');
                    rest = after;
                }
                Some((open @ (b'(' | b'{'), after)) => {
                    let used = self.reference(*open, after, out)?;
                    rest = after.get(used..).unwrap_or_default();
                }
                Some((name, after)) => {
                    if !name.is_ascii_whitespace() {
                        self.value_into(&[*name], out)?;
                    }
                    rest = after;
                }
            }
        }
        out.extend_from_slice(rest);
        Ok(())
    }

    /// Expands the text after `$(`. Returns its length, including the closing bracket.
    fn reference(&mut self, open: u8, text: &[u8], out: &mut Vec<u8>) -> Result<usize, Stop> {
        let close = partner(open);
        if let Some((function, arguments_at)) = function::at_start(text) {
            let arguments = text.get(arguments_at..).unwrap_or_default();
            let Some(end) = closing(arguments, open, close) else {
                let (name, close) = (function.name, char::from(close));
                return Err(self.fatal_in_value(format!("unterminated call to function '{name}': missing '{close}'")));
            };
            let inside = arguments.get(..end).unwrap_or_default();
            self.call_function(function, open, inside, out)?;
            return Ok(arguments_at + end + 1);
        }
        let Some(first_close) = memchr::memchr(close, text) else {
            return Err(self.fatal_in_value("unterminated variable reference".to_owned()));
        };
        let mut end = first_close;
        let mut name = text.get(..end).unwrap_or_default().to_vec();
        if name.contains(&b'$')
            && let Some(whole) = closing(text, open, close)
        {
            end = whole;
            name = self.expand(text.get(..end).unwrap_or_default())?;
        }
        if !self.substitution(&name, out)? {
            self.value_into(&name, out)?;
        }
        Ok(end + 1)
    }

    /// `$(name:a=b)`; false if it is not a substitution reference.
    fn substitution(&mut self, text: &[u8], out: &mut Vec<u8>) -> Result<bool, Stop> {
        let Some(colon) = memchr::memchr(b':', text) else {
            return Ok(false);
        };
        let (name, change) = (text.get(..colon).unwrap_or_default(), text.get(colon + 1..).unwrap_or_default());
        let Some(equals) = memchr::memchr(b'=', change) else {
            return Ok(false);
        };
        let (from, to) = (change.get(..equals).unwrap_or_default(), change.get(equals + 1..).unwrap_or_default());
        let mut value = Vec::new();
        self.value_into(name, &mut value)?;
        let (pattern, replacement) = match Pattern::parse(from) {
            pattern if pattern.has_percent() => (pattern, Pattern::parse(to)),
            plain => (
                Pattern { prefix: Vec::new(), suffix: Some(plain.prefix) },
                Pattern { prefix: Vec::new(), suffix: Some(to.to_vec()) },
            ),
        };
        let changed: Vec<Vec<u8>> = words(&value).map(|word| replaced(&pattern, &replacement, word)).collect();
        out.extend_from_slice(&joined(changed.iter().map(Vec::as_slice)));
        Ok(true)
    }

    /// The expanded value of a variable.
    pub(crate) fn value(&mut self, name: &[u8]) -> Result<Vec<u8>, Stop> {
        let mut value = Vec::new();
        self.value_into(name, &mut value)?;
        Ok(value)
    }

    /// Appends the expanded value of a variable.
    pub(crate) fn value_into(&mut self, name: &[u8], out: &mut Vec<u8>) -> Result<(), Stop> {
        let Some((place, variable)) = self.find_variable(name, None) else {
            if let Some(value) = self.special(name) {
                out.extend_from_slice(&value);
            } else if self.options.warn_undefined {
                self.warn(&format!("warning: undefined variable '{}'", String::from_utf8_lossy(name)));
            }
            return Ok(());
        };
        if !variable.recursive && !variable.append {
            out.extend_from_slice(&variable.value);
            return Ok(());
        }
        let variable = variable.clone();
        let value = self.expanded(name, place, &variable)?;
        out.extend_from_slice(&value);
        Ok(())
    }

    /// The value of a variable, before expansion.
    pub(crate) fn expanded(&mut self, name: &[u8], place: ScopeId, variable: &Variable) -> Result<Vec<u8>, Stop> {
        let mut value = Vec::new();
        if variable.append {
            let outer = self.find_variable(name, Some(place)).map(|(place, variable)| (place, variable.clone()));
            if let Some((place, outer)) = outer {
                value = self.expanded(name, place, &outer)?;
                if !value.is_empty() {
                    value.push(b' ');
                }
            }
        }
        if !variable.recursive {
            value.extend_from_slice(&variable.value);
            return Ok(value);
        }
        let busy = self.expanding.iter().any(|(known, at, called)| known == name && *at == place && !called);
        if busy {
            let name = String::from_utf8_lossy(name);
            self.defined_at.clone_from(&variable.location);
            return Err(self.fatal_in_value(format!("Recursive variable '{name}' references itself (eventually)")));
        }
        self.expanding.push((name.to_vec(), place, false));
        let outside = self.defined_at.clone();
        if variable.location.is_some() {
            self.defined_at.clone_from(&variable.location);
        }
        let own = self.expand(&variable.value);
        self.defined_at = outside;
        self.expanding.pop();
        value.extend_from_slice(&own?);
        Ok(value)
    }

    /// Computed variables.
    pub(crate) fn special(&self, name: &[u8]) -> Option<Vec<u8>> {
        match name {
            b".VARIABLES" => {
                let mut names: Vec<&[u8]> = self.globals.keys().map(Vec::as_slice).collect();
                names.sort_unstable();
                Some(joined(names))
            }
            _ => None,
        }
    }

    fn call_function(
        &mut self,
        function: &'static function::Function,
        open: u8,
        inside: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), Stop> {
        let arguments = split_arguments(inside, open, function.most);
        if arguments.len() < function.least {
            let (count, name) = (arguments.len(), function.name);
            return Err(self.fatal_in_value(format!("insufficient number of arguments ({count}) to function '{name}'")));
        }
        let mut given = Vec::with_capacity(arguments.len());
        for argument in arguments {
            given.push(if function.expands { self.expand(argument)? } else { argument.to_vec() });
        }
        (function.run)(self, &given, out)
    }

    /// `$(call name,...)`
    pub(crate) fn call(&mut self, arguments: &[Vec<u8>], out: &mut Vec<u8>) -> Result<(), Stop> {
        let (name, _) = first_word(arguments.first().map(Vec::as_slice).unwrap_or_default());
        let name = trim_end(name).to_vec();
        if name.is_empty() {
            return Ok(());
        }
        if let Some(function) = function::find(&name) {
            let given = arguments.get(1..).unwrap_or_default();
            let kept = if function.most == 0 { given.len() } else { function.most.min(given.len()) };
            if given.len() < function.least {
                let (count, name) = (given.len(), function.name);
                return Err(
                    self.fatal_in_value(format!("insufficient number of arguments ({count}) to function '{name}'"))
                );
            }
            return (function.run)(self, given.get(..kept).unwrap_or_default(), out);
        }
        let Some((place, variable)) = self.find_variable(&name, None) else {
            return Ok(());
        };
        let body = variable.value.clone();
        let recursive = variable.recursive;
        let mut scope = crate::variable::Scope::new();
        let count = arguments.len().max(self.call_arguments);
        for at in 0..count {
            let value = if at == 0 { name.clone() } else { arguments.get(at).cloned().unwrap_or_default() };
            let variable = Variable::new(value, false, crate::variable::Origin::Automatic);
            scope.insert(at.to_string().into_bytes(), variable);
        }
        if !recursive {
            out.extend_from_slice(&body);
            return Ok(());
        }
        let outer = std::mem::replace(&mut self.call_arguments, arguments.len());
        self.locals.push(scope);
        // Unlike a variable, a function may be recursive.
        self.expanding.push((name, place, true));
        let hidden = std::mem::take(&mut self.expanding);
        let value = self.expand(&body);
        self.expanding = hidden;
        self.expanding.pop();
        self.locals.pop();
        self.call_arguments = outer;
        out.extend_from_slice(&value?);
        Ok(())
    }

    /// `$(foreach name,words,text)`
    pub(crate) fn for_each(&mut self, arguments: &[Vec<u8>], out: &mut Vec<u8>) -> Result<(), Stop> {
        let [name, list, body] = arguments else {
            return Ok(());
        };
        let name = self.expand(name)?;
        let list = self.expand(list)?;
        let name = crate::words::trim(&name).to_vec();
        self.locals.push(crate::variable::Scope::new());
        let mut outcome = Ok(());
        for (at, word) in words(&list).enumerate() {
            if let Some(scope) = self.locals.last_mut() {
                scope.insert(name.clone(), Variable::new(word, false, crate::variable::Origin::Automatic));
            }
            if at > 0 {
                out.push(b' ');
            }
            match self.expand(body) {
                Ok(text) => out.extend_from_slice(&text),
                Err(stop) => {
                    outcome = Err(stop);
                    break;
                }
            }
        }
        self.locals.pop();
        outcome
    }
}

/// The arguments of a call. The last one takes the rest if there are `most` (0: any number).
fn split_arguments(text: &[u8], open: u8, most: usize) -> Vec<&[u8]> {
    let close = partner(open);
    let mut arguments = Vec::new();
    let (mut from, mut depth) = (0, 0usize);
    for (at, byte) in text.iter().enumerate() {
        if *byte == open {
            depth += 1;
        } else if *byte == close {
            depth = depth.saturating_sub(1);
        } else if *byte == b',' && depth == 0 && arguments.len() + 1 != most {
            arguments.push(text.get(from..at).unwrap_or_default());
            from = at + 1;
        }
    }
    arguments.push(text.get(from..).unwrap_or_default());
    arguments
}
