//! Arithmetic: from text to a tree.

mod operand;
mod source;

use crate::ir::{BinaryOp, Expr, Part, UnaryOp};

pub(crate) use operand::{closing_bracket, number_value, plain_number};
pub(crate) use source::{arith_of_source, from_word, text_from};

/// Levels of an expression, well below what the stack holds.
const MAX_DEPTH: u32 = 200;
/// Operators in an expression that becomes a tree. A tree of many is as deep as it is long; the interpreter, which takes longer
/// expressions token by token, needs no stack for them.
const MAX_OPERATORS: u32 = 400;

/// Text that is no expression; what is wrong with it comes out when it is evaluated.
type NoExpr = ();

type Parsed = Result<Expr, NoExpr>;

/// Parses text that holds no expansions. `None` is the empty expression.
pub(crate) fn parse_expr(text: &[u8]) -> Result<Option<Expr>, NoExpr> {
    ExprParser { made: true, ..ExprParser::new(text, &[]) }.whole()
}

struct ExprParser<'a> {
    text: &'a [u8],
    pos: usize,
    parts: &'a [Part],
    used: Vec<Part>,
    depth: u32,
    operators: u32,
    /// Where the newest operand starts, or what ended it.
    operand: usize,
    /// The text was made at run time, so that subscripts in it are still to be expanded.
    made: bool,
}

/// Binary operators by level, the loosest first; a longer operator stands before its prefix.
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
        Self { text, pos: 0, parts, used: Vec::new(), depth: 0, operators: 0, operand: 0, made: false }
    }

    fn rest(&self) -> &'a [u8] {
        self.text.get(self.pos..).unwrap_or_default()
    }

    fn skip(&mut self) {
        let rest = self.rest();
        self.pos += rest.iter().position(|b| !b.is_ascii_whitespace()).unwrap_or(rest.len());
    }

    fn whole(&mut self) -> Result<Option<Expr>, NoExpr> {
        self.skip();
        if self.rest().is_empty() {
            return Ok(None);
        }
        let expr = self.comma()?;
        self.skip();
        if self.rest().is_empty() {
            return Ok(Some(expr));
        }
        Err(())
    }

    fn accept(&mut self, operator: &[u8]) -> bool {
        self.skip();
        let found = self.rest().starts_with(operator);
        if found {
            self.pos += operator.len();
        }
        found
    }

    /// Counts an operator.
    fn another(&mut self) -> Result<(), NoExpr> {
        self.operators += 1;
        if self.operators > MAX_OPERATORS { Err(()) } else { Ok(()) }
    }

    fn comma(&mut self) -> Parsed {
        let mut left = self.assignment()?;
        while self.accept(b",") {
            self.another()?;
            let right = self.assignment()?;
            left = Expr::Binary(BinaryOp::Comma, Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn assignment(&mut self) -> Parsed {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(());
        }
        let start = (self.pos, self.used.len());
        self.skip();
        if let Some((name, subscript)) = self.lvalue()? {
            self.skip();
            let rest = self.rest();
            let compound = ASSIGNMENTS.iter().find(|(text, _)| rest.starts_with(text));
            let plain = rest.first() == Some(&b'=') && rest.get(1) != Some(&b'=');
            let found = compound.copied().or(plain.then_some((b"=", None)));
            if let Some((text, op)) = found {
                self.pos += text.len();
                let value = Box::new(self.assignment()?);
                self.depth -= 1;
                // What was read last, which is what follows the value where anything does.
                self.skip();
                let at = if self.rest().is_empty() { self.operand } else { self.pos };
                return Ok(Expr::Assign { name, subscript, op, value, at });
            }
        }
        self.pos = start.0;
        self.used.truncate(start.1);
        let result = self.choice();
        self.depth -= 1;
        result
    }

    fn choice(&mut self) -> Parsed {
        let condition = self.or()?;
        if !self.accept(b"?") {
            return Ok(condition);
        }
        let yes = self.comma()?;
        if !self.accept(b":") {
            return Err(());
        }
        // An assignment there needs parentheses.
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(());
        }
        let no = self.choice()?;
        self.depth -= 1;
        Ok(Expr::Choose(Box::new(condition), Box::new(yes), Box::new(no)))
    }

    fn or(&mut self) -> Parsed {
        let mut left = self.and()?;
        while self.accept(b"||") {
            self.another()?;
            left = Expr::Or(Box::new(left), Box::new(self.and()?));
        }
        Ok(left)
    }

    fn and(&mut self) -> Parsed {
        let mut left = self.level(0)?;
        while self.accept(b"&&") {
            self.another()?;
            left = Expr::And(Box::new(left), Box::new(self.level(0)?));
        }
        Ok(left)
    }

    fn level(&mut self, level: usize) -> Parsed {
        let Some(operators) = LEVELS.get(level) else { return self.power() };
        let mut left = self.level(level + 1)?;
        loop {
            self.skip();
            let Some((text, op)) = operators.iter().find(|(text, _)| self.at_operator(text)).copied() else {
                return Ok(left);
            };
            self.pos += text.len();
            self.another()?;
            self.skip();
            let at = self.pos;
            let right = Box::new(self.level(level + 1)?);
            left = match op {
                BinaryOp::Divide | BinaryOp::Modulo => Expr::Divide { op, left: Box::new(left), right, at },
                _ => Expr::Binary(op, Box::new(left), right),
            };
        }
    }

    /// Whether this operator comes next and is not the start of a longer one.
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
        if self.accept(b"**") {
            let (left, right) = (Box::new(base), Box::new(self.power()?));
            self.skip();
            let at = if self.rest().is_empty() { self.operand } else { self.pos };
            return Ok(Expr::Divide { op: BinaryOp::Power, left, right, at });
        }
        Ok(base)
    }

    fn unary(&mut self) -> Parsed {
        self.skip();
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(());
        }
        let rest = self.rest();
        let result = match rest.first() {
            Some(b'+') if rest.get(1) == Some(&b'+') => self.prefix_step(1),
            Some(b'-') if rest.get(1) == Some(&b'-') => self.prefix_step(-1),
            Some(b'+') => self.unary_op(UnaryOp::Plus),
            Some(b'-') => self.unary_op(UnaryOp::Minus),
            Some(b'!') => self.unary_op(UnaryOp::Not),
            Some(b'~') => self.unary_op(UnaryOp::Complement),
            _ => self.operand(),
        };
        self.depth -= 1;
        result
    }

    fn unary_op(&mut self, op: UnaryOp) -> Parsed {
        self.pos += 1;
        Ok(Expr::Unary(op, Box::new(self.unary()?)))
    }

    fn prefix_step(&mut self, by: i64) -> Parsed {
        let start = self.pos;
        self.pos += 2;
        self.skip();
        self.operand = self.pos;
        if let Some((name, subscript)) = self.lvalue()? {
            return Ok(Expr::Step { name, subscript, by, prefix: true });
        }
        // Two signs before something else, as in `3--5`.
        self.pos = start;
        self.unary_op(if by > 0 { UnaryOp::Plus } else { UnaryOp::Minus })
    }
}
