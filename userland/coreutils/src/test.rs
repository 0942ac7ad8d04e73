//! `test` and `[`: evaluate conditions.

use std::cmp::Ordering;

use tidebox_gnu::command_line::core_version;
use tidebox_gnu::exit::ToolResult;
use tidebox_gnu::message::quote_value;
use tidebox_rt::{FileKind, Stat};

const HELP: &str = "\
Usage: test EXPRESSION
  or:  test
  or:  [ EXPRESSION ]
  or:  [ ]
  or:  [ OPTION
Exits with 0 if EXPRESSION is true, 1 if it is false, and 2 if it is invalid.

  ( EXPR )  ! EXPR  EXPR -a EXPR  EXPR -o EXPR
  -n STRING  -z STRING  STRING = STRING  STRING != STRING
  INTEGER -eq INTEGER, also -ne -gt -ge -lt -le; -l STRING is the length of a string
  FILE -ef FILE  FILE -nt FILE  FILE -ot FILE
  -b -c -d -e -f -g -G -h -k -L -N -O -p -r -s -S -t -u -w -x FILE
";

/// Exit code for an invalid expression.
const INVALID: i32 = 2;

/// Maximum depth of parentheses.
const MAX_DEPTH: usize = 200;

/// Runs `test`.
pub fn test(arguments: Vec<Vec<u8>>) -> ToolResult {
    evaluate(&arguments)
}

/// Runs `[`.
pub fn bracket(mut arguments: Vec<Vec<u8>>) -> ToolResult {
    if let [only] = arguments.as_slice() {
        match only.as_slice() {
            b"--help" => return HELP.into(),
            b"--version" => return core_version("[").as_str().into(),
            _ => {}
        }
    }
    match arguments.pop() {
        Some(last) if last == b"]" => evaluate(&arguments),
        _ => ToolResult::Failure(format!("missing {}", quote_value(b"]")), INVALID),
    }
}

fn evaluate(words: &[Vec<u8>]) -> ToolResult {
    let mut reader = Reader { words, at: 0, depth: 0 };
    match reader.expression() {
        Ok(true) => ToolResult::Code(0),
        Ok(false) => ToolResult::Code(1),
        Err(message) => ToolResult::Failure(message, INVALID),
    }
}

/// Evaluator of an expression. Errors are messages.
struct Reader<'w> {
    words: &'w [Vec<u8>],
    at: usize,
    depth: usize,
}

fn is_binary(word: &[u8]) -> bool {
    matches!(
        word,
        b"=" | b"==" | b"!=" | b"-eq" | b"-ne" | b"-lt" | b"-le" | b"-gt" | b"-ge" | b"-nt" | b"-ot" | b"-ef"
    )
}

/// Returns whether an argument is a dash and one letter.
fn is_unary(word: &[u8]) -> bool {
    matches!(word, [b'-', _])
}

impl<'w> Reader<'w> {
    fn expression(&mut self) -> Result<bool, String> {
        if self.words.is_empty() {
            return Ok(false);
        }
        let value = self.arguments(self.words.len())?;
        match self.words.get(self.at) {
            None => Ok(value),
            Some(extra) => Err(format!("extra argument {}", quote_value(extra))),
        }
    }

    fn left(&self) -> usize {
        self.words.len().saturating_sub(self.at)
    }

    fn word(&self, ahead: usize) -> &'w [u8] {
        self.words.get(self.at + ahead).map_or(b"", Vec::as_slice)
    }

    fn is(&self, ahead: usize, word: &str) -> bool {
        self.words.get(self.at + ahead).is_some_and(|known| known == word.as_bytes())
    }

    fn missing_argument<T>(&self) -> Result<T, String> {
        Err(format!("missing argument after {}", quote_value(self.words.last().map_or(b"", Vec::as_slice))))
    }

    /// Skips an argument that must not be the last one.
    fn advance(&mut self) -> Result<(), String> {
        self.at += 1;
        if self.left() == 0 { self.missing_argument() } else { Ok(()) }
    }

    /// Evaluates `count` arguments. POSIX defines the grammar by their number.
    fn arguments(&mut self, count: usize) -> Result<bool, String> {
        match count {
            1 => {
                self.at += 1;
                Ok(self.words.get(self.at - 1).is_some_and(|word| !word.is_empty()))
            }
            2 => self.two(),
            3 => self.three(),
            4 if self.is(0, "!") => {
                self.advance()?;
                Ok(!self.three()?)
            }
            4 if self.is(0, "(") && self.is(3, ")") => {
                self.at += 1;
                let value = self.two()?;
                self.at += 1;
                Ok(value)
            }
            _ => self.any(),
        }
    }

    fn two(&mut self) -> Result<bool, String> {
        if self.is(0, "!") {
            self.at += 1;
            return Ok(!self.arguments(1)?);
        }
        if is_unary(self.word(0)) { self.unary() } else { self.missing_argument() }
    }

    fn three(&mut self) -> Result<bool, String> {
        if is_binary(self.word(1)) {
            return self.binary(false);
        }
        if self.is(0, "!") {
            self.advance()?;
            return Ok(!self.two()?);
        }
        if self.is(0, "(") && self.is(2, ")") {
            self.at += 1;
            let value = self.arguments(1)?;
            self.at += 1;
            return Ok(value);
        }
        if self.is(1, "-a") || self.is(1, "-o") {
            return self.any();
        }
        Err(format!("{}: binary operator expected", quote_value(self.word(1))))
    }

    /// Evaluates terms joined by `-a` and `-o`.
    fn any(&mut self) -> Result<bool, String> {
        if self.left() == 0 {
            return self.missing_argument();
        }
        let mut value = self.all()?;
        while self.is(0, "-o") {
            self.at += 1;
            value |= self.all()?;
        }
        Ok(value)
    }

    fn all(&mut self) -> Result<bool, String> {
        let mut value = self.term()?;
        while self.is(0, "-a") {
            self.at += 1;
            value &= self.term()?;
        }
        Ok(value)
    }

    fn term(&mut self) -> Result<bool, String> {
        let mut negated = false;
        while self.is(0, "!") {
            self.advance()?;
            negated = !negated;
        }
        if self.left() == 0 {
            return self.missing_argument();
        }
        let value = if self.is(0, "(") {
            self.parentheses()?
        } else if self.left() >= 4 && self.is(0, "-l") && is_binary(self.word(2)) {
            self.binary(true)?
        } else if self.left() >= 3 && is_binary(self.word(1)) {
            self.binary(false)?
        } else if is_unary(self.word(0)) {
            self.unary()?
        } else {
            self.at += 1;
            self.words.get(self.at - 1).is_some_and(|word| !word.is_empty())
        };
        Ok(value != negated)
    }

    fn parentheses(&mut self) -> Result<bool, String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err("expression is nested too deeply".to_owned());
        }
        self.advance()?;
        let end = (1..self.left()).find(|at| self.is(*at, ")")).unwrap_or(self.left());
        let value = self.arguments(if end > 4 { self.left() } else { end })?;
        if self.left() == 0 {
            return Err(format!("{} expected", quote_value(b")")));
        }
        if !self.is(0, ")") {
            return Err(format!("{} expected, found {}", quote_value(b")"), quote_value(self.word(0))));
        }
        self.at += 1;
        self.depth -= 1;
        Ok(value)
    }

    fn unary(&mut self) -> Result<bool, String> {
        let letter = self.word(0).get(1).copied().unwrap_or_default();
        if !b"ehLrwxNOGfdsScbpugknzt".contains(&letter) {
            return Err(format!("{}: unary operator expected", quote_value(self.word(0))));
        }
        self.advance()?;
        let word = self.word(0);
        self.at += 1;
        let stat = |follow| tidebox_rt::stat(word, follow).ok();
        let is = |kind: FileKind| stat(true).is_some_and(|stat| stat.kind() == kind);
        let holds = |what: &dyn Fn(&Stat) -> bool| stat(true).is_some_and(|stat| what(&stat));
        let ids = tidebox_rt::getids().unwrap_or_default();
        Ok(match letter {
            b'n' => !word.is_empty(),
            b'z' => word.is_empty(),
            b't' => {
                let number = integer(word)?;
                let fd = u32::try_from(number).ok().and_then(tidebox_rt::inherited);
                fd.is_some_and(tidebox_rt::is_terminal)
            }
            b'e' => stat(true).is_some(),
            b'h' | b'L' => stat(false).is_some_and(|stat| stat.kind() == FileKind::Symlink),
            b'r' => tidebox_rt::access(word, 4).is_ok(),
            b'w' => tidebox_rt::access(word, 2).is_ok(),
            b'x' => tidebox_rt::access(word, 1).is_ok(),
            b'N' => holds(&|stat| stat.mtime_ns > stat.atime_ns),
            b'O' => holds(&|stat| stat.uid == ids.uid),
            b'G' => holds(&|stat| stat.gid == ids.gid),
            b'f' => is(FileKind::File),
            b'd' => is(FileKind::Dir),
            b's' => holds(&|stat| stat.size > 0),
            b'S' => is(FileKind::Socket),
            b'c' => is(FileKind::CharDevice),
            b'b' => is(FileKind::BlockDevice),
            b'p' => is(FileKind::Pipe),
            b'u' => holds(&|stat| stat.mode & 0o4000 != 0),
            b'g' => holds(&|stat| stat.mode & 0o2000 != 0),
            _ => holds(&|stat| stat.mode & 0o1000 != 0),
        })
    }

    /// Evaluates a binary operator. With `length` the left side is `-l STRING`.
    fn binary(&mut self, length: bool) -> Result<bool, String> {
        if length {
            self.at += 1;
        }
        let (left, operator) = (self.word(0), self.word(1));
        // `-l` on the right side is an operator if another argument follows.
        let right_length = self.is(2, "-l") && self.left() > 3;
        let right = self.word(if right_length { 3 } else { 2 });
        self.at += if right_length { 4 } else { 3 };
        let numbers = || -> Result<Ordering, String> {
            let of = |text: &[u8], length| if length { Ok(text.len() as i128) } else { integer(text) };
            Ok(of(left, length)?.cmp(&of(right, right_length)?))
        };
        let times = || (tidebox_rt::stat(left, true).ok(), tidebox_rt::stat(right, true).ok());
        let newer = |a: Option<Stat>, b: Option<Stat>| match (a, b) {
            (Some(a), Some(b)) => a.mtime_ns > b.mtime_ns,
            (a, _) => a.is_some(),
        };
        if matches!(operator, b"-nt" | b"-ot" | b"-ef") && (length || right_length) {
            return Err(format!("{} does not accept -l", String::from_utf8_lossy(operator)));
        }
        Ok(match operator {
            b"=" | b"==" => left == right,
            b"!=" => left != right,
            b"-eq" => numbers()?.is_eq(),
            b"-ne" => numbers()?.is_ne(),
            b"-lt" => numbers()?.is_lt(),
            b"-le" => numbers()?.is_le(),
            b"-gt" => numbers()?.is_gt(),
            b"-ge" => numbers()?.is_ge(),
            b"-nt" => {
                let (a, b) = times();
                newer(a, b)
            }
            b"-ot" => {
                let (a, b) = times();
                newer(b, a)
            }
            _ => matches!(times(), (Some(a), Some(b)) if (a.dev, a.ino) == (b.dev, b.ino)),
        })
    }
}

/// Parses an integer between blanks. Numbers that are too large become the largest one.
fn integer(word: &[u8]) -> Result<i128, String> {
    let wrong = || format!("invalid integer {}", quote_value(word));
    let text = word.trim_ascii();
    let (negative, digits) = match text.split_first() {
        Some((b'-', rest)) => (true, rest),
        Some((b'+', rest)) => (false, rest),
        _ => (false, text),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(wrong());
    }
    let value = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse::<i128>().ok()).unwrap_or(i128::MAX);
    Ok(if negative { -value } else { value })
}

#[cfg(test)]
mod tests {
    use super::{bracket, evaluate};
    use tidebox_gnu::exit::ToolResult;

    fn words(text: &str) -> Vec<Vec<u8>> {
        text.split(' ').map(|word| word.as_bytes().to_vec()).collect()
    }

    #[test]
    fn the_number_of_arguments_selects_the_grammar() {
        for (text, wanted) in [
            ("-n", 0),
            ("!", 0),
            ("! x", 1),
            ("-z x", 1),
            ("-n = -n", 0),
            ("( -n )", 0),
            ("! a = a", 1),
            ("( ! x )", 1),
            ("a = a -a b = b", 0),
            ("a = b -o 1 -lt 2", 0),
            ("-l abc -eq 3", 0),
            ("( a = a ) -a ( b = c )", 1),
        ] {
            assert_eq!(evaluate(&words(text)), ToolResult::Code(wanted), "{text}");
        }
    }

    #[test]
    fn invalid_expressions_exit_with_2() {
        for text in ["a b", "a b c", "-Q x", "1 -eq x", "a = a b", "( a = a"] {
            assert!(matches!(evaluate(&words(text)), ToolResult::Failure(_, 2)), "{text}");
        }
        assert!(matches!(bracket(words("a = a")), ToolResult::Failure(_, 2)));
    }
}
