//! Tokens of a program.

/// Kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A name, possibly with the names of modules before it, or a keyword.
    Word,
    /// `.name`
    Field,
    Number,
    /// `@name`
    Format,
    /// An operator or a bracket.
    Sign,
    QuoteStart,
    /// Text within quotes, including escapes.
    QuoteText,
    /// `\(` within quotes.
    InterpolationStart,
    InterpolationEnd,
    QuoteEnd,
    Invalid,
    End,
}

/// A token and its position.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) text: &'static str,
    /// Offset in the program.
    pub(crate) at: usize,
}

/// Keywords.
const KEYWORDS: [&str; 18] = [
    "as", "def", "module", "import", "include", "if", "then", "else", "elif", "reduce", "foreach", "end", "and", "or",
    "try", "catch", "label", "break",
];

/// Operators; longer ones come before their prefixes.
const SIGNS: [&str; 31] = [
    "?//=", "?//", "//=", "!=", "==", "|=", "+=", "-=", "*=", "/=", "%=", "<=", ">=", "//", "..", ".", "?", "=", ";",
    ",", ":", "|", "+", "-", "*", "/", "%", "$", "<", ">", "\u{0}",
];

impl Token {
    pub(crate) fn is_keyword(&self) -> bool {
        self.kind == Kind::Word && KEYWORDS.contains(&self.text)
    }

    pub(crate) fn is_name(&self) -> bool {
        self.kind == Kind::Word && !self.is_keyword()
    }

    pub(crate) fn is(&self, text: &str) -> bool {
        self.text == text && (self.kind == Kind::Sign || self.is_keyword())
    }

    /// The name in messages.
    pub(crate) fn message_name(&self) -> String {
        match self.kind {
            Kind::Word if self.is_keyword() => self.text.to_owned(),
            Kind::Word => "IDENT".to_owned(),
            Kind::Field => "FIELD".to_owned(),
            Kind::Number => "LITERAL".to_owned(),
            Kind::Format => "FORMAT".to_owned(),
            Kind::Sign if self.text.len() == 1 => format!("'{}'", self.text),
            Kind::Sign => self.text.to_owned(),
            Kind::QuoteStart => "QQSTRING_START".to_owned(),
            Kind::QuoteText => "QQSTRING_TEXT".to_owned(),
            Kind::InterpolationStart => "QQSTRING_INTERP_START".to_owned(),
            Kind::InterpolationEnd => "QQSTRING_INTERP_END".to_owned(),
            Kind::QuoteEnd => "QQSTRING_END".to_owned(),
            Kind::Invalid => "INVALID_CHARACTER".to_owned(),
            Kind::End => "$end".to_owned(),
        }
    }
}

/// Open brackets at the current position.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    Bracket(char),
    Interpolation,
    Quote,
}

struct Lexer {
    program: &'static str,
    at: usize,
    open: Vec<Open>,
    tokens: Vec<Token>,
    /// Start of the last space or comment.
    skipped: usize,
}

/// The tokens of a program, with [`Kind::End`] as the last one.
pub(crate) fn tokens(program: &'static str) -> Vec<Token> {
    let mut lexer = Lexer { program, at: 0, open: Vec::new(), tokens: Vec::new(), skipped: 0 };
    while lexer.at < program.len() {
        if lexer.open.last() == Some(&Open::Quote) { lexer.in_quotes() } else { lexer.outside_quotes() }
    }
    // In messages, the end is at the start of the last token, space or comment.
    let at = lexer.tokens.last().map_or(0, |token| token.at).max(lexer.skipped);
    lexer.tokens.push(Token { kind: Kind::End, text: "", at });
    lexer.tokens
}

fn is_name_start(char: char) -> bool {
    char.is_ascii_alphabetic() || char == '_'
}

fn name_len(text: &str) -> usize {
    if !text.starts_with(is_name_start) {
        return 0;
    }
    text.find(|char: char| !char.is_ascii_alphanumeric() && char != '_').unwrap_or(text.len())
}

/// The length of leading escapes, without interpolations.
fn escapes_len(text: &str) -> usize {
    let mut len = 0;
    while let Some(escape) = text.get(len..).and_then(|rest| rest.strip_prefix('\\')) {
        let more = match escape.chars().next() {
            None | Some('(') => break,
            Some('u') => 1 + escape.bytes().skip(1).take(4).take_while(u8::is_ascii_alphanumeric).count(),
            Some(char) => char.len_utf8(),
        };
        len += 1 + more;
    }
    len
}

/// The length of `name` or `module::name`.
fn word_len(text: &str) -> usize {
    let mut len = name_len(text);
    while let Some(rest) = text.get(len..).and_then(|rest| rest.strip_prefix("::")) {
        match name_len(rest) {
            0 => break,
            more => len += 2 + more,
        }
    }
    len
}

fn number_len(text: &str) -> usize {
    let digits = |text: &str| text.find(|char: char| !char.is_ascii_digit()).unwrap_or(text.len());
    let mantissa = text.find(|char: char| !char.is_ascii_digit() && char != '.').unwrap_or(text.len());
    let rest = text.get(mantissa..).unwrap_or_default();
    let Some(exponent) = rest.strip_prefix(['e', 'E']) else {
        return mantissa;
    };
    let unsigned = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    match digits(unsigned) {
        0 => mantissa,
        count => mantissa + 1 + (exponent.len() - unsigned.len()) + count,
    }
}

impl Lexer {
    fn push(&mut self, kind: Kind, len: usize) {
        let end = self.at + len;
        self.tokens.push(Token { kind, text: self.program.get(self.at..end).unwrap_or_default(), at: self.at });
        self.at = end;
    }

    fn rest(&self) -> &'static str {
        self.program.get(self.at..).unwrap_or_default()
    }

    fn outside_quotes(&mut self) {
        let rest = self.rest();
        let Some(first) = rest.chars().next() else {
            return;
        };
        match first {
            ' ' | '\n' | '\t' | '\r' => {
                self.skipped = self.at;
                self.at = self.program.len() - rest.trim_start_matches([' ', '\n', '\t', '\r']).len();
            }
            '#' => {
                self.skipped = self.at;
                self.comment();
            }
            '"' => {
                self.push(Kind::QuoteStart, 1);
                self.open.push(Open::Quote);
            }
            '(' | '[' | '{' => {
                self.open.push(Open::Bracket(first));
                self.push(Kind::Sign, 1);
            }
            ')' | ']' | '}' => self.close(first),
            '@' => {
                match rest.get(1..).unwrap_or_default().find(|char: char| !char.is_ascii_alphanumeric() && char != '_')
                {
                    Some(0) => self.push(Kind::Invalid, 1),
                    None if rest.len() == 1 => self.push(Kind::Invalid, 1),
                    len => self.push(Kind::Format, 1 + len.unwrap_or(rest.len() - 1)),
                }
            }
            '0'..='9' => self.push(Kind::Number, number_len(rest)),
            '.' if rest.get(1..).is_some_and(|rest| rest.starts_with(is_name_start)) => {
                self.push(Kind::Field, 1 + name_len(rest.get(1..).unwrap_or_default()));
            }
            '.' if rest.get(1..).is_some_and(|rest| rest.starts_with(|char: char| char.is_ascii_digit())) => {
                self.push(Kind::Number, number_len(rest));
            }
            first if is_name_start(first) => self.push(Kind::Word, word_len(rest)),
            first => match SIGNS.iter().find(|sign| rest.starts_with(*sign)) {
                // `?//=` is `?` and `//=`.
                Some(&"?//=") => self.push(Kind::Sign, 1),
                Some(sign) if first != '\0' => self.push(Kind::Sign, sign.len()),
                _ => self.push(Kind::Invalid, first.len_utf8()),
            },
        }
    }

    /// A comment continues on the next line after an odd number of backslashes.
    fn comment(&mut self) {
        loop {
            let rest = self.rest();
            let end = rest.find('\n').unwrap_or(rest.len());
            let line = rest.get(..end).unwrap_or_default();
            let line = line.strip_suffix('\r').unwrap_or(line);
            let backslashes = line.len() - line.trim_end_matches('\\').len();
            self.at += end;
            if backslashes % 2 == 0 || self.at >= self.program.len() {
                return;
            }
            self.at += 1;
        }
    }

    fn close(&mut self, bracket: char) {
        let opened = match bracket {
            ')' => '(',
            ']' => '[',
            _ => '{',
        };
        match self.open.last() {
            Some(Open::Interpolation) if bracket == ')' => {
                self.open.pop();
                self.push(Kind::InterpolationEnd, 1);
            }
            Some(open) if *open == Open::Bracket(opened) => {
                self.open.pop();
                self.push(Kind::Sign, 1);
            }
            _ => self.push(Kind::Invalid, 1),
        }
    }

    fn in_quotes(&mut self) {
        let rest = self.rest();
        if rest.starts_with('"') {
            self.open.pop();
            self.push(Kind::QuoteEnd, 1);
        } else if rest.starts_with("\\(") {
            self.open.push(Open::Interpolation);
            self.push(Kind::InterpolationStart, 2);
        } else if rest.starts_with('\\') {
            match escapes_len(rest) {
                0 => self.push(Kind::Invalid, 1),
                len => self.push(Kind::QuoteText, len),
            }
        } else {
            self.push(Kind::QuoteText, rest.find(['"', '\\']).unwrap_or(rest.len()));
        }
    }
}
