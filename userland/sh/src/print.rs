//! Functions as text, in the layout of `declare -f`.

mod command;
mod compound;

use std::borrow::Cow;

use crate::function::Function;
use crate::ir::{Bytes, Chain, Command, Compound, Cond, Join, Kind, List, Pipeline, Redirect, Simple, TimeFormat};

/// The definition of a function.
pub(crate) fn function(function: &Function) -> Bytes {
    let text = function.known_text();
    let normal = text.as_ref().and_then(|text| crate::parse::read_for_print(text, function));
    let Some(body) = normal.as_ref().or_else(|| function.body()) else { return text.unwrap_or_default().to_vec() };
    let mut printer = Printer::default();
    printer.definition(&function.name, body);
    printer.out.push(b'\n');
    printer.out
}

/// The commands of a substitution.
pub(crate) fn substitution(list: &List) -> Bytes {
    let mut printer = Printer { inline: true, newlines: true, ..Printer::default() };
    printer.list(list);
    printer.flush_bodies("");
    printer.out
}

/// A list in the background, as `jobs` shows it.
pub(crate) fn job(list: &List) -> Bytes {
    let mut printer = Printer { inline: true, ..Printer::default() };
    printer.list(list);
    printer.flush_bodies("");
    printer.out
}

/// The commands of a substitution on one line, to be read again.
pub(crate) fn one_line(list: &List) -> Bytes {
    let mut printer = Printer { inline: true, newlines: true, reads: true, ..Printer::default() };
    printer.list(list);
    printer.flush_bodies("");
    printer.out
}

/// A word as it is written, but for the commands of substitutions, which are in the form that bash prints.
pub(crate) fn word(raw: &[u8]) -> Cow<'_, [u8]> {
    let substitutes = raw.windows(2).any(|pair| matches!(pair, b"$(" | b"<(" | b">("));
    let printed = if substitutes { crate::parse::word_for_print(raw) } else { None };
    printed.map_or(Cow::Borrowed(raw), Cow::Owned)
}

/// A simple command, as `BASH_COMMAND` and messages show it.
pub(crate) fn simple(simple: &Simple) -> Bytes {
    let mut printer = Printer { restates: true, ..Printer::default() };
    printer.simple(simple);
    printer.out
}

/// A simple command with its here-documents, as a message about its end shows it.
pub(crate) fn whole_simple(simple: &Simple) -> Bytes {
    let mut printer = Printer { restates: true, ..Printer::default() };
    printer.simple(simple);
    printer.flush_bodies("");
    printer.out
}

/// `[[ ]]`, as `BASH_COMMAND` shows it.
pub(crate) fn condition(cond: &Cond) -> Bytes {
    let mut printer = Printer { restates: true, ..Printer::default() };
    printer.put("[[ ");
    printer.cond(cond);
    printer.put(" ]]");
    printer.out
}

/// A coprocess, as `jobs` shows it.
pub(crate) fn coprocess(name: &[u8], body: &Command) -> Bytes {
    let mut printer = Printer { inline: true, restates: true, ..Printer::default() };
    printer.put("coproc ");
    printer.put(name);
    printer.put(" ");
    match body {
        Command::Simple(simple) => printer.simple(simple),
        Command::Compound(compound) => printer.compound(compound),
        Command::Function(function) => printer.put(&function.name),
    }
    printer.out
}

/// A command on one line, as messages about a pipeline show its stages.
pub(crate) fn command(command: &Command) -> Bytes {
    let mut printer = Printer { inline: true, restates: true, ..Printer::default() };
    printer.stage(command);
    printer.flush_bodies("");
    printer.out
}

/// A subshell, as messages about it show it.
pub(crate) fn subshell(list: &List, redirects: &[Redirect]) -> Bytes {
    let mut printer = Printer { inline: true, restates: true, ..Printer::default() };
    printer.put("( ");
    printer.list(list);
    printer.put(" )");
    printer.redirects(redirects);
    printer.out
}

#[derive(Default)]
struct Printer {
    out: Bytes,
    depth: usize,
    /// Here-documents to print after the line.
    bodies: Vec<Bytes>,
    /// Bodies were printed since the last separator, which needs no semicolon then.
    printed_bodies: bool,
    /// Commands of a list stand side by side, as in a substitution.
    inline: bool,
    /// Those that stand on lines of their own keep them.
    newlines: bool,
    /// Words are as they were read, and substitutions in them have another form when they are printed.
    restates: bool,
    /// What is printed will be read again, and shall be what it is.
    reads: bool,
}

impl Printer {
    fn put(&mut self, text: impl AsRef<[u8]>) {
        self.out.extend_from_slice(text.as_ref());
    }

    fn word(&mut self, raw: &[u8]) {
        if self.restates {
            self.put(word(raw));
        } else {
            self.put(raw);
        }
    }

    fn indent(&mut self) {
        self.out.extend(std::iter::repeat_n(b' ', self.depth * 4));
    }

    fn line(&mut self) {
        self.out.push(b'\n');
        self.indent();
    }

    /// Prints the bodies that wait, after this; says whether there were any.
    fn flush_bodies(&mut self, before: &str) -> bool {
        let bodies = std::mem::take(&mut self.bodies);
        if bodies.is_empty() {
            return false;
        }
        self.put(before);
        self.out.push(b'\n');
        self.out.extend(bodies.concat());
        self.printed_bodies = true;
        true
    }

    /// A semicolon, where bash puts one: not after `&` and not at the start of a line.
    fn semicolon(&mut self) {
        if !matches!(self.out.last(), None | Some(b'&' | b'\n')) {
            self.put(";");
        }
    }

    /// `name () ` and the body, in braces unless it has them.
    fn definition(&mut self, name: &[u8], body: &Compound) {
        let inline = std::mem::replace(&mut self.inline, false);
        self.put(name);
        self.put(" () ");
        self.line();
        if let Kind::Group(list) = &body.kind {
            self.group(list);
            self.redirects(&body.redirects);
        } else {
            self.put("{ ");
            self.depth += 1;
            self.line();
            self.compound(body);
            self.depth -= 1;
            self.flush_bodies("");
            self.line();
            self.put("}");
        }
        self.inline = inline;
    }

    fn group(&mut self, list: &List) {
        if self.inline {
            self.put("{ ");
            self.list(list);
            self.flush_bodies("");
            self.semicolon();
            self.put(" }");
            return;
        }
        self.put("{ ");
        self.block(list);
        self.line();
        self.put("}");
    }

    /// A list, one level deeper, each entry on its own line.
    fn block(&mut self, list: &List) {
        self.depth += 1;
        self.line();
        self.list(list);
        self.depth -= 1;
        self.flush_bodies("");
    }

    fn list(&mut self, list: &List) {
        for (at, item) in list.items.iter().enumerate() {
            self.chain(&item.chain);
            let last = at + 1 == list.items.len();
            if item.background {
                let follows = at > 0 && list.items.get(at - 1).is_some_and(|before| before.background);
                if follows || !self.flush_bodies(" &") {
                    self.flush_bodies("");
                    self.put(" &");
                } else {
                    self.put(" ");
                }
                if !last {
                    self.put(" ");
                }
            } else if !last {
                let newline = self.newlines && self.inline && item.newline;
                if self.flush_bodies(if self.inline && !newline { ";" } else { "" }) {
                    // To bash this is the separator of two commands for the first one alone, and for any other the end of
                    // such a pair, behind which the next separator stands at once.
                    self.printed_bodies &= at == 0;
                } else if !std::mem::take(&mut self.printed_bodies) && !newline {
                    self.put(";");
                }
                if !self.inline {
                    self.out.push(b'\n');
                    self.indent();
                } else {
                    self.put(if newline { "\n" } else { " " });
                }
            }
        }
    }

    fn chain(&mut self, chain: &Chain) {
        self.pipeline(&chain.first);
        for (at, (join, pipeline)) in chain.rest.iter().enumerate() {
            if at > 0 || chain.first.stages.len() > 1 {
                // What stands before the operator is a pair itself, at whose end its bodies are.
                self.flush_bodies("");
            }
            self.put(if *join == Join::And { " && " } else { " || " });
            if self.flush_bodies("") {
                self.put(" ");
            }
            self.pipeline(pipeline);
        }
        if !chain.rest.is_empty() {
            self.flush_bodies("");
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline) {
        if let Some(format) = pipeline.timed {
            self.put(if format == TimeFormat::Posix { "time -p " } else { "time " });
        }
        if pipeline.bang {
            self.put("! ");
        }
        for (at, stage) in pipeline.stages.iter().enumerate() {
            if at > 0 {
                let printed = self.flush_bodies(" |");
                self.put(if printed { "  " } else { " | " });
            }
            self.stage(stage);
        }
    }

    fn stage(&mut self, stage: &Command) {
        match stage {
            Command::Simple(simple) => self.simple(simple),
            Command::Compound(compound) => self.compound(compound),
            Command::Function(inner) => {
                self.put("function ");
                if let Some(body) = inner.body() {
                    self.definition(&inner.name, body);
                    self.printed_bodies = false;
                }
            }
        }
    }
}
