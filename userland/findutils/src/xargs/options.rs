//! The command line.

use tidebox_gnu::command_line::FromEarlyExit;
use tidebox_gnu::escape::control;
use tidebox_gnu::exit::ToolResult;
use tidebox_gnu::getopt::Item;
use tidebox_gnu::message::print_error;
use tidebox_gnu::options::Syntax;

const USAGE: &str = "\
Usage: xargs [OPTION]... [COMMAND [ARGUMENT]...]
Runs COMMAND (default: echo) with ARGUMENTs and items from standard input. Items are
separated by blanks and line ends, except within quotes and after a backslash.

";

const NOTES: &str = "\n\
Exit code: 0 on success; 123 if a command exited with 1 to 125; 124 if one exited with
255; 125 if a signal killed one; 126 if it cannot run; 127 if it does not exist;
1 on other errors.
";

const VERSION: &str =
    "xargs (GNU findutils) 4.9.0\nTidebox's xargs does what that version does. It is free under MIT or Apache-2.0.\n";

/// Default size of a command in bytes, as in GNU.
const DEFAULT_BYTES: usize = 128 * 1024;

/// Maximum number of parallel commands, as in GNU.
pub(crate) const MAX_PARALLEL: u32 = 2_147_483_647;

/// Item separator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Separator {
    /// Blanks and line ends, except in quotes and after backslashes.
    Blanks,
    /// Line ends, except in quotes and after backslashes. Leading blanks are removed.
    Lines,
    /// A byte.
    Byte(u8),
}

/// Parsed command line.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// The command and its first arguments.
    pub(crate) command: Vec<Vec<u8>>,
    pub(crate) file: Option<Vec<u8>>,
    pub(crate) separator: Separator,
    /// An item that ends the input.
    pub(crate) end: Option<Vec<u8>>,
    /// Placeholder that an item replaces.
    pub(crate) replace: Option<Vec<u8>>,
    pub(crate) most_items: Option<usize>,
    pub(crate) most_lines: Option<usize>,
    pub(crate) most_bytes: usize,
    /// Fail if a number of items or lines exceeds the size of a command.
    pub(crate) exit_when_long: bool,
    /// Number of parallel commands, or 0 for no limit.
    pub(crate) parallel: usize,
    pub(crate) not_when_empty: bool,
    pub(crate) prints: bool,
    pub(crate) prompts: bool,
    /// Commands read from the terminal.
    pub(crate) terminal: bool,
    /// Variable set to the slot number of the command.
    pub(crate) slot_variable: Option<Vec<u8>>,
    pub(crate) warnings: Vec<String>,
    /// Print the command length limits.
    pub(crate) limits: bool,
}

/// Parsed request.
#[derive(Debug)]
pub(crate) enum Request {
    Run(Box<Options>),
    /// Only text is printed.
    Print(String),
}

tidebox_gnu::options! {
    /// Options of `xargs`.
    pub(super) enum Flag {
        Null = "-0, --null", "items end in a zero byte; quotes are not special";
        Delimiter = "-d, --delimiter=BYTE", "items end in BYTE; quotes are not special";
        ArgFile = "-a, --arg-file=FILE", "read items from FILE";
        End = "-E END", "the item END ends the input";
        ReplaceWith = "-I REPLACE", "replace REPLACE in ARGUMENTs by each line";
        Replace = "-i[REPLACE], --replace[=REPLACE]", "like -I; REPLACE is {} by default";
        Lines = "-L NUM", "at most NUM lines per command";
        MaxLines = "-l[NUM], --max-lines[=NUM]", "like -L; NUM is 1 by default";
        MaxArgs = "-n, --max-args=NUM", "at most NUM items per command";
        MaxChars = "-s, --max-chars=NUM", "at most NUM bytes per command";
        Exit = "-x, --exit", "exit if a command would be longer";
        MaxProcs = "-P, --max-procs=NUM", "run NUM commands in parallel; 0: no limit";
        ProcessSlotVar = "--process-slot-var=VAR", "set VAR to the slot number of the command";
        NoRunIfEmpty = "-r, --no-run-if-empty", "run nothing without items";
        Verbose = "-t, --verbose", "print commands before they run";
        Interactive = "-p, --interactive", "prompt before each command";
        OpenTty = "-o, --open-tty", "commands read from the terminal";
        Eof = "-e[END], --eof[=END]", "";
        ShowLimits = "--show-limits", "";
        Help = "--help", "";
        Version = "--version", "";
    }
}

/// Command line error.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum CommandLineError {
    /// Invalid command line; the message includes a hint to `--help`.
    Usage(String),
    /// Invalid option value.
    Value(String),
}

impl From<String> for CommandLineError {
    fn from(message: String) -> Self {
        Self::Usage(message)
    }
}

impl FromEarlyExit for CommandLineError {
    fn from_early_exit(_: &str, answer: ToolResult) -> Self {
        match answer {
            ToolResult::Usage(message, _) => Self::Usage(message),
            ToolResult::Failure(message, _) => Self::Value(message),
            ToolResult::Code(_) | ToolResult::Print(_) | ToolResult::PrintAndCode(..) => Self::Value(String::new()),
        }
    }
}

const LINE: Syntax<'_, Flag> =
    Syntax { notes: NOTES, version: VERSION, permute: false, ..Syntax::new("xargs", USAGE, 29) };

/// Parses the command line. The error is a message without the name of the tool.
pub(crate) fn parse(arguments: Vec<Vec<u8>>) -> Result<Request, CommandLineError> {
    let mut options = Options {
        command: Vec::new(),
        file: None,
        separator: Separator::Blanks,
        end: None,
        replace: None,
        most_items: None,
        most_lines: None,
        most_bytes: DEFAULT_BYTES,
        exit_when_long: false,
        parallel: 1,
        not_when_empty: false,
        prints: false,
        prompts: false,
        terminal: false,
        slot_variable: None,
        warnings: Vec::new(),
        limits: false,
    };
    let mut items = LINE.items(arguments);
    loop {
        match items.next_item() {
            Ok(None) => break,
            Ok(Some(Item::Operand(word))) => options.command.push(word),
            Ok(Some(Item::Option(flag, value))) => options.option(flag, value)?,
            Err(ToolResult::Print(text)) => return Ok(Request::Print(String::from_utf8_lossy(&text).into_owned())),
            Err(answer) => return Err(CommandLineError::from_early_exit("xargs", answer)),
        }
    }
    if options.command.is_empty() {
        options.command.push(b"echo".to_vec());
    }
    if options.replace.is_some() && options.separator == Separator::Blanks {
        options.separator = Separator::Lines;
    }
    Ok(Request::Run(Box::new(options)))
}

impl Options {
    fn option(&mut self, key: Flag, value: Option<Vec<u8>>) -> Result<(), CommandLineError> {
        match key {
            Flag::Null => self.separator = Separator::Byte(0),
            Flag::Delimiter => {
                self.separator =
                    Separator::Byte(delimiter(&value.unwrap_or_default()).map_err(CommandLineError::Value)?)
            }
            Flag::ArgFile => self.file = value.filter(|name| name != b"-"),
            Flag::End | Flag::Eof => self.end = value.filter(|end| !end.is_empty()),
            Flag::ReplaceWith | Flag::Replace => {
                self.exclusive("--replace/-I/-i");
                self.replace = Some(value.unwrap_or_else(|| b"{}".to_vec()));
                self.exit_when_long = true;
            }
            Flag::Lines | Flag::MaxLines => {
                self.exclusive(if key == Flag::Lines { "-L" } else { "--max-lines/-l" });
                self.most_lines =
                    Some(number(if key == Flag::Lines { 'L' } else { 'l' }, value.as_deref().unwrap_or(b"1"), 1)?);
            }
            Flag::MaxArgs => {
                let count = number('n', &value.unwrap_or_default(), 1)?;
                // `-I` always uses one item per command.
                if !(count == 1 && self.replace.is_some()) {
                    self.exclusive("--max-args/-n");
                    self.most_items = Some(count);
                }
            }
            Flag::OpenTty => self.terminal = true,
            Flag::MaxProcs => self.parallel = number('P', &value.unwrap_or_default(), 0)?,
            Flag::Interactive => (self.prompts, self.prints) = (true, true),
            Flag::NoRunIfEmpty => self.not_when_empty = true,
            Flag::MaxChars => self.most_bytes = command_bytes(&value.unwrap_or_default())?,
            Flag::Verbose => self.prints = true,
            Flag::Exit => self.exit_when_long = true,
            Flag::ShowLimits => self.limits = true,
            Flag::ProcessSlotVar => {
                let name = value.unwrap_or_default();
                if name.contains(&b'=') {
                    let message = "option --process-slot-var may not be set to a value which includes '='";
                    return Err(CommandLineError::Usage(message.to_owned()));
                }
                self.slot_variable = Some(name);
            }
            _ => {}
        }
        Ok(())
    }

    /// Resets the other options for the number of items. The last option takes precedence.
    fn exclusive(&mut self, option: &str) {
        let others = [
            ("--replace", self.replace.take().is_some()),
            ("--max-lines", self.most_lines.take().is_some()),
            ("--max-args", self.most_items.take().is_some()),
        ];
        for (other, was_given) in others {
            if was_given && !option.starts_with(other) && !(option == "-L" && other == "--max-lines") {
                self.warnings.push(format!(
                    "options {other} and {option} are mutually exclusive, ignoring previous {other} value"
                ));
            }
        }
    }
}

/// Returns the size of the environment in bytes, which reduces the size of a command.
pub(crate) fn environment_bytes() -> usize {
    tidebox_rt::environ().iter().map(|entry| entry.len() + 1).sum()
}

/// Returns the maximum size of a command in bytes, as on Linux with this environment.
pub(crate) fn upper_bytes() -> usize {
    const LINUX: usize = 2 << 20;
    /// Headroom required by POSIX.
    const HEADROOM: usize = 2048;
    (LINUX - HEADROOM).saturating_sub(environment_bytes())
}

/// Parses the value of `-s`. Reports a value out of range and replaces it by the nearest valid one.
fn command_bytes(value: &[u8]) -> Result<usize, String> {
    let upper = upper_bytes();
    match number('s', value, 1) {
        Ok(bytes) if bytes > upper => {
            let text = String::from_utf8_lossy(value);
            print_error("xargs", &format!("value {} for -s option should be <= {upper}", text.trim()));
            Ok(upper)
        }
        Err(message) if !message.starts_with("invalid") => {
            print_error("xargs", &message);
            Ok(1)
        }
        other => other,
    }
}

fn number(key: char, value: &[u8], least: usize) -> Result<usize, String> {
    let text = String::from_utf8_lossy(value);
    let text = text.trim();
    let parsed: i128 = text.parse().map_err(|_| format!("invalid number \"{text}\" for -{key} option"))?;
    if key == 'P' && parsed > i128::from(MAX_PARALLEL) {
        return Err(format!("value {text} for -P option should be <= {MAX_PARALLEL}"));
    }
    match usize::try_from(parsed) {
        Ok(number) if number >= least => Ok(number),
        Err(_) if parsed > 0 => Ok(usize::MAX),
        _ => Err(format!("value {text} for -{key} option should be >= {least}")),
    }
}

/// Parses a delimiter: one byte, or its escape sequence.
fn delimiter(text: &[u8]) -> Result<u8, String> {
    let wrong = |reason: &str| format!("{reason} '{}' in input delimiter specification", String::from_utf8_lossy(text));
    match text {
        [byte] => Ok(*byte),
        [b'\\', b'\\'] => Ok(b'\\'),
        [b'\\', letter] if !letter.is_ascii_digit() => control(*letter).ok_or_else(|| wrong("Invalid escape sequence")),
        [b'\\', digits @ ..] => {
            let digits = String::from_utf8_lossy(digits);
            let parsed = match digits.strip_prefix('x') {
                Some(hexadecimal) => u8::from_str_radix(hexadecimal, 16),
                None => u8::from_str_radix(&digits, 8),
            };
            parsed.map_err(|_| wrong("Invalid escape sequence"))
        }
        _ => Err(format!(
            "Invalid input delimiter specification {}: the delimiter must be either a single character or an escape \
             sequence starting with \\.",
            String::from_utf8_lossy(text)
        )),
    }
}
