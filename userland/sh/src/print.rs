//! Functions as text, in the layout of `declare -f`.

mod command;
mod compound;

use crate::function::Function;
use crate::ir::{Bytes, Chain, Command, Compound, Cond, Join, Kind, List, Pipeline, Redirect, Simple, TimeFormat};

/// The definition of a function.
pub(crate) fn function(function: &Function) -> Bytes {
    let Some(body) = function.body() else { return function.known_text().unwrap_or_default().to_vec() };
    let mut printer = Printer::default();
    printer.definition(&function.name, body);
    printer.out.push(b'\n');
    printer.out
}

/// A list in the background, as `jobs` shows it.
pub(crate) fn job(list: &List) -> Bytes {
    let mut printer = Printer { inline: true, ..Printer::default() };
    printer.list(list);
    printer.flush_bodies("");
    printer.out
}

/// A simple command, as `BASH_COMMAND` and messages show it.
pub(crate) fn simple(simple: &Simple) -> Bytes {
    let mut printer = Printer::default();
    printer.simple(simple);
    printer.out
}

/// A simple command with its here-documents, as a message about its end shows it.
pub(crate) fn whole_simple(simple: &Simple) -> Bytes {
    let mut printer = Printer::default();
    printer.simple(simple);
    printer.flush_bodies("");
    printer.out
}

/// `[[ ]]`, as `BASH_COMMAND` shows it.
pub(crate) fn condition(cond: &Cond) -> Bytes {
    let mut printer = Printer::default();
    printer.put("[[ ");
    printer.cond(cond);
    printer.put(" ]]");
    printer.out
}

/// A coprocess, as `jobs` shows it.
pub(crate) fn coprocess(name: &[u8], body: &Command) -> Bytes {
    let mut printer = Printer { inline: true, ..Printer::default() };
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
    let mut printer = Printer { inline: true, ..Printer::default() };
    printer.stage(command);
    printer.flush_bodies("");
    printer.out
}

/// A subshell, as messages about it show it.
pub(crate) fn subshell(list: &List, redirects: &[Redirect]) -> Bytes {
    let mut printer = Printer { inline: true, ..Printer::default() };
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
    /// The output will be parsed again and must have the same meaning.
    reads: bool,
}

impl Printer {
    fn put(&mut self, text: impl AsRef<[u8]>) {
        self.out.extend_from_slice(text.as_ref());
    }

    fn indent(&mut self) {
        self.out.extend(std::iter::repeat_n(b' ', self.depth * 4));
    }

    fn line(&mut self) {
        self.out.push(b'\n');
        self.indent();
    }

    /// Prints the waiting bodies after `before`. Returns whether there were any.
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

    /// Prints a semicolon, except after `&` and at the start of a line.
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
                if !self.flush_bodies(if self.inline { ";" } else { "" }) && !std::mem::take(&mut self.printed_bodies) {
                    self.put(";");
                }
                if !self.inline {
                    self.out.push(b'\n');
                    self.indent();
                } else {
                    self.put(" ");
                }
            }
        }
    }

    fn chain(&mut self, chain: &Chain) {
        self.pipeline(&chain.first);
        for (at, (join, pipeline)) in chain.rest.iter().enumerate() {
            if at > 0 || chain.first.stages.len() > 1 {
                // The text before the operator is a pair itself, and its bodies are at its end.
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
