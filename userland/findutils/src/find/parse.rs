//! The command line: options, starting points, expression.

use std::collections::VecDeque;
use std::io::Read;

use tidebox_gnu::message::{bytes_path, error_text, print_error, quote_value};

use crate::expression::{Action, Expression, Test};
use crate::output::Targets;
use crate::primary::{self, Primary};

/// Maximum depth of nested parentheses. Bounds the stack.
const MAX_NESTING: usize = 200;

/// Highest optimization level of `-O`, as in GNU.
const MAX_OPTIMISED: u64 = 65_535;

const HELP: &str = include_str!("help.txt");

const VERSION: &str =
    "find (GNU findutils) 4.9.0\nTidebox's find does what that version does. It is free under MIT or Apache-2.0.\n";

/// Policy for symbolic links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Follow {
    /// Never (`-P`).
    Never,
    /// Starting points only (`-H`).
    Starts,
    /// Always (`-L`).
    Always,
}

/// Parsed command line.
#[derive(Debug)]
pub(crate) struct Search {
    pub(crate) starts: Vec<Vec<u8>>,
    pub(crate) follow: Follow,
    pub(crate) expression: Expression,
    pub(crate) settings: Settings,
    pub(crate) targets: Targets,
    pub(crate) warnings: Vec<String>,
    /// An error of the starting points was reported.
    pub(crate) failed: bool,
}

/// Global settings, independent of their position in the expression.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) most_depth: usize,
    pub(crate) least_depth: usize,
    /// Visit the contents of a directory before the directory.
    pub(crate) depth_first: bool,
    /// Do not descend into other file systems.
    pub(crate) one_device: bool,
    /// Reference time of ages, in nanoseconds since 1970.
    pub(crate) now: u64,
    /// Ignore files that are deleted during the search.
    pub(crate) ignore_races: bool,
}

/// Parsed request.
#[derive(Debug)]
pub(crate) enum Request {
    Search(Box<Search>),
    /// Only text is printed.
    Print(&'static str),
}

/// Parses the command line. The error is a message without the name of the tool.
pub(crate) fn parse(arguments: &[Vec<u8>]) -> Result<Request, String> {
    let mut rest: VecDeque<Vec<u8>> = arguments.iter().cloned().collect();
    let (mut follow, asks_for_help) = leading_options(&mut rest)?;
    if asks_for_help {
        return Ok(Request::Print(DEBUG_HELP));
    }
    let mut starts = Vec::new();
    while let Some(start) = rest.pop_front_if(|argument| !begins_expression(argument)) {
        starts.push(start);
    }
    let mut parser = ExpressionParser::new(rest, follow);
    let expression = parser.all();
    if let Some(text) = parser.text {
        return Ok(Request::Print(text));
    }
    let expression = expression?;
    parser.context.check()?;
    follow = parser.context.follow;
    let primary::Context { settings, targets, warnings, list, .. } = parser.context;
    if let (Some(_), Some(first)) = (&list, starts.first()) {
        return Err(format!(
            "extra operand {}\nfind: file operands cannot be combined with -files0-from",
            quote_value(first)
        ));
    }
    if starts.is_empty() && list.is_none() {
        starts.push(b".".to_vec());
    }
    let mut failed = false;
    if let Some(list) = list {
        (starts, failed) = listed(&list)?;
    }
    let search = Search { starts, follow, expression, settings, targets, warnings, failed };
    Ok(Request::Search(Box::new(search)))
}

/// Reads the starting points in a file, each terminated by a zero byte. Returns whether any was empty.
fn listed(file: &[u8]) -> Result<(Vec<Vec<u8>>, bool), String> {
    let mut text = Vec::new();
    let read = match file {
        b"-" => std::io::stdin().lock().read_to_end(&mut text),
        _ => std::fs::File::open(bytes_path(file)).and_then(|mut file| file.read_to_end(&mut text)),
    };
    read.map_err(|error| format!("cannot open {} for reading: {}", quote_value(file), error_text(&error)))?;
    let shown = if file == b"-" { quote_value(b"(standard input)") } else { quote_value(file) };
    let text = text.strip_suffix(b"\0").unwrap_or(&text);
    let mut starts = Vec::new();
    let mut failed = false;
    for (at, start) in text.split(|byte| *byte == 0).enumerate() {
        match start {
            b"" if text.is_empty() => {}
            b"" => {
                print_error("find", &format!("{shown}:{}: invalid zero-length file name", at + 1));
                failed = true;
            }
            start => starts.push(start.to_vec()),
        }
    }
    Ok((starts, failed))
}

/// Parses the options before the starting points: `-H`, `-L`, `-P`, `-O` and `-D`.
fn leading_options(rest: &mut VecDeque<Vec<u8>>) -> Result<(Follow, bool), String> {
    let (mut follow, mut asks_for_help) = (Follow::Never, false);
    while let Some(first) = rest.front() {
        match first.as_slice() {
            b"-P" => follow = Follow::Never,
            b"-H" => follow = Follow::Starts,
            b"-L" => follow = Follow::Always,
            b"-D" => {
                rest.pop_front();
                let Some(flags) = rest.front() else {
                    return Err("Missing argument after the -D option.".to_owned());
                };
                asks_for_help |= debugging(flags);
            }
            b"--" => {
                rest.pop_front();
                break;
            }
            option if option.starts_with(b"-O") => optimisation(option.get(2..).unwrap_or_default())?,
            _ => break,
        }
        rest.pop_front();
    }
    Ok((follow, asks_for_help))
}

/// Text of `-D help`.
const DEBUG_HELP: &str = "\
Valid arguments for -D:
exec       Show diagnostic information relating to -exec, -execdir, -ok and -okdir
opt        Show diagnostic information relating to optimisation
rates      Indicate how often each predicate succeeded
search     Navigate the directory tree verbosely
stat       Trace calls to stat(2) and lstat(2)
time       Show diagnostic information relating to time-of-day and timestamp comparisons
tree       Display the expression tree
all        Set all of the debug flags (but help)
help       Explain the various -D options
";

/// Parses the value of `-D`. Returns whether it requests the help; other values have no effect.
fn debugging(flags: &[u8]) -> bool {
    let mut asks_for_help = false;
    for flag in flags.split(|byte| *byte == b',') {
        asks_for_help |= flag == b"help";
        let known = DEBUG_HELP.lines().skip(1).filter_map(|line| line.split(' ').next());
        if !known.map(str::as_bytes).any(|known| known == flag) {
            print_error("find", &format!("Ignoring unrecognised debug flag {}", quote_value(flag)));
        }
    }
    asks_for_help
}

/// Checks the level of `-O`, which has no effect.
fn optimisation(level: &[u8]) -> Result<(), String> {
    let digits = level.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let shown = String::from_utf8_lossy(level);
    match shown.parse::<u64>() {
        _ if level.is_empty() => Err("The -O option must be immediately followed by a decimal integer".to_owned()),
        _ if digits == 0 => Err("Please specify a decimal number immediately after -O".to_owned()),
        _ if digits < level.len() => Err(format!("Invalid optimisation level {shown}")),
        Ok(level) if level <= MAX_OPTIMISED => Ok(()),
        Ok(level) => Err(format!(
            "Optimisation level {level} is too high.  If you want to find files very quickly, consider using GNU locate."
        )),
        Err(_) => Err(format!("Invalid optimisation level {shown}: Numerical result out of range")),
    }
}

fn begins_expression(argument: &[u8]) -> bool {
    matches!(argument, b"(" | b"!") || (argument.len() > 1 && argument.starts_with(b"-"))
}

struct ExpressionParser {
    rest: VecDeque<Vec<u8>>,
    context: primary::Context,
    depth: usize,
    /// True if an action other than `-prune` and `-quit` disables the implicit `-print`.
    acts: bool,
    /// Name of the last test or action, for messages about the next argument.
    last: Option<String>,
    /// Text that is printed instead of a search. The rest of the command line is not parsed.
    text: Option<&'static str>,
}

impl ExpressionParser {
    fn new(rest: VecDeque<Vec<u8>>, follow: Follow) -> Self {
        Self { rest, context: primary::Context::new(follow), depth: 0, acts: false, last: None, text: None }
    }

    fn all(&mut self) -> Result<Expression, String> {
        if self.rest.is_empty() {
            return Ok(self.print());
        }
        let expression = self.list()?;
        if self.rest.front().is_some_and(|next| next == b")") {
            return Err("you have too many ')'".to_owned());
        }
        if self.acts {
            return Ok(expression);
        }
        Ok(Expression::And(vec![expression, self.print()]))
    }

    fn print(&mut self) -> Expression {
        Expression::Action(Action::Print { output: self.context.targets.standard(), end: b'\n' })
    }

    fn next_is(&self, words: &[&[u8]]) -> bool {
        self.rest.front().is_some_and(|next| words.contains(&next.as_slice()))
    }

    fn list(&mut self) -> Result<Expression, String> {
        let mut parts = vec![self.or()?];
        while self.next_is(&[b","]) {
            let operator = self.operator()?;
            parts.push(self.operand_of(&operator, Self::or)?);
        }
        Ok(only(parts, Expression::List))
    }

    fn or(&mut self) -> Result<Expression, String> {
        let mut parts = vec![self.and()?];
        while self.next_is(&[b"-o", b"-or"]) {
            let operator = self.operator()?;
            parts.push(self.operand_of(&operator, Self::and)?);
        }
        Ok(only(parts, Expression::Or))
    }

    fn and(&mut self) -> Result<Expression, String> {
        let mut parts = vec![self.not()?];
        while !self.rest.is_empty() && !self.next_is(&[b"-o", b"-or", b",", b")"]) {
            if self.next_is(&[b"-a", b"-and"]) {
                let operator = self.operator()?;
                parts.push(self.operand_of(&operator, Self::not)?);
            } else {
                parts.push(self.not()?);
            }
        }
        Ok(only(parts, Expression::And))
    }

    fn operator(&mut self) -> Result<String, String> {
        let operator = self.rest.pop_front().unwrap_or_default();
        Ok(String::from_utf8_lossy(&operator).into_owned())
    }

    fn operand_of(
        &mut self,
        operator: &str,
        parse: impl FnOnce(&mut Self) -> Result<Expression, String>,
    ) -> Result<Expression, String> {
        if self.rest.is_empty() {
            return Err(format!("expected an expression after '{operator}'"));
        }
        if self.next_is(&[b")"]) {
            return Err(format!("expected an expression between '{operator}' and ')'"));
        }
        parse(self)
    }

    fn not(&mut self) -> Result<Expression, String> {
        let mut negated = false;
        while self.next_is(&[b"!", b"-not"]) {
            let operator = self.operator()?;
            if self.rest.is_empty() {
                return Err(format!("expected an expression after '{operator}'"));
            }
            if self.next_is(&[b")"]) {
                return Err(format!("expected an expression between '{operator}' and ')'"));
            }
            negated = !negated;
        }
        let inner = self.primary()?;
        Ok(if negated { Expression::Not(Box::new(inner)) } else { inner })
    }

    fn primary(&mut self) -> Result<Expression, String> {
        let Some(word) = self.rest.pop_front() else {
            return Err("invalid expression; something is missing at its end".to_owned());
        };
        let name = String::from_utf8_lossy(&word).into_owned();
        match word.as_slice() {
            b"(" => return self.parentheses(),
            b")" => return Err("invalid expression; you have too many ')'".to_owned()),
            b"-a" | b"-and" | b"-o" | b"-or" | b"," => {
                return Err(format!(
                    "invalid expression; you have used a binary operator '{name}' with nothing before it."
                ));
            }
            b"-help" | b"--help" => return Err(self.stop_with_text(HELP)),
            b"-version" | b"--version" => return Err(self.stop_with_text(VERSION)),
            word if !word.starts_with(b"-") || word == b"-" => return Err(self.stray(&name)),
            _ => {}
        }
        let primary = primary::parse(&name, &mut self.rest, &mut self.context, self.last.is_some())?;
        let expression = match primary {
            Primary::Test(test) => {
                self.last = Some(name);
                Expression::Test(test)
            }
            Primary::Action(action) => {
                self.acts |= !matches!(action, Action::Prune | Action::Quit);
                self.last = Some(name);
                Expression::Action(action)
            }
            Primary::Setting => Expression::Test(Test::True),
        };
        Ok(expression)
    }

    /// Stops parsing, to print a text instead of a search.
    fn stop_with_text(&mut self, text: &'static str) -> String {
        self.text = Some(text);
        String::new()
    }

    fn stray(&self, word: &str) -> String {
        let mut message = format!("paths must precede expression: `{word}'");
        if let Some(last) = self.last.as_ref().filter(|_| std::path::Path::new(word).exists()) {
            message.push_str(&format!("\nfind: possible unquoted pattern after predicate `{last}'?"));
        }
        message
    }

    fn parentheses(&mut self) -> Result<Expression, String> {
        self.depth += 1;
        if self.depth > MAX_NESTING {
            return Err(format!("invalid expression; parentheses are nested more than {MAX_NESTING} deep"));
        }
        if self.next_is(&[b")"]) {
            return Err("invalid expression; empty parentheses are not allowed.".to_owned());
        }
        if self.rest.is_empty() {
            return Err("invalid expression; expected to find a ')' but didn't see one. Perhaps you need an extra \
                        predicate after '('"
                .to_owned());
        }
        let inner = self.list()?;
        if !self.next_is(&[b")"]) {
            return Err("invalid expression; I was expecting to find a ')' somewhere but did not see one.".to_owned());
        }
        self.rest.pop_front();
        self.depth -= 1;
        Ok(inner)
    }
}

/// Returns a single part as it is.
fn only(mut parts: Vec<Expression>, many: fn(Vec<Expression>) -> Expression) -> Expression {
    if parts.len() == 1 { parts.remove(0) } else { many(parts) }
}
