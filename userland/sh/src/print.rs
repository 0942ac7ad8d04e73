//! Functions as text, in the layout of `declare -f`.

use crate::function::Function;
use crate::ir::{
    Arg, Arm, ArmEnd, Assign, AssignValue, Bytes, Chain, Command, Compound, Cond, CondOp, Join, Kind, List, Pipeline,
    Redirect, RedirectFd, RedirectKind, Simple, TimeFormat, Word,
};

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
    let mut printer = Printer { inline: true, ..Printer::default() };
    printer.list(list);
    printer.flush_bodies("");
    printer.out
}

/// The commands of a substitution on one line, to be read again.
pub(crate) fn one_line(list: &List) -> Bytes {
    let mut printer = Printer { inline: true, reads: true, ..Printer::default() };
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

/// A subshell, as messages about it show it.
pub(crate) fn subshell(list: &List) -> Bytes {
    let mut printer = Printer { inline: true, ..Printer::default() };
    printer.put("( ");
    printer.list(list);
    printer.put(" )");
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
    /// What is printed will be read again, and shall be what it is.
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
                let newline = self.inline && item.newline;
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
        for (join, pipeline) in &chain.rest {
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

    fn simple(&mut self, simple: &Simple) {
        let mut first = true;
        for assign in &simple.assigns {
            self.space(&mut first);
            self.assign(assign);
        }
        for arg in &simple.args {
            self.space(&mut first);
            match arg {
                Arg::Word(word) => self.put(&word.raw),
                Arg::Assign(assign) => self.assign(assign),
            }
        }
        self.printed_bodies &= simple.redirects.is_empty();
        for redirect in &simple.redirects {
            self.space(&mut first);
            self.redirect(redirect);
        }
    }

    fn space(&mut self, first: &mut bool) {
        if !std::mem::replace(first, false) {
            self.put(" ");
        }
    }

    fn assign(&mut self, assign: &Assign) {
        self.put(&assign.name);
        if let Some(subscript) = &assign.subscript {
            self.put("[");
            self.put(&subscript.key.raw);
            self.put("]");
        }
        self.put(if assign.append { "+=" } else { "=" });
        match &assign.value {
            AssignValue::Word(word) => self.put(&word.raw),
            AssignValue::Array(elements) => {
                self.put("(");
                for (at, element) in elements.iter().enumerate() {
                    if at > 0 {
                        self.put(" ");
                    }
                    if let Some(subscript) = &element.subscript {
                        self.put("[");
                        self.put(&subscript.key.raw);
                        self.put(if element.append { "]+=" } else { "]=" });
                    }
                    self.put(&element.value.raw);
                }
                self.put(")");
            }
        }
    }

    fn redirect(&mut self, redirect: &Redirect) {
        // Where the word has to be expanded first, the number that is meant anyway is left out.
        let (input, output) = match &redirect.kind {
            RedirectKind::Duplicate { word, output } => {
                let plain = word.literal().is_some_and(|text| text.iter().all(|b| b.is_ascii_digit() || *b == b'-'));
                let named = !plain && !word.raw.ends_with(b"-");
                (named && !output, named && *output)
            }
            RedirectKind::Read(_) => (true, false),
            RedirectKind::Write(_) | RedirectKind::Append(_) => (false, true),
            _ => (false, false),
        };
        match &redirect.fd {
            RedirectFd::Default | RedirectFd::Number(0) if input => {}
            RedirectFd::Default | RedirectFd::Number(1) if output => {}
            RedirectFd::Default => match &redirect.kind {
                RedirectKind::ReadWrite(_) | RedirectKind::Duplicate { output: false, .. } => self.put("0"),
                RedirectKind::Duplicate { output: true, .. } => self.put("1"),
                _ => {}
            },
            RedirectFd::Number(number) => self.put(number.to_string()),
            RedirectFd::Variable(name) => {
                self.put("{");
                self.put(name);
                self.put("}");
            }
        }
        let (operator, word): (&str, &Word) = match &redirect.kind {
            RedirectKind::Read(word) => ("< ", word),
            RedirectKind::Write(word) => ("> ", word),
            RedirectKind::Clobber(word) => (">| ", word),
            RedirectKind::Append(word) => (">> ", word),
            RedirectKind::ReadWrite(word) => ("<> ", word),
            RedirectKind::Both { word, append } => (if *append { "&>> " } else { "&> " }, word),
            RedirectKind::Duplicate { word, output } => (if *output || &*word.raw == b"-" { ">&" } else { "<&" }, word),
            RedirectKind::HereString(word) => ("<<< ", word),
            RedirectKind::HereDoc(document) => {
                self.put(if document.strip_tabs { "<<-" } else { "<<" });
                if document.quoted {
                    self.put([b"'", &document.delimiter[..], b"'"].concat());
                } else {
                    self.put(&document.delimiter);
                }
                let mut text = document.body.get().map_or_else(Bytes::new, |word| word.raw.to_vec());
                text.extend_from_slice(&document.delimiter);
                text.push(b'\n');
                self.bodies.push(text);
                return;
            }
        };
        self.put(operator);
        self.put(&word.raw);
    }

    fn words(&mut self, words: Option<&[Word]>) {
        let Some(words) = words else { return self.put(" in \"$@\"") };
        self.put(" in ");
        let words: Vec<&[u8]> = words.iter().map(|word| &*word.raw).collect();
        self.put(words.join(&b" "[..]));
    }

    fn compound(&mut self, compound: &Compound) {
        match &compound.kind {
            Kind::Group(list) => self.group(list),
            Kind::Subshell(list) => {
                self.put("( ");
                self.list(list);
                self.flush_bodies("");
                self.put(" )");
            }
            Kind::If { arms, otherwise } => self.conditional(arms, otherwise.as_ref()),
            Kind::Loop { until, condition, body } => {
                self.put(if *until { "until " } else { "while " });
                self.list(condition);
                self.flush_bodies("");
                self.semicolon();
                self.put(" do");
                self.block(body);
                self.semicolon();
                self.line();
                self.put("done");
            }
            Kind::For { name, words, body } => self.counted("for", name, words.as_deref(), body),
            Kind::Select { name, words, body } => self.counted("select", name, words.as_deref(), body),
            Kind::ForArith { init, condition, step, body } => {
                self.put("for ((");
                let texts = [init, condition, step].map(|arith| match arith.text.raw.trim_ascii_start() {
                    b"" => b"1".to_vec(),
                    text => text.to_vec(),
                });
                self.put(texts.join(&b"; "[..]));
                self.put("))");
                self.line();
                self.done(body);
            }
            Kind::Case { word, arms } => self.case(word, arms),
            Kind::Coproc { name, body } => {
                self.put("coproc ");
                // Read again, the name before a simple command would be the command.
                if !self.reads || !matches!(body, Command::Simple(_)) {
                    self.put(name);
                    self.put(" ");
                }
                match body {
                    Command::Simple(simple) => self.simple(simple),
                    Command::Compound(compound) => self.compound(compound),
                    Command::Function(function) => self.put(&function.name),
                }
            }
            Kind::Arith(arith) => {
                self.put("((");
                self.put(&arith.text.raw);
                self.put("))");
            }
            Kind::Cond(cond) => {
                self.put("[[ ");
                self.cond(cond);
                self.put(" ]]");
            }
        }
        self.redirects(&compound.redirects);
    }

    /// With them bash forgets that it has printed bodies.
    fn redirects(&mut self, redirects: &[Redirect]) {
        self.printed_bodies &= redirects.is_empty();
        for redirect in redirects {
            self.put(" ");
            self.redirect(redirect);
        }
    }

    /// `elif` comes out as an `if` within the `else`, as in bash.
    fn conditional(&mut self, arms: &[(List, List)], otherwise: Option<&List>) {
        let Some(((condition, body), rest)) = arms.split_first() else { return };
        self.put("if ");
        self.list(condition);
        // Bodies of a command alone wait for the end of what `then` runs.
        let alone = |chain: &Chain| chain.rest.is_empty() && chain.first.stages.len() < 2;
        if condition.items.len() > 1 || condition.items.iter().any(|item| !alone(&item.chain)) {
            self.flush_bodies("");
        }
        self.semicolon();
        self.put(" then");
        self.block(body);
        self.semicolon();
        self.line();
        if !rest.is_empty() {
            self.put("else");
            self.depth += 1;
            self.line();
            self.conditional(rest, otherwise);
            self.depth -= 1;
            self.semicolon();
            self.line();
        } else if let Some(body) = otherwise {
            self.put("else");
            self.block(body);
            self.semicolon();
            self.line();
        }
        self.put("fi");
    }

    fn counted(&mut self, keyword: &str, name: &[u8], words: Option<&[Word]>, body: &List) {
        self.put(keyword);
        self.put(" ");
        self.put(name);
        self.words(words);
        self.put(";");
        self.line();
        self.done(body);
    }

    fn done(&mut self, body: &List) {
        self.put("do");
        self.block(body);
        self.semicolon();
        self.line();
        self.put("done");
    }

    fn case(&mut self, word: &Word, arms: &[Arm]) {
        self.put("case ");
        self.put(&word.raw);
        self.put(" in ");
        self.depth += 1;
        for arm in arms {
            self.line();
            let patterns: Vec<Bytes> = arm.patterns.iter().map(|pattern| pattern.raw.to_vec()).collect();
            self.put(patterns.join(&b" | "[..]));
            self.put(")");
            if arm.body.items.is_empty() {
                self.out.push(b'\n');
            } else {
                self.block(&arm.body);
            }
            self.line();
            self.put(match arm.end {
                ArmEnd::Leave => ";;",
                ArmEnd::Fall => ";&",
                ArmEnd::Test => ";;&",
            });
        }
        self.depth -= 1;
        self.line();
        self.put("esac");
    }

    fn cond(&mut self, cond: &Cond) {
        match cond {
            Cond::Not(inner) => {
                self.put("! ");
                self.cond(inner);
            }
            Cond::Group(inner) => {
                self.put("( ");
                self.cond(inner);
                self.put(" )");
            }
            Cond::And(left, right) => {
                self.cond(left);
                self.put(" && ");
                self.cond(right);
            }
            Cond::Or(left, right) => {
                self.cond(left);
                self.put(" || ");
                self.cond(right);
            }
            Cond::Word(word) => self.put([b"-n ", &word.raw[..]].concat()),
            Cond::Unary(letter, word) => self.put([&[b'-', *letter, b' '], &word.raw[..]].concat()),
            Cond::Binary(op, left, right) => {
                self.put(&left.raw);
                match op {
                    CondOp::Match => self.put(" == "),
                    CondOp::Same => self.put(" = "),
                    CondOp::NoMatch => self.put(" != "),
                    CondOp::Regex => self.put(" =~ "),
                    CondOp::Before => self.put(" < "),
                    CondOp::After => self.put(" > "),
                    CondOp::Test(name) => self.put([b" -", &name[..], b" "].concat()),
                }
                self.put(&right.raw);
            }
        }
    }
}
