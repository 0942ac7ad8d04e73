//! Commands whose arguments may be assignments: `declare` and related builtins.

use crate::ir::{Arg, Assign, Bytes};
use crate::state::{EvalResult, Shell};

/// An argument of a declaration builtin.
#[derive(Debug)]
pub(crate) enum DeclArg {
    Word(Bytes),
    /// Its values are expanded.
    Assign(Assign),
}

impl Shell {
    /// Runs a builtin whose arguments may be assignments: `given` unexpanded, and the expanded words among them in `args`.
    pub(super) fn call_declaring(
        &mut self,
        name: &'static str,
        run: fn(&mut Self, &[DeclArg]) -> EvalResult<u8>,
        given: &[Arg],
        args: &[Bytes],
    ) -> EvalResult {
        let list = self.declared_list(name, given, args)?;
        self.run_declaring(name, run, &list)
    }

    /// The arguments of the declaration builtin `name`, expanded and traced.
    pub(super) fn declared_list(&mut self, name: &str, given: &[Arg], args: &[Bytes]) -> EvalResult<Vec<DeclArg>> {
        let (mut words, mut shown) = (args.iter(), Vec::new());
        let mut list = Vec::with_capacity(given.len());
        // Words may expand to several or none. Assignments keep their position among the results.
        for arg in given {
            match arg {
                Arg::Assign(assign) => {
                    let keyed = list.iter().any(
                        |arg| matches!(arg, DeclArg::Word(word) if word.starts_with(b"-") && word.contains(&b'A')),
                    );
                    let assign = self.expand_declared(assign, keyed)?;
                    if self.options.xtrace {
                        shown.push(declared_word(&assign));
                        if let crate::ir::AssignValue::Array(elements) = &assign.value {
                            self.trace_declared_array(&assign, elements);
                        }
                    }
                    list.push(DeclArg::Assign(assign));
                }
                Arg::Word(word) => {
                    let fields = if word.literal().is_some() {
                        words.next().cloned().into_iter().collect()
                    } else {
                        let mut fields = Vec::new();
                        self.expand_fields(word, &mut fields)?;
                        words.by_ref().take(fields.len()).for_each(drop);
                        fields
                    };
                    if self.options.xtrace {
                        shown.extend(fields.iter().cloned());
                    }
                    list.extend(fields.into_iter().map(DeclArg::Word));
                }
            }
        }
        if self.options.xtrace {
            self.trace_words(&shown);
            // Assignments with array options are not traced.
            let option =
                |arg: &DeclArg| matches!(arg, DeclArg::Word(word) if word.first() == Some(&b'-') && word.len() > 1);
            let array = |byte: &u8| matches!(byte, b'a' | b'A');
            let arrays = |arg: &DeclArg| matches!(arg, DeclArg::Word(word) if word.iter().any(array));
            if matches!(name, "export" | "readonly") && !list.iter().skip(1).take_while(|arg| option(arg)).any(arrays) {
                self.trace_declared(&list);
            }
        }
        Ok(list)
    }

    pub(super) fn run_declaring(
        &mut self,
        name: &'static str,
        run: fn(&mut Self, &[DeclArg]) -> EvalResult<u8>,
        list: &[DeclArg],
    ) -> EvalResult {
        self.builtin.name = name;
        let traced = std::mem::replace(&mut self.options.xtrace, false);
        let result = match list.get(1) {
            Some(DeclArg::Word(word)) if word == b"--help" => Ok(crate::builtins::help_of(self)),
            _ => run(self, list),
        };
        self.options.xtrace = traced;
        let done = self.builtin_done(result);
        self.computed.last_arg = match list.last() {
            Some(DeclArg::Word(word)) => word.clone(),
            Some(DeclArg::Assign(assign)) => declared_word(assign),
            None => Bytes::new(),
        };
        done
    }

    /// Traces the assignments of `export` and `readonly` a second time, unless they have array options.
    pub(super) fn trace_declared(&mut self, list: &[DeclArg]) {
        let options = list.iter().skip(1).map_while(|arg| match arg {
            DeclArg::Word(word) if word.starts_with(b"-") && word.as_slice() != b"--" => Some(word),
            _ => None,
        });
        if options.into_iter().any(|word| word.iter().any(|letter| b"aAf".contains(letter))) {
            return;
        }
        for arg in list {
            if let DeclArg::Assign(assign) = arg
                && let crate::ir::AssignValue::Word(word) = &assign.value
            {
                self.trace_assign(assign, &word.raw);
            }
        }
    }
}

/// An argument of `declare` as a word: all of it, or the name alone of an array, whose assignment is shown before.
pub(crate) fn declared_word(assign: &Assign) -> Bytes {
    let mut text = assign.name.to_vec();
    if let crate::ir::AssignValue::Word(word) = &assign.value {
        if let Some(subscript) = &assign.subscript {
            text.extend([b"[", &subscript.key.raw[..], b"]"].concat());
        }
        text.extend_from_slice(if assign.append { b"+=" } else { b"=" });
        text.extend_from_slice(&word.raw);
    }
    text
}
