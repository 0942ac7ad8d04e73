//! Expressions of arithmetic.

use std::rc::Rc;

use super::token::{is_name_byte, name_len};
use super::word::Stop;
use super::{Parse, Parser};
use crate::ir::{Arith, BinaryOp, Bytes, Expr, Name, Part, Subscript, UnaryOp, Word};

/// Levels of an expression, well below what the stack holds.
const MAX_DEPTH: u32 = 200;
/// Operators in an expression that becomes a tree. A tree of many is as deep as it is long; the interpreter, which takes longer
/// expressions token by token, needs no stack for them.
const MAX_OPERATORS: u32 = 400;
/// Stands in the flat text for the expansion whose index follows.
const MARK: u8 = 0;

/// Text that is no expression; what is wrong with it comes out when it is evaluated.
type NoExpr = ();

type Parsed = Result<Expr, NoExpr>;
/// A variable, or an element of one.
type Place = (Name, Option<Rc<Subscript>>);

impl Parser<'_> {
    /// An expression that is a command or belongs to one, and no expansion.
    pub(super) fn command_arith_until(&mut self, closers: &'static [u8]) -> Parse<Arith> {
        let outer = std::mem::take(&mut self.quoted_substitution);
        let arith = self.arith_until(closers);
        self.quoted_substitution = outer;
        arith
    }

    /// An expression up to one of `closers`, which is not read.
    pub(super) fn arith_until(&mut self, closers: &'static [u8]) -> Parse<Arith> {
        let word = self.word_until(Stop::Arith(closers), true)?;
        if self.peek().is_none() {
            return Err(self.unclosed(if closers == b"]" { b']' } else { b')' }, self.line));
        }
        Ok(from_word(word))
    }
}

/// An expression whose text is this word.
pub(crate) fn from_word(text: Word) -> Arith {
    let mut flat = Bytes::new();
    let mut parts = Vec::new();
    if !flatten(&text.parts, &mut flat, &mut parts) {
        return Arith { text, ..Arith::default() };
    }
    let mut parser = ExprParser::new(&flat, &parts);
    match parser.whole() {
        Ok(expr) => Arith { tree: expr.map(Rc::new), expansions: parser.used, text, guards: false },
        Err(_) => Arith { text, ..Arith::default() },
    }
}

/// The expression that the source of a word is, whatever the word would be as one of a command; `None` when it is none.
pub(crate) fn arith_of_source(raw: &[u8]) -> Option<Arith> {
    let text = [raw, b")"].concat();
    let mut parser = Parser::new(&text, 1, Rc::from(&b""[..]));
    let arith = parser.arith_until(b")").ok()?;
    (parser.offset() + 1 == text.len()).then_some(arith)
}

/// Bytes of an expression's text from a place in its tree on, once its expansions have become texts of these lengths.
pub(crate) fn text_from(arith: &Arith, lengths: &[usize], at: usize) -> usize {
    let (mut flat, mut parts) = (Bytes::new(), Vec::new());
    flatten(&arith.text.parts, &mut flat, &mut parts);
    let before = flat.get(..at).unwrap_or_default().iter().filter(|&&byte| byte == MARK).count() / 2;
    let rest = flat.get(at..).unwrap_or_default();
    let plain: usize = rest.split(|&byte| byte == MARK).step_by(2).map(<[u8]>::len).sum();
    plain + lengths.iter().skip(before).sum::<usize>()
}

/// The text with marks for its expansions; false when it holds something that cannot be marked.
fn flatten(from: &[Part], flat: &mut Bytes, parts: &mut Vec<Part>) -> bool {
    from.iter().all(|part| match part {
        Part::Lit(text) | Part::Quoted(text) => {
            flat.extend_from_slice(text);
            !text.contains(&MARK)
        }
        Part::Double(inner) => flatten(inner, flat, parts),
        Part::Tilde(name) => {
            flat.push(b'~');
            flat.extend_from_slice(name);
            true
        }
        Part::Process { .. } => false,
        Part::Param(_) | Part::Command(_) | Part::Arith(_) => {
            flat.push(MARK);
            flat.extend_from_slice(parts.len().to_string().as_bytes());
            flat.push(MARK);
            parts.push(part.clone());
            true
        }
    })
}

/// Parses text that holds no expansions. `None` is the empty expression.
pub(crate) fn parse_expr(text: &[u8]) -> Result<Option<Expr>, NoExpr> {
    ExprParser { made: true, ..ExprParser::new(text, &[]) }.whole()
}

/// The value of text that is nothing but a decimal number, as most operands are.
pub(crate) fn plain_number(text: &[u8]) -> Option<i64> {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let leading_zero = digits.len() > 1 && digits.first() == Some(&b'0');
    if digits.is_empty() || digits.len() > 18 || leading_zero || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let value = digits.iter().fold(0_i64, |n, b| n * 10 + i64::from(b - b'0'));
    Some(if digits.len() == text.len() { value } else { -value })
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

    fn operand(&mut self) -> Parsed {
        self.operand = self.pos;
        let rest = self.rest();
        match rest.first() {
            Some(b'(') => {
                self.pos += 1;
                let inner = self.comma()?;
                if !self.accept(b")") {
                    return Err(());
                }
                self.operand = self.pos - 1;
                Ok(inner)
            }
            Some(b'0'..=b'9') => self.number(),
            Some(&MARK) => self.expansion(),
            Some(_) => match self.lvalue()? {
                Some((name, subscript)) => Ok(self.postfix(name, subscript)),
                None => Err(()),
            },
            None => Err(()),
        }
    }

    fn postfix(&mut self, name: Name, subscript: Option<Rc<Subscript>>) -> Expr {
        self.skip();
        let rest = self.rest();
        for (text, by) in [(b"++", 1), (b"--", -1)] {
            if rest.starts_with(text) {
                self.operand = self.pos;
                self.pos += 2;
                return Expr::Step { name, subscript, by, prefix: false };
            }
        }
        match subscript {
            Some(subscript) => Expr::Element(name, subscript),
            None => Expr::Var(name),
        }
    }

    /// A variable or an element of an array.
    fn lvalue(&mut self) -> Result<Option<Place>, NoExpr> {
        let rest = self.rest();
        let len = name_len(rest);
        if len == 0 || rest.get(len) == Some(&MARK) {
            return Ok(None);
        }
        let name: Name = rest.get(..len).unwrap_or_default().into();
        self.pos += len;
        if self.rest().first() != Some(&b'[') {
            return Ok(Some((name, None)));
        }
        let inside = self.rest().get(1..).unwrap_or_default();
        let Some(len) = closing_bracket(inside) else {
            return Err(());
        };
        let subscript = inside.get(..len).unwrap_or_default();
        self.pos += len + 2;
        if self.made && subscript.iter().any(|byte| matches!(byte, b'$' | b'`' | b'"' | b'\'' | b'\\')) {
            return Ok(Some((name, Some(Rc::new(super::subscript_from_text(subscript))))));
        }
        if let Some(text) = self.quoted_key(subscript) {
            return Ok(Some((name, Some(Rc::new(Subscript { made: false, ..super::subscript_from_text(&text) })))));
        }
        let key = self.word_of(subscript);
        let mut subscript = super::subscript::subscript_of(key);
        let expands = |part: &Part| !matches!(part, Part::Lit(_) | Part::Quoted(_));
        subscript.index.guards = subscript.key.parts.iter().any(|part| match part {
            Part::Double(inner) => inner.iter().any(expands),
            part => expands(part),
        });
        Ok(Some((name, Some(Rc::new(subscript)))))
    }

    /// The text of a subscript that is all in single quotes, between which nothing is expanded.
    fn quoted_key(&self, text: &[u8]) -> Option<Bytes> {
        let inside = text.strip_prefix(b"'")?.strip_suffix(b"'")?;
        if inside.contains(&b'\'') {
            return None;
        }
        let mut key = b"'".to_vec();
        for (index, piece) in inside.split(|&byte| byte == MARK).enumerate() {
            match (index % 2, self.part(piece)) {
                (0, _) => key.extend_from_slice(piece),
                (_, Some(Part::Param(param))) => key.extend_from_slice(&param.raw),
                _ => return None,
            }
        }
        key.push(b'\'');
        Some(key)
    }

    /// The pieces of a stretch of the flat text.
    fn word_of(&self, text: &[u8]) -> Word {
        let mut parts = Vec::new();
        for (index, piece) in text.split(|&b| b == MARK).enumerate() {
            if index % 2 == 1 {
                parts.extend(self.part(piece).cloned());
            } else if !piece.is_empty() {
                parts.push(Part::Lit(piece.to_vec()));
            }
        }
        Word { parts, raw: text.into(), braces: false }
    }

    fn part(&self, digits: &[u8]) -> Option<&'a Part> {
        usize::try_from(plain_number(digits)?).ok().and_then(|index| self.parts.get(index))
    }

    /// An expansion that is an operand of its own; one that touches other text is not.
    fn expansion(&mut self) -> Parsed {
        let before = self.pos.checked_sub(1).and_then(|at| self.text.get(at)).copied();
        let inside = self.rest().get(1..).unwrap_or_default();
        let len = inside.iter().position(|&b| b == MARK).unwrap_or(inside.len());
        let after = inside.get(len + 1).copied();
        let joins = |b: Option<u8>| b.is_some_and(|b| is_name_byte(b) || matches!(b, MARK | b'#' | b'@' | b'['));
        let part = self.part(inside.get(..len).unwrap_or_default());
        let (Some(part), false) = (part, joins(before) || joins(after)) else {
            return Err(());
        };
        self.used.push(part.clone());
        self.pos += len + 2;
        Ok(Expr::Expansion(self.used.len() - 1))
    }

    fn number(&mut self) -> Parsed {
        let rest = self.rest();
        let len = rest.iter().position(|&b| !is_name_byte(b) && !matches!(b, b'#' | b'@')).unwrap_or(rest.len());
        let text = rest.get(..len).unwrap_or_default();
        if rest.get(len) == Some(&MARK) {
            return Err(());
        }
        let value = number_value(text).map_err(|_| ())?;
        self.pos += len;
        Ok(Expr::Number(value))
    }
}

/// Length of the text before the bracket that closes a subscript. Subscripts deep within subscripts are taken for unclosed.
pub(crate) fn closing_bracket(text: &[u8]) -> Option<usize> {
    let mut open = 0_u32;
    for (at, &byte) in text.iter().enumerate() {
        match byte {
            b'[' if open >= MAX_DEPTH => return None,
            b'[' => open += 1,
            b']' if open == 0 => return Some(at),
            b']' => open -= 1,
            _ => {}
        }
    }
    None
}

/// The value of a constant: decimal, `0x`, octal with a leading zero, or `base#digits`. It wraps as bash's does.
pub(crate) fn number_value(text: &[u8]) -> Result<i64, &'static str> {
    let (mut base, digits) = match text {
        [b'0', b'x' | b'X', digits @ ..] => (16, digits),
        [b'0', _, ..] => (8, text),
        _ => (10, text),
    };
    // Whether a number before `#` may still turn out to be the base.
    let mut may_be_base = base == 10;
    let mut value = 0_i64;
    for (at, &byte) in digits.iter().enumerate() {
        let digit = match byte {
            b'0'..=b'9' => byte - b'0',
            b'a'..=b'z' => byte - b'a' + 10,
            b'A'..=b'Z' if base <= 36 => byte - b'A' + 10,
            b'A'..=b'Z' => byte - b'A' + 36,
            b'@' => 62,
            b'_' => 63,
            b'#' if !may_be_base => return Err("invalid number"),
            b'#' if !(2..=64).contains(&value) => return Err("invalid arithmetic base"),
            b'#' if at + 1 == digits.len() => return Err("invalid integer constant"),
            b'#' => {
                may_be_base = false;
                base = std::mem::take(&mut value);
                continue;
            }
            _ => return Err("syntax error in expression"),
        };
        if i64::from(digit) >= base {
            return Err("value too great for base");
        }
        value = value.wrapping_mul(base).wrapping_add(i64::from(digit));
    }
    Ok(value)
}
