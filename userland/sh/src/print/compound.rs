//! Compound commands, and conditions of `[[ ]]`.

use super::Printer;
use crate::ir::{Arm, ArmEnd, Bytes, Chain, Command, Compound, Cond, CondOp, Kind, List, Word};

impl Printer {
    pub(super) fn compound(&mut self, compound: &Compound) {
        match &compound.kind {
            Kind::Group(list) => self.group(list),
            Kind::Subshell(list) => {
                self.put("( ");
                self.list(list);
                self.flush_bodies("");
                self.put(" )");
            }
            Kind::If { arms, else_body } => self.conditional(arms, else_body.as_ref()),
            Kind::Loop { until, condition, body } => {
                self.put(if *until { "until " } else { "while " });
                self.list(condition);
                self.flush_bodies("");
                self.semicolon();
                self.put(" ");
                self.done(body);
            }
            Kind::For { name, words, body } => self.counted("for", name, words.as_deref(), body),
            Kind::Select { name, words, body } => self.counted("select", name, words.as_deref(), body),
            Kind::ForArith { init, condition, step, body } => {
                // bash prints an omitted expression as the 1 that it means.
                let texts = [init, condition, step].map(|arith| match arith.text.raw.trim_ascii_start() {
                    b"" => b"1".as_slice(),
                    text => text,
                });
                self.put("for ((");
                self.put(texts.join(&b"; "[..]));
                self.put("))");
                self.line();
                self.done(body);
            }
            Kind::Case { word, arms } => self.case(word, arms),
            Kind::Coproc { name, body } => self.coprocess(name, body),
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

    /// `elif` is printed as an `if` within the `else`, as in bash.
    fn conditional(&mut self, arms: &[(List, List)], else_body: Option<&List>) {
        let Some(((condition, body), rest)) = arms.split_first() else { return };
        self.put("if ");
        self.list(condition);
        // Bodies of a single command are printed after the commands of `then`.
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
            self.conditional(rest, else_body);
            self.depth -= 1;
            self.semicolon();
            self.line();
        } else if let Some(body) = else_body {
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

    fn coprocess(&mut self, name: &[u8], body: &Command) {
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

    pub(super) fn cond(&mut self, cond: &Cond) {
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
            Cond::Word(word) => {
                self.put("-n ");
                self.put(&word.raw);
            }
            Cond::Unary(letter, word) => {
                self.put([b'-', *letter, b' ']);
                self.put(&word.raw);
            }
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
