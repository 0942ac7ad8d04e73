//! Tokens of the language.

use crate::builtin::Builtin;

/// A token.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Token {
    Newline,
    /// The end of the source text.
    End,
    Number(f64),
    Text(Vec<u8>),
    Name(Vec<u8>),
    /// A name directly followed by a parenthesis.
    Called(Vec<u8>),
    Builtin(Builtin),
    Keyword(Keyword),
    Sign(Sign),
    /// `@name`.
    Directive(Vec<u8>),
    /// `@/`, at the start of a strongly typed regular expression.
    TypedRegex,
    /// `@name(`: an indirect call of the function named by a variable.
    CalledByName(Vec<u8>),
}

macro_rules! words {
    ($kind:ident $all:ident { $($name:ident = $text:literal,)* }) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum $kind { $($name,)* }

        /// All keywords with their text.
        const $all: &[(&str, $kind)] = &[$(($text, $kind::$name),)*];
    };
}

words! { Keyword KEYWORDS {
    Begin = "BEGIN", BeginFile = "BEGINFILE", Break = "break", Case = "case", Continue = "continue",
    Default = "default", Delete = "delete", Do = "do", Else = "else", EndRule = "END", EndFile = "ENDFILE",
    Exit = "exit", For = "for", Func = "func", Function = "function", Getline = "getline", If = "if", In = "in",
    Next = "next", NextFile = "nextfile", Print = "print", Printf = "printf", Return = "return", Switch = "switch",
    While = "while",
} }

words! { Sign SIGNS {
    // Longer operators come before their prefixes.
    PowerAssign = "**=", TwoWay = "|&", Append = ">>", Power2 = "**", PowerSet = "^=", AddSet = "+=", SubtractSet = "-=",
    MultiplySet = "*=", DivideSet = "/=", ModuloSet = "%=", Equal = "==", LessOrEqual = "<=", GreaterOrEqual = ">=",
    NotEqual = "!=", NotMatch = "!~", Increment = "++", Decrement = "--", And = "&&", Or = "||", Open = "(", Close = ")",
    OpenBrace = "{", CloseBrace = "}", OpenBracket = "[", CloseBracket = "]", Semicolon = ";", Comma = ",", Set = "=",
    Less = "<", Greater = ">", Plus = "+", Minus = "-", Times = "*", Slash = "/", Percent = "%", Caret = "^", Not = "!",
    Match = "~", Question = "?", Colon = ":", Dollar = "$", Pipe = "|",
} }

impl Keyword {
    pub(crate) fn find(name: &[u8]) -> Option<Self> {
        KEYWORDS.iter().find(|(text, _)| text.as_bytes() == name).map(|(_, keyword)| *keyword)
    }
}

impl Sign {
    /// The operator at the start of a text, and its length.
    pub(crate) fn find(text: &[u8]) -> Option<(Self, usize)> {
        SIGNS.iter().find(|(sign, _)| text.starts_with(sign.as_bytes())).map(|(text, sign)| (*sign, text.len()))
    }
}
