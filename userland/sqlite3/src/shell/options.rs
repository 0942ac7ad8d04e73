//! The command line.

use super::print::{Mode, Style};

/// Parsed command line.
#[derive(Debug, Default)]
pub(super) struct Options {
    pub(super) name: Vec<u8>,
    pub(super) statements: Vec<Vec<u8>>,
    /// `-cmd`
    pub(super) before: Vec<Vec<u8>>,
    pub(super) init: Option<Vec<u8>>,
    pub(super) style: Style,
    /// Style of the command line, which has precedence over a settings file.
    pub(super) given: Style,
    pub(super) readonly: bool,
    pub(super) bail: bool,
    pub(super) echo: bool,
}

/// Action to perform instead.
#[derive(Debug)]
pub(super) enum Other {
    Print(String),
    Fail(String),
}

const HELP: &str = "Usage: sqlite3 [OPTIONS] FILENAME [SQL]
FILENAME is the name of an SQLite database. A new database is created
if the file does not previously exist.
OPTIONS include:
   -ascii               set output mode to 'ascii'
   -bail                stop after hitting an error
   -batch               force batch I/O
   -box                 set output mode to 'box'
   -column              set output mode to 'column'
   -cmd COMMAND         run \"COMMAND\" before reading stdin
   -csv                 set output mode to 'csv'
   -echo                print inputs before execution
   -init FILENAME       read/process named file
   -[no]header          turn headers on or off
   -help                show this message
   -html                set output mode to HTML
   -json                set output mode to 'json'
   -line                set output mode to 'line'
   -list                set output mode to 'list'
   -markdown            set output mode to 'markdown'
   -newline SEP         set output row separator. Default: '\\n'
   -nullvalue TEXT      set text string for NULL values. Default ''
   -quote               set output mode to 'quote'
   -readonly            open the database read-only
   -separator SEP       set output column separator. Default: '|'
   -table               set output mode to 'table'
   -tabs                set output mode to 'tabs'
   -version             show SQLite version
";

/// Parses the command line.
pub(super) fn parse(arguments: Vec<Vec<u8>>) -> Result<Options, Other> {
    let mut options = Options::default();
    let mut name = None;
    let mut only_operands = false;
    let mut arguments = arguments.into_iter();
    while let Some(argument) = arguments.next() {
        let option = argument.strip_prefix(b"-").map(|rest| rest.strip_prefix(b"-").unwrap_or(rest));
        let Some(option) = option.filter(|option| !only_operands && !option.is_empty()) else {
            if argument == b"--" {
                only_operands = true;
            } else if name.is_none() {
                name = Some(argument);
            } else {
                options.statements.push(argument);
            }
            continue;
        };
        let option = String::from_utf8_lossy(option).into_owned();
        if options.flag(&option)? {
            continue;
        }
        if !matches!(option.as_str(), "cmd" | "init" | "separator" | "newline" | "nullvalue") {
            return Err(Other::Fail(format!(
                "sqlite3: Error: unknown option: -{option}\nUse -help for a list of options."
            )));
        }
        let value =
            arguments.next().ok_or_else(|| Other::Fail(format!("sqlite3: Error: missing argument to -{option}")))?;
        match option.as_str() {
            "cmd" => options.before.push(value),
            "init" => options.init = Some(value),
            "separator" => options.style.columns = Some(super::commands::unescaped(&value)),
            "newline" => options.style.rows = Some(super::commands::unescaped(&value)),
            _ => options.style.null = Some(value),
        }
    }
    options.name = name.unwrap_or_else(|| b":memory:".to_vec());
    options.given = options.style.clone();
    Ok(options)
}

impl Options {
    /// Handles an option without a value.
    fn flag(&mut self, option: &str) -> Result<bool, Other> {
        match option {
            "help" => return Err(Other::Print(HELP.to_owned())),
            "version" => return Err(Other::Print(format!("{}\n", crate::engine::version()))),
            "header" => self.style.headers = Some(true),
            "noheader" => self.style.headers = Some(false),
            "readonly" => self.readonly = true,
            "bail" => self.bail = true,
            "echo" => self.echo = true,
            // A terminal is not supported.
            "batch" | "interactive" | "safe" if option != "safe" => {}
            option => match Mode::from_name(option) {
                // As in the original, the line end does not change.
                Some(Mode::Csv) => {
                    self.style.set_mode(Mode::Csv);
                    self.style.rows = None;
                }
                Some(mode) if option != "insert" => self.style.set_mode(mode),
                _ => return Ok(false),
            },
        }
        Ok(true)
    }
}
