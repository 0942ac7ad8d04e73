//! Rules, functions and directives.

use super::{Around, Compiled, Compiler, Failure, SPECIAL, Source};
use crate::code::Op;
use crate::token::{Keyword, Sign, Token};

/// Maximum nesting of included files.
const MAX_INCLUDES: usize = 200;

impl Compiler {
    pub(super) fn rules(&mut self) -> Compiled<()> {
        self.advance()?;
        loop {
            while self.token == Token::Newline || self.is(Sign::Semicolon) {
                if self.is(Sign::Semicolon) && !self.after_rule {
                    return Err(self.plain("each rule must have a pattern or an action part"));
                }
                self.after_rule = self.token == Token::Newline && self.after_rule;
                self.advance()?;
            }
            if self.token == Token::End {
                return Ok(());
            }
            self.rule()?;
            self.after_rule = true;
        }
    }

    /// An error reported without the source text.
    fn plain(&self, what: &str) -> Failure {
        Failure::Unlabelled { source: self.source_name(), line: self.lexer.start().1, what: what.to_owned() }
    }

    fn rule(&mut self) -> Compiled<()> {
        let keyword = match &self.token {
            Token::Keyword(keyword) => *keyword,
            Token::Directive(name) => {
                let name = name.clone();
                return self.directive(&name);
            }
            _ => return self.pattern_rule(),
        };
        match keyword {
            Keyword::Begin => self.special_rule(Around::Begin, "BEGIN"),
            Keyword::EndRule => self.special_rule(Around::End, "END"),
            Keyword::BeginFile => self.special_rule(Around::BeginFile, "BEGINFILE"),
            Keyword::EndFile => self.special_rule(Around::EndFile, "ENDFILE"),
            Keyword::Function | Keyword::Func => self.function_definition(),
            _ => self.pattern_rule(),
        }
    }

    fn special_rule(&mut self, around: Around, name: &str) -> Compiled<()> {
        self.advance()?;
        if !self.is(Sign::OpenBrace) {
            return Err(self.plain(&format!("{name} blocks must have an action part")));
        }
        self.around = around;
        let start = self.at();
        self.barrier = start;
        self.block()?;
        self.emit(Op::End);
        let program = &mut self.program;
        match around {
            Around::Begin => program.begin.push(start),
            Around::End => program.end.push(start),
            Around::BeginFile => program.begin_file.push(start),
            _ => program.end_file.push(start),
        }
        Ok(())
    }

    fn pattern_rule(&mut self) -> Compiled<()> {
        self.around = Around::Rule;
        let start = self.at();
        self.barrier = start;
        let mut skip = Vec::new();
        if !self.is(Sign::OpenBrace) {
            self.expression(super::expression::LOWEST)?;
            if self.accept(Sign::Comma)? {
                self.skip_newlines()?;
                skip.push(self.range(start)?);
            } else {
                skip.push(self.jump_unless());
            }
        }
        if self.is(Sign::OpenBrace) {
            self.block()?;
        } else if self.token == Token::Newline || self.is(Sign::Semicolon) || self.token == Token::End {
            self.emit(Op::Print { count: 0, sink: crate::code::Sink::Standard });
        } else {
            return Err(self.unexpected());
        }
        for jump in skip {
            self.land(jump);
        }
        let code = self.cut(start);
        self.rules.push(code);
        Ok(())
    }

    /// The second half of `begin, end`. The code of the first half starts at `start`. Returns the jump taken outside the range.
    fn range(&mut self, start: usize) -> Compiled<usize> {
        let number = self.program.ranges;
        self.program.ranges += 1;
        let begin = self.cut(start);
        let inactive = self.emit(Op::RangeActive(number, 0));
        let active = self.emit(Op::Jump(0));
        self.land(inactive);
        self.paste(begin);
        let outside = self.jump_unless();
        self.emit(Op::RangeSet(number, true));
        self.land(active);
        self.expression(super::expression::LOWEST)?;
        let goes_on = self.jump_unless();
        self.emit(Op::RangeSet(number, false));
        self.land(goes_on);
        Ok(outside)
    }

    fn function_definition(&mut self) -> Compiled<()> {
        self.advance()?;
        let name = match self.token.clone() {
            Token::Name(name) | Token::Called(name) => name,
            Token::Builtin(builtin) => {
                let what = format!("`{}' is a built-in function, it cannot be redefined", builtin.name());
                return Err(self.here(what));
            }
            _ => return Err(self.unexpected()),
        };
        self.advance()?;
        let shown = String::from_utf8_lossy(&name).into_owned();
        self.expect(Sign::Open)?;
        let parameters = self.parameters(&name)?;
        let taken = self.globals.contains_key(&name);
        let function = self.function(&name) as usize;
        if self.program.functions[function].entry.is_some() || taken {
            return Err(self.meaning(format!("function name `{shown}' previously defined")));
        }
        self.skip_newlines()?;
        let definition = &mut self.program.functions[function];
        definition.entry = Some(self.program.ops.len());
        definition.parameters.clone_from(&parameters);
        (self.locals, self.around) = (parameters, Around::Function);
        self.barrier = self.at();
        self.block()?;
        self.emit(Op::ReturnUnset);
        self.locals.clear();
        Ok(())
    }

    fn parameters(&mut self, function: &[u8]) -> Compiled<Vec<Vec<u8>>> {
        let shown = String::from_utf8_lossy(function).into_owned();
        let mut parameters: Vec<Vec<u8>> = Vec::new();
        self.skip_newlines()?;
        while !self.is(Sign::Close) {
            if !parameters.is_empty() {
                self.expect(Sign::Comma)?;
                self.skip_newlines()?;
            }
            let Token::Name(name) = self.token.clone() else {
                return Err(self.unexpected());
            };
            let word = String::from_utf8_lossy(&name).into_owned();
            if name == function {
                return Err(self.meaning(format!("function `{shown}': cannot use function name as parameter name")));
            }
            if SPECIAL.contains(&word.as_str()) {
                let what = format!("function `{shown}': cannot use special variable `{word}' as a function parameter");
                return Err(self.meaning(what));
            }
            if let Some(at) = parameters.iter().position(|known| *known == name) {
                let (this, other) = (parameters.len() + 1, at + 1);
                let what = format!("function `{shown}': parameter #{this}, `{word}', duplicates parameter #{other}");
                return Err(self.meaning(what));
            }
            parameters.push(name);
            self.advance()?;
            self.skip_newlines()?;
        }
        self.advance()?;
        Ok(parameters)
    }

    fn directive(&mut self, name: &[u8]) -> Compiled<()> {
        match name {
            b"include" | b"load" => {}
            b"namespace" => return Err(self.fatal("@namespace is not supported")),
            _ => return Err(self.unexpected()),
        }
        self.advance()?;
        let Token::Text(text) = self.token.clone() else {
            return Err(self.unexpected());
        };
        match name {
            b"load" => {
                let shown = String::from_utf8_lossy(&text).into_owned();
                Err(self.fatal(format!("cannot open shared library `{shown}' for reading: No such file or directory")))
            }
            _ => self.include(&text),
        }
    }

    /// Compiles a file at its `@include` directive, unless it was already included.
    fn include(&mut self, name: &[u8]) -> Compiled<()> {
        self.advance()?;
        if self.included.iter().any(|known| known == name) {
            return Ok(());
        }
        if self.included.len() > MAX_INCLUDES {
            return Err(self.fatal("too many files are included"));
        }
        let text = match (self.reader)(name) {
            Ok(text) => text,
            Err(reason) => {
                let shown = String::from_utf8_lossy(name).into_owned();
                return Err(self.meaning(format!("cannot open source file `{shown}' for reading: {reason}")));
            }
        };
        self.source(&Source { name: name.to_vec(), text })
    }
}
