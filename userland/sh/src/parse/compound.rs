//! Compound commands and function definitions.

use std::rc::Rc;

use super::attempts::Attempt;
use super::list::CLOSERS;
use super::{Parse, Parser};
use crate::ir::{Arith, Arm, ArmEnd, Command, Compound, Kind, List, Name, Redirect, Word};

/// Reserved words that start compound commands.
const COMPOUND: &[&[u8]] = &[b"{", b"if", b"while", b"until", b"for", b"select", b"case", b"[["];

impl Parser<'_> {
    /// One command of a pipeline.
    pub(super) fn command(&mut self) -> Parse<Command> {
        self.deeper(|p| {
            p.expand_alias();
            let line = p.line;
            let Some(kind) = p.compound_kind()? else {
                return p.function_or_simple();
            };
            let redirects = p.compound_redirects()?;
            Ok(Command::Compound(Rc::new(Compound { line, kind, redirects })))
        })
    }

    /// The compound command that comes next, if one does.
    pub(super) fn compound_kind(&mut self) -> Parse<Option<Kind>> {
        if self.peek() == Some(b'(') {
            return self.parenthesis().map(Some);
        }
        let kind = match self.bare_word() {
            b"{" => {
                self.pos += 1;
                Kind::Group(self.body_until(b"}")?)
            }
            b"if" => self.if_clause()?,
            b"while" => self.loop_clause(false, 5)?,
            b"until" => self.loop_clause(true, 5)?,
            b"for" => self.for_clause()?,
            b"select" => self.select_clause()?,
            b"case" => self.case_clause()?,
            b"coproc" => return self.coproc().map(Some),
            b"[[" => {
                self.pos += 2;
                Kind::Cond(self.condition()?)
            }
            b"in" | b"]]" => return Err(self.unexpected()),
            word if CLOSERS.contains(&word) => return Err(self.unexpected()),
            _ => return Ok(None),
        };
        Ok(Some(kind))
    }

    /// The redirections of a compound command. A word must not follow, not even one that closes another command.
    pub(super) fn compound_redirects(&mut self) -> Parse<Vec<Redirect>> {
        let redirects = self.redirects()?;
        if !redirects.is_empty() && self.bare_word().first().is_some_and(|byte| *byte != b'#') {
            return Err(self.unexpected());
        }
        Ok(redirects)
    }

    fn body_until(&mut self, close: &[u8]) -> Parse<List> {
        let body = self.compound_list()?;
        self.expect_keyword(close)?;
        Ok(body)
    }

    /// `(( ))` when it reads as such, else a subshell.
    fn parenthesis(&mut self) -> Parse<Kind> {
        if self.starts_with(b"((")
            && let Some(expression) = self.double_parenthesis()?
        {
            return Ok(Kind::Arith(expression));
        }
        self.subshell()
    }

    fn subshell(&mut self) -> Parse<Kind> {
        self.pos += 1;
        let body = self.compound_list()?;
        if self.accept(b")") { Ok(Kind::Subshell(body)) } else { Err(self.unexpected()) }
    }

    /// The expression of `(( ))`; `None`, with nothing read, when the parentheses do not close side by side.
    fn double_parenthesis(&mut self) -> Parse<Option<Arith>> {
        let (start, line) = (self.mark(), self.line);
        if self.has_failed(start.pos, Attempt::Parentheses) {
            return Ok(None);
        }
        self.pos += 2;
        match self.arith_until(b")") {
            Ok(expression) if self.starts_with(b"))") => {
                self.pos += 2;
                return Ok(Some(expression));
            }
            Err(_) if self.peek().is_none() => return Err(self.unclosed(b')', line)),
            _ => {}
        }
        self.record_failure(start.pos, Attempt::Parentheses);
        self.back(start);
        Ok(None)
    }

    fn if_clause(&mut self) -> Parse<Kind> {
        self.pos += 2;
        let mut arms = Vec::new();
        loop {
            let condition = self.compound_list()?;
            self.expect_keyword(b"then")?;
            arms.push((condition, self.compound_list()?));
            if self.keyword(b"elif") {
                continue;
            }
            let else_body = if self.keyword(b"else") { Some(self.compound_list()?) } else { None };
            self.expect_keyword(b"fi")?;
            return Ok(Kind::If { arms, else_body });
        }
    }

    /// `coproc [name] command`: a name only before a compound command.
    fn coproc(&mut self) -> Parse<Kind> {
        self.pos += 6;
        self.skip_blanks();
        let (start, word) = (self.pos, self.bare_word());
        let mut name: Name = b"COPROC"[..].into();
        if !word.is_empty() && !COMPOUND.contains(&word) && !CLOSERS.contains(&word) {
            let word: Name = word.into();
            self.pos += word.len();
            self.skip_blanks();
            if self.peek() == Some(b'(') || COMPOUND.contains(&self.bare_word()) {
                name = word;
            } else {
                self.pos = start;
            }
        }
        Ok(Kind::Coproc { name, body: self.command()? })
    }

    fn loop_clause(&mut self, until: bool, word_len: usize) -> Parse<Kind> {
        self.pos += word_len;
        let condition = self.compound_list()?;
        self.expect_keyword(b"do")?;
        Ok(Kind::Loop { until, condition, body: self.body_until(b"done")? })
    }

    fn for_clause(&mut self) -> Parse<Kind> {
        self.pos += 3;
        self.skip_blanks();
        if self.starts_with(b"((") {
            return self.for_arith();
        }
        let (name, words) = self.loop_head()?;
        Ok(Kind::For { name, words, body: self.loop_body()? })
    }

    fn select_clause(&mut self) -> Parse<Kind> {
        self.pos += 6;
        let (name, words) = self.loop_head()?;
        Ok(Kind::Select { name, words, body: self.loop_body()? })
    }

    /// `name [in words] separator`
    fn loop_head(&mut self) -> Parse<(Name, Option<Vec<Word>>)> {
        self.skip_blanks();
        let word = self.bare_word();
        let len = word.len();
        if len == 0 {
            return Err(self.unexpected());
        }
        // An invalid name is reported when the loop runs.
        let name: Name = word.into();
        self.pos += len;
        if !self.keyword_of_head(b"in")? {
            if !self.at_keyword(b"do") {
                self.accept(b";");
                self.skip_to_command()?;
            }
            return Ok((name, None));
        }
        let mut words = Vec::new();
        loop {
            self.skip_blanks();
            match self.peek() {
                Some(b'\n') => break,
                Some(b';') if self.operator() == Some(b";") => {
                    self.pos += 1;
                    break;
                }
                None => return Err(self.unexpected()),
                Some(_) => match self.word()? {
                    Some(word) if self.posix => words.push(word),
                    Some(word) => words.push(super::word::tilde_after_equals(word)),
                    None => return Err(self.unexpected()),
                },
            }
        }
        self.skip_to_command()?;
        Ok((name, Some(words)))
    }

    /// Skips a reserved word if it comes next or on a later line.
    fn keyword_of_head(&mut self, word: &[u8]) -> Parse<bool> {
        self.skip_blanks();
        if self.peek() == Some(b'\n') {
            self.skip_to_command()?;
        }
        let found = self.at_keyword(word);
        self.pos += if found { word.len() } else { 0 };
        Ok(found)
    }

    /// `do .. done` or `{ .. }`
    fn loop_body(&mut self) -> Parse<List> {
        self.skip_to_command()?;
        if self.keyword(b"{") {
            return self.body_until(b"}");
        }
        self.expect_keyword(b"do")?;
        self.body_until(b"done")
    }

    fn for_arith(&mut self) -> Parse<Kind> {
        self.pos += 2;
        let mut expressions = Vec::new();
        loop {
            expressions.push(self.arith_until(b";)")?);
            if self.peek() != Some(b';') {
                break;
            }
            self.pos += 1;
        }
        self.join_closing();
        if !self.starts_with(b"))") {
            return Err(self.unexpected());
        }
        let Ok([init, condition, step]) = <[Arith; 3]>::try_from(expressions) else {
            return Err(self.unexpected());
        };
        self.pos += 2;
        self.accept(b";");
        self.skip_lines()?;
        Ok(Kind::ForArith { init, condition, step, body: self.loop_body()? })
    }

    fn case_clause(&mut self) -> Parse<Kind> {
        self.pos += 4;
        self.skip_blanks();
        let Some(word) = self.word()? else { return Err(self.unexpected()) };
        if !self.keyword_of_head(b"in")? {
            return Err(self.unexpected());
        }
        Ok(Kind::Case { word, arms: self.arms()? })
    }

    fn arms(&mut self) -> Parse<Vec<Arm>> {
        let mut arms = Vec::new();
        loop {
            self.skip_lines()?;
            if self.keyword(b"esac") {
                return Ok(arms);
            }
            arms.push(self.arm()?);
        }
    }

    fn arm(&mut self) -> Parse<Arm> {
        self.accept(b"(");
        let mut patterns = Vec::new();
        loop {
            self.skip_blanks();
            let Some(pattern) = self.word()? else { return Err(self.unexpected()) };
            patterns.push(pattern);
            if !self.accept(b"|") {
                break;
            }
        }
        if !self.accept(b")") {
            return Err(self.unexpected());
        }
        let body = self.optional_list()?;
        let end = if self.accept(b";;&") {
            ArmEnd::Test
        } else if self.accept(b";&") {
            ArmEnd::Fall
        } else if self.accept(b";;") || self.at_keyword(b"esac") {
            ArmEnd::Leave
        } else {
            return Err(self.unexpected());
        };
        Ok(Arm { patterns, body, end })
    }
}
