//! Arithmetic: from text to a tree.

mod operand;
mod source;

use crate::ir::{BinaryOp, Expr, Part, UnaryOp};

use operand::LValue;
pub(crate) use operand::{closing_bracket, plain_number};
pub(crate) use source::{arith_of_source, from_word};

/// Maximum nesting of an expression, well below what the stack holds.
const MAX_DEPTH: u32 = 200;

/// The message for nesting beyond [`MAX_DEPTH`].
const TOO_DEEP: &str = "expression recursion level exceeded";

/// A syntax error of an expression. The message shows the text up to `end` and, as the error token, the text from `token` to
/// `end`.
#[derive(Debug)]
pub(crate) struct ArithError {
    pub(crate) problem: &'static str,
    pub(crate) token: usize,
    pub(crate) end: usize,
}

type Parsed = Result<Expr, ArithError>;

/// Parses text without expansions. `None` is the empty expression.
pub(crate) fn parse_expr(text: &[u8]) -> Result<Option<Expr>, ArithError> {
    ExprParser { dynamic: true, ..ExprParser::new(text, &[]) }.whole()
}

struct ExprParser<'a> {
    text: &'a [u8],
    pos: usize,
    parts: &'a [Part],
    used: Vec<Part>,
    depth: u32,
    /// Start of the token that was read last.
    token: usize,
    /// The text was created at run time, so subscripts in it are not expanded yet.
    dynamic: bool,
    /// The last variable or element, with its start and end: one that is not assigned to is an operand.
    last_lvalue: Option<(usize, usize, LValue)>,
}

/// Binary operators by level, the loosest first. A longer operator precedes its prefix.
const LEVELS: &[&[(&[u8], BinaryOp)]] = &[
    &[(b"|", BinaryOp::BitOr)],
    &[(b"^", BinaryOp::BitXor)],
    &[(b"&", BinaryOp::BitAnd)],
    &[(b"==", BinaryOp::Equal), (b"!=", BinaryOp::NotEqual)],
    &[(b"<=", BinaryOp::LessEqual), (b">=", BinaryOp::GreaterEqual), (b"<", BinaryOp::Less), (b">", BinaryOp::Greater)],
    &[(b"<<", BinaryOp::ShiftLeft), (b">>", BinaryOp::ShiftRight)],
    &[(b"+", BinaryOp::Add), (b"-", BinaryOp::Subtract)],
    &[(b"*", BinaryOp::Multiply), (b"/", BinaryOp::Divide), (b"%", BinaryOp::Modulo)],
];

/// Operators of assignment, the longest first.
const ASSIGNMENTS: &[(&[u8], Option<BinaryOp>)] = &[
    (b"<<=", Some(BinaryOp::ShiftLeft)),
    (b">>=", Some(BinaryOp::ShiftRight)),
    (b"+=", Some(BinaryOp::Add)),
    (b"-=", Some(BinaryOp::Subtract)),
    (b"*=", Some(BinaryOp::Multiply)),
    (b"/=", Some(BinaryOp::Divide)),
    (b"%=", Some(BinaryOp::Modulo)),
    (b"&=", Some(BinaryOp::BitAnd)),
    (b"^=", Some(BinaryOp::BitXor)),
    (b"|=", Some(BinaryOp::BitOr)),
];

impl<'a> ExprParser<'a> {
    fn new(text: &'a [u8], parts: &'a [Part]) -> Self {
        Self { text, pos: 0, parts, used: Vec::new(), depth: 0, token: 0, dynamic: false, last_lvalue: None }
    }

    fn rest(&self) -> &'a [u8] {
        self.text.get(self.pos..).unwrap_or_default()
    }

    fn skip(&mut self) {
        let rest = self.rest();
        self.pos += rest.iter().position(|b| !b.is_ascii_whitespace()).unwrap_or(rest.len());
    }

    /// Start of the next token, or of the last one at the end of the text.
    fn error_token(&mut self) -> usize {
        self.skip();
        if self.rest().is_empty() { self.token } else { self.pos }
    }

    fn error(&mut self, problem: &'static str) -> ArithError {
        ArithError { problem, token: self.error_token(), end: self.text.len() }
    }

    /// The error for a token after a complete operand.
    fn unexpected(&mut self, problem: &'static str) -> ArithError {
        self.skip();
        let rest = self.rest();
        let known = |byte: &u8| byte.is_ascii_alphanumeric() || b"_*/%+-&^|<>=!~()?:,".contains(byte);
        let compound = ASSIGNMENTS.iter().any(|(text, _)| rest.starts_with(text));
        self.error(match rest.first() {
            Some(byte) if !known(byte) => "syntax error: invalid arithmetic operator",
            Some(b'=') => "attempted assignment to non-variable",
            _ if compound => "attempted assignment to non-variable",
            _ => problem,
        })
    }

    /// Skips a token of this length.
    fn take(&mut self, len: usize) {
        self.token = self.pos;
        self.pos += len;
    }

    fn whole(&mut self) -> Result<Option<Expr>, ArithError> {
        self.skip();
        if self.rest().is_empty() {
            return Ok(None);
        }
        let expr = self.comma()?;
        self.skip();
        if self.rest().is_empty() { Ok(Some(expr)) } else { Err(self.unexpected("syntax error in expression")) }
    }

    fn accept(&mut self, operator: &[u8]) -> bool {
        self.skip();
        let found = self.rest().starts_with(operator);
        if found {
            self.take(operator.len());
        }
        found
    }

    /// Runs `inner` one level deeper, or fails at [`MAX_DEPTH`].
    fn deeper(&mut self, inner: impl FnOnce(&mut Self) -> Parsed) -> Parsed {
        if self.depth >= MAX_DEPTH {
            return Err(self.error(TOO_DEEP));
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    fn comma(&mut self) -> Parsed {
        let first = self.assignment()?;
        let mut rest = Vec::new();
        while self.accept(b",") {
            rest.push((BinaryOp::Comma, self.assignment()?, 0));
        }
        Ok(chain(first, rest))
    }

    fn assignment(&mut self) -> Parsed {
        self.deeper(|parser| {
            let start = (parser.pos, parser.used.len());
            parser.skip();
            if let Some((name, subscript)) = parser.lvalue()? {
                parser.skip();
                let rest = parser.rest();
                let compound = ASSIGNMENTS.iter().find(|(text, _)| rest.starts_with(text));
                let plain = rest.first() == Some(&b'=') && rest.get(1) != Some(&b'=');
                if let Some((text, op)) = compound.copied().or(plain.then_some((b"=", None))) {
                    parser.take(text.len());
                    let value = Box::new(parser.assignment()?);
                    let at = parser.error_token();
                    return Ok(Expr::Assign { name, subscript, op, value, at });
                }
            }
            parser.pos = start.0;
            parser.used.truncate(start.1);
            parser.choice()
        })
    }

    fn choice(&mut self) -> Parsed {
        let condition = self.or()?;
        if !self.accept(b"?") {
            return Ok(condition);
        }
        self.skip();
        if matches!(self.rest().first(), None | Some(b':')) {
            return Err(self.error("expression expected"));
        }
        let yes = self.comma()?;
        if !self.accept(b":") {
            return Err(self.unexpected("`:' expected for conditional expression"));
        }
        self.skip();
        if self.rest().is_empty() {
            return Err(self.error("expression expected"));
        }
        // An assignment there needs parentheses.
        let no = self.deeper(Self::choice)?;
        Ok(Expr::Choose(Box::new(condition), Box::new(yes), Box::new(no)))
    }

    fn or(&mut self) -> Parsed {
        let mut operands = vec![self.and()?];
        while self.accept(b"||") {
            operands.push(self.and()?);
        }
        Ok(if operands.len() > 1 { Expr::Or(operands) } else { operands.remove(0) })
    }

    fn and(&mut self) -> Parsed {
        let mut operands = vec![self.level(0)?];
        while self.accept(b"&&") {
            operands.push(self.level(0)?);
        }
        Ok(if operands.len() > 1 { Expr::And(operands) } else { operands.remove(0) })
    }

    fn level(&mut self, level: usize) -> Parsed {
        let Some(operators) = LEVELS.get(level) else { return self.power() };
        let first = self.level(level + 1)?;
        let mut rest = Vec::new();
        loop {
            self.skip();
            let Some((text, op)) = operators.iter().find(|(text, _)| self.at_operator(text)).copied() else {
                return Ok(chain(first, rest));
            };
            self.take(text.len());
            self.skip();
            let at = self.pos;
            rest.push((op, self.level(level + 1)?, at));
        }
    }

    /// Returns whether this operator comes next and is not the start of a longer one.
    fn at_operator(&self, operator: &[u8]) -> bool {
        let rest = self.rest();
        let next = rest.get(operator.len());
        rest.starts_with(operator)
            && match operator {
                b"==" | b"!=" | b"<=" | b">=" => true,
                b"|" | b"&" => next != operator.first() && next != Some(&b'='),
                b"<" | b">" => next != operator.first(),
                b"*" => !matches!(next, Some(b'*' | b'=')),
                _ => next != Some(&b'='),
            }
    }

    fn power(&mut self) -> Parsed {
        let base = self.unary()?;
        if !self.accept(b"**") {
            return Ok(base);
        }
        let exponent = self.deeper(Self::power)?;
        let at = self.error_token();
        Ok(chain(base, vec![(BinaryOp::Power, exponent, at)]))
    }

    fn unary(&mut self) -> Parsed {
        self.skip();
        let rest = self.rest();
        self.deeper(|parser| match rest.first() {
            Some(b'+') if rest.get(1) == Some(&b'+') => parser.prefix_step(1),
            Some(b'-') if rest.get(1) == Some(&b'-') => parser.prefix_step(-1),
            Some(b'+') => parser.unary_op(UnaryOp::Plus),
            Some(b'-') => parser.unary_op(UnaryOp::Minus),
            Some(b'!') => parser.unary_op(UnaryOp::Not),
            Some(b'~') => parser.unary_op(UnaryOp::Complement),
            _ => parser.operand(),
        })
    }

    fn unary_op(&mut self, op: UnaryOp) -> Parsed {
        self.take(1);
        Ok(Expr::Unary(op, Box::new(self.unary()?)))
    }

    fn prefix_step(&mut self, by: i64) -> Parsed {
        let start = self.pos;
        self.take(2);
        self.skip();
        if let Some((name, subscript)) = self.lvalue()? {
            return Ok(Expr::Step { name, subscript, by, prefix: true });
        }
        // Two signs before something else, as in `3--5`.
        self.pos = start;
        self.unary_op(if by > 0 { UnaryOp::Plus } else { UnaryOp::Minus })
    }
}

/// Operators of one precedence after an operand.
fn chain(first: Expr, rest: Vec<(BinaryOp, Expr, usize)>) -> Expr {
    if rest.is_empty() { first } else { Expr::Chain { first: Box::new(first), rest } }
}
