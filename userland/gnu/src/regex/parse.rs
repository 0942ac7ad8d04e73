//! Parser of POSIX patterns with the GNU extensions.

use super::bracket;
use super::syntax::{Assertion, Node, Set};
use super::{Dialect, Error, StrayOperators};

/// The largest count in braces, as in GNU's `RE_DUP_MAX`.
const MAX_REPEATS: u32 = 32_767;

/// Maximum nesting of groups, to protect the stack.
const MAX_NESTING: u32 = 250;

/// Maximum nesting of counts on one atom, such as `a{2}{2}`.
const MAX_STACKED: u32 = 16;

/// A parsed pattern.
#[derive(Debug)]
pub(crate) struct Parsed {
    pub(crate) node: Node,
    /// Contains back-references.
    pub(crate) back_references: bool,
    /// Number of groups.
    pub(crate) groups: u32,
    /// Contains something that extends beyond ASCII in Unicode mode.
    pub(crate) depends_on_locale: bool,
    /// GNU's warnings.
    pub(crate) warnings: Vec<String>,
}

/// Parses a pattern.
pub(crate) fn parse(
    pattern: &[u8],
    dialect: Dialect,
    misplaced: StrayOperators,
    unicode: bool,
) -> Result<Parsed, Error> {
    let mut parser = Parser {
        rest: pattern,
        dialect,
        misplaced,
        unicode,
        depth: 0,
        closed_groups: Vec::new(),
        groups: 0,
        back_references: false,
        depends_on_locale: false,
        warnings: Vec::new(),
    };
    let node = parser.alternation()?;
    if !parser.rest.is_empty() {
        return Err(Error::new("Unmatched ) or \\)"));
    }
    let Parser { back_references, groups, depends_on_locale, warnings, .. } = parser;
    Ok(Parsed { node, back_references, groups, depends_on_locale, warnings })
}

struct Parser<'p> {
    rest: &'p [u8],
    dialect: Dialect,
    misplaced: StrayOperators,
    unicode: bool,
    depth: u32,
    /// Numbers of the closed groups; a back-reference may refer only to these.
    closed_groups: Vec<u32>,
    groups: u32,
    back_references: bool,
    depends_on_locale: bool,
    warnings: Vec<String>,
}

/// Tokens of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    Open,
    Close,
    Or,
    Star,
    Plus,
    Maybe,
    Brace,
    Caret,
    Dollar,
    Dot,
    Bracket,
    Escaped(u8),
    Plain(u8),
}

impl Parser<'_> {
    /// Returns the next token and its length.
    fn peek(&self) -> Result<Option<(Token, usize)>, Error> {
        let Some(first) = self.rest.first() else {
            return Ok(None);
        };
        let extended = self.dialect == Dialect::Extended;
        let emacs = self.dialect == Dialect::Emacs;
        if *first != b'\\' {
            let token = match first {
                b'(' if extended => Token::Open,
                b')' if extended && (self.depth > 0 || self.misplaced == StrayOperators::AllRefused) => Token::Close,
                b'|' if extended => Token::Or,
                b'*' => Token::Star,
                b'+' if extended || emacs => Token::Plus,
                b'?' if extended || emacs => Token::Maybe,
                b'{' if extended => Token::Brace,
                b'^' => Token::Caret,
                b'$' => Token::Dollar,
                b'.' => Token::Dot,
                b'[' => Token::Bracket,
                byte => Token::Plain(*byte),
            };
            return Ok(Some((token, 1)));
        }
        let Some(second) = self.rest.get(1) else {
            return Err(Error::new("Trailing backslash"));
        };
        let token = match second {
            b'(' if !extended => Token::Open,
            b')' if !extended => Token::Close,
            b'|' if !extended => Token::Or,
            b'{' if !extended && !emacs => Token::Brace,
            b'+' if !extended && !emacs => Token::Plus,
            b'?' if !extended && !emacs => Token::Maybe,
            byte => Token::Escaped(*byte),
        };
        Ok(Some((token, 2)))
    }

    fn skip(&mut self, length: usize) {
        self.rest = self.rest.get(length..).unwrap_or_default();
    }

    fn alternation(&mut self) -> Result<Node, Error> {
        let mut branches = vec![self.branch()?];
        while let Some((Token::Or, length)) = self.peek()? {
            self.skip(length);
            branches.push(self.branch()?);
        }
        Ok(if branches.len() == 1 { branches.remove(0) } else { Node::Alternate(branches) })
    }

    fn branch(&mut self) -> Result<Node, Error> {
        let mut nodes: Vec<Node> = Vec::new();
        // True if an operator at this point has no operand.
        let mut start = true;
        // Number of counts on the last node.
        let mut stacked = 0;
        while let Some((token, length)) = self.peek()? {
            let counts = match token {
                Token::Or => break,
                Token::Close if self.depth > 0 => break,
                Token::Close => return Err(Error::new("Unmatched ) or \\)")),
                Token::Star => Some((0, None)),
                Token::Plus => Some((1, None)),
                Token::Maybe => Some((0, Some(1))),
                _ => None,
            };
            if let Some((min, max)) = counts {
                self.skip(length);
                let literal = char::from(match token {
                    Token::Plus => b'+',
                    Token::Maybe => b'?',
                    _ => b'*',
                });
                if start && self.dialect != Dialect::Extended {
                    nodes.push(Node::Char(literal));
                    start = false;
                    continue;
                }
                self.must_follow(start, &nodes)?;
                if start {
                    self.warnings.push(format!("{literal} at start of expression"));
                }
                self.repeat(&mut nodes, min, max, &mut stacked)?;
                start = false;
                continue;
            }
            if token == Token::Brace {
                self.must_follow(start, &nodes)?;
            }
            if token == Token::Brace
                && let Some((min, max)) = self.braces(length, start)?
            {
                if start {
                    self.warnings.push("{...} at start of expression".to_owned());
                }
                self.repeat(&mut nodes, min, max, &mut stacked)?;
                start = false;
                continue;
            }
            let node = self.atom(token, length, start)?;
            // After an anchor an operator has no operand either.
            start = match node {
                Node::Assertion(Assertion::LineStart) => true,
                Node::Assertion(_) => self.dialect == Dialect::Basic,
                _ => false,
            };
            stacked = 0;
            nodes.push(node);
        }
        Ok(match nodes.len() {
            0 => Node::Empty,
            1 => nodes.remove(0),
            _ => Node::Concat(nodes),
        })
    }

    /// Reports an error for an operator without operand if the syntax is strict.
    fn must_follow(&self, start: bool, before: &[Node]) -> Result<(), Error> {
        let nothing = start
            || match (self.dialect, before.last()) {
                (Dialect::Extended, last) => matches!(last, Some(Node::Assertion(_))),
                (_, last) => matches!(last, Some(Node::Repeat { .. })),
            };
        if nothing && self.misplaced != StrayOperators::Tolerated {
            return Err(Error::new("Invalid preceding regular expression"));
        }
        Ok(())
    }

    fn repeat(&self, nodes: &mut Vec<Node>, min: u32, max: Option<u32>, stacked: &mut u32) -> Result<(), Error> {
        let last = nodes.pop().unwrap_or(Node::Empty);
        let node = match last {
            // `a**` is `a*`, however often.
            Node::Repeat { node, min: 0, max: None } if min <= 1 => Node::Repeat { node, min: 0, max: None },
            Node::Repeat { node, min: 0 | 1, max: None | Some(1) } if min == 0 && max.is_none() => {
                Node::Repeat { node, min: 0, max: None }
            }
            Node::Repeat { node, min: before, max: None } if before <= 1 && min == 1 && max.is_none() => {
                Node::Repeat { node, min: before, max: None }
            }
            node => {
                *stacked += 1;
                if *stacked > MAX_STACKED {
                    return Err(Error::too_big());
                }
                Node::Repeat { node: Box::new(node), min, max }
            }
        };
        nodes.push(node);
        Ok(())
    }

    /// Parses `{n,m}`. `None` if it is not a count and the brace is a literal.
    fn braces(&mut self, length: usize, start: bool) -> Result<Option<(u32, Option<u32>)>, Error> {
        let extended = self.dialect == Dialect::Extended;
        if start && !extended {
            return Ok(None);
        }
        let inner = self.rest.get(length..).unwrap_or_default();
        let closing: &[u8] = if extended { b"}" } else { b"\\}" };
        let Some(end) = inner.windows(closing.len()).position(|window| window == closing) else {
            let stands_for_itself = extended && self.misplaced == StrayOperators::Tolerated;
            return if stands_for_itself { Ok(None) } else { Err(Error::new("Unmatched \\{")) };
        };
        let text = inner.get(..end).unwrap_or_default();
        let (low, high) = match text.iter().position(|byte| *byte == b',') {
            Some(comma) => (text.get(..comma).unwrap_or_default(), text.get(comma + 1..)),
            None => (text, None),
        };
        let digits = |part: &[u8]| part.iter().all(u8::is_ascii_digit);
        // A third number makes an invalid count, not a literal.
        let counts = text.split(|byte| *byte == b',').collect::<Vec<_>>();
        if counts.len() > 2 && counts.iter().take(2).all(|part| !part.is_empty() && digits(part)) {
            return Err(Error::new("Invalid content of \\{\\}"));
        }
        let is_count = digits(low) && high.is_none_or(digits) && !(low.is_empty() && high.is_none());
        if !is_count {
            let stands_for_itself = extended && self.misplaced == StrayOperators::Tolerated;
            return if stands_for_itself { Ok(None) } else { Err(Error::new("Invalid content of \\{\\}")) };
        }
        let min = number(low)?;
        let max = match high {
            None => Some(min),
            Some([]) => None,
            Some(high) => Some(number(high)?),
        };
        if max.is_some_and(|max| max < min) {
            return Err(Error::new("Invalid content of \\{\\}"));
        }
        self.skip(length + end + closing.len());
        Ok(Some((min, max)))
    }

    fn atom(&mut self, token: Token, length: usize, start: bool) -> Result<Node, Error> {
        if token == Token::Bracket {
            let (set, used) = bracket::parse(self.rest, self.unicode)?;
            let text = self.rest.get(..used).unwrap_or_default();
            self.depends_on_locale |= memchr::memmem::find(text, b"[:").is_some();
            self.skip(used);
            return Ok(Node::Set(set));
        }
        let whole = self.rest;
        self.skip(length);
        Ok(match token {
            Token::Open => return self.group(),
            Token::Dot => Node::Any,
            Token::Caret if start || self.dialect == Dialect::Extended => Node::Assertion(Assertion::LineStart),
            Token::Dollar if self.at_branch_end()? => Node::Assertion(Assertion::LineEnd),
            Token::Caret => Node::Char('^'),
            Token::Dollar => Node::Char('$'),
            Token::Escaped(byte) => return self.escaped(byte, whole),
            // A count without an operand.
            Token::Brace => Node::Char('{'),
            _ => {
                let (node, used) = plain(whole);
                // The first byte is skipped already.
                self.skip(used.saturating_sub(length));
                node
            }
        })
    }

    /// Returns whether `$` is an anchor here: always in extended patterns, at the end of a branch in the others.
    fn at_branch_end(&self) -> Result<bool, Error> {
        if self.dialect == Dialect::Extended {
            return Ok(true);
        }
        Ok(matches!(self.peek()?, None | Some((Token::Close | Token::Or, _))))
    }

    fn group(&mut self) -> Result<Node, Error> {
        self.depth += 1;
        if self.depth > MAX_NESTING {
            return Err(Error::new("Regular expression too big: groups are nested too deeply"));
        }
        self.groups += 1;
        let number = self.groups;
        let inner = self.alternation()?;
        match self.peek()? {
            Some((Token::Close, length)) => self.skip(length),
            _ => return Err(Error::new("Unmatched ( or \\(")),
        }
        self.depth -= 1;
        self.closed_groups.push(number);
        Ok(Node::Group { number, inner: Box::new(inner) })
    }

    fn escaped(&mut self, byte: u8, whole: &[u8]) -> Result<Node, Error> {
        self.depends_on_locale |= b"wWsSbB<>".contains(&byte);
        let named = |name: &str, negated: bool| {
            let set = Set::named(name, self.unicode).unwrap_or_default();
            Node::Set(Set { negated, ..set })
        };
        Ok(match byte {
            b'w' => named("word", false),
            b'W' => named("word", true),
            b's' => named("space", false),
            b'S' => named("space", true),
            b'b' => Node::Assertion(Assertion::WordEdge),
            b'B' => Node::Assertion(Assertion::NoWordEdge),
            b'<' => Node::Assertion(Assertion::WordStart),
            b'>' => Node::Assertion(Assertion::WordEnd),
            b'`' => Node::Assertion(Assertion::TextStart),
            b'\'' => Node::Assertion(Assertion::TextEnd),
            b'1'..=b'9' => {
                let number = u32::from(byte - b'0');
                if !self.closed_groups.contains(&number) {
                    return Err(Error::new("Invalid back reference"));
                }
                self.back_references = true;
                Node::BackReference(number)
            }
            _ => {
                let (node, used) = plain(whole.get(1..).unwrap_or_default());
                self.skip(used.saturating_sub(1));
                node
            }
        })
    }
}

fn number(digits: &[u8]) -> Result<u32, Error> {
    let mut value = 0u32;
    for digit in digits {
        value = value.saturating_mul(10).saturating_add(u32::from(digit - b'0'));
    }
    if value > MAX_REPEATS { Err(Error::too_big()) } else { Ok(value) }
}

/// Returns the first character and its length.
pub(crate) fn plain(bytes: &[u8]) -> (Node, usize) {
    match first_char(bytes) {
        Some(char) => (Node::Char(char), char.len_utf8()),
        None => (bytes.first().map_or(Node::Empty, |byte| Node::Byte(*byte)), 1),
    }
}

/// Returns the first character, if it is UTF-8.
pub(crate) fn first_char(bytes: &[u8]) -> Option<char> {
    bytes.get(..bytes.len().min(4))?.utf8_chunks().next()?.valid().chars().next()
}
