//! `env`: runs a command in a modified environment.

use std::io::Write;

use tidebox_gnu::command::Command;
use tidebox_gnu::exit::ToolResult;
use tidebox_gnu::getopt::Item;
use tidebox_gnu::message::{quote_path, quote_value};
use tidebox_gnu::options::Syntax;

use crate::common::{run, signal};

const USAGE: &str = "\
Usage: env [OPTION]... [-] [NAME=VALUE]... [COMMAND [ARG]...]
Runs COMMAND with each NAME set to VALUE; without COMMAND prints the environment.

";

tidebox_gnu::options! {
    /// Options of `env`.
    enum Flag {
        IgnoreEnvironment = "-i, --ignore-environment", "start with an empty environment";
        Unset = "-u, --unset=NAME", "remove NAME from the environment";
        Null = "-0, --null", "end lines with a zero byte";
        Chdir = "-C, --chdir=DIR", "run COMMAND in DIR";
        SplitString = "-S, --split-string=TEXT", "split TEXT into arguments, for #! lines";
        IgnoreSignal = "--ignore-signal[=SIG]", "COMMAND ignores SIG, or all signals that can be ignored";
        DefaultSignal = "--default-signal[=SIG]", "reset SIG to its default action";
        ListSignalHandling = "--list-signal-handling", "print the ignored signals";
        Debug = "-v, --debug", "print each step";
        BlockSignal = "--block-signal[=SIG]", "", unsupported "signals cannot be blocked here";
    }
}

const LINE: Syntax<'_, Flag> = Syntax { permute: false, usage_exit_code: 125, ..Syntax::core("env", USAGE, 28) };

/// Maximum nesting of `-S` inside `-S`.
const MAX_SPLITS: u32 = 16;

/// Runs `env`.
pub fn main(arguments: Vec<Vec<u8>>) -> ToolResult {
    let environment = tidebox_rt::environ();
    // Variables in `-S` have the values from before any option.
    let original = environment.clone();
    let mut call = Call { environment, ..Call::default() };
    let mut words = match call.parse(arguments, &original) {
        Ok(words) => words,
        Err(result) => return result,
    };
    if words.first().is_some_and(|word| word == b"-") {
        call.environment.clear();
        words.remove(0);
    }
    while let Some(assignment) = words.first().filter(|word| word.contains(&b'=')) {
        let assignment = assignment.clone();
        let name = assignment.split(|byte| *byte == b'=').next().unwrap_or_default().to_vec();
        call.trace(&format!("setenv:   {}", String::from_utf8_lossy(&assignment)));
        unset(&mut call.environment, &name);
        call.environment.push(assignment);
        words.remove(0);
    }
    call.finish(&words)
}

/// Options for running the command.
#[derive(Debug, Default)]
struct Call {
    environment: Vec<Vec<u8>>,
    directory: Vec<u8>,
    /// Line terminator, if specified.
    end: Option<u8>,
    /// Signals that the command ignores; bit *n* is signal *n* of Linux.
    ignored: u64,
    debug: bool,
    lists_signals: bool,
}

impl Call {
    /// Parses options, and those that `-S` inserts. Returns the operands.
    fn parse(&mut self, arguments: Vec<Vec<u8>>, original: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, ToolResult> {
        let mut rest = arguments;
        let mut splits = 0;
        loop {
            let mut items = LINE.items(rest);
            let mut words = Vec::new();
            let text = loop {
                match items.next_item::<ToolResult>()? {
                    None => return Ok(words),
                    Some(Item::Operand(word)) => words.push(word),
                    Some(Item::Option(Flag::SplitString, text)) => break text.unwrap_or_default(),
                    Some(Item::Option(key, value)) => self.set(key, value.unwrap_or_default())?,
                }
            };
            splits += 1;
            if splits > MAX_SPLITS {
                return Err(ToolResult::Failure("-S is used too often within -S".to_owned(), 125));
            }
            rest = split(&text, original).map_err(|message| ToolResult::Failure(message, 125))?;
            self.trace_split(&text, &rest);
            rest.extend(items.remaining());
        }
    }

    /// Applies one option. The error is the exit result.
    fn set(&mut self, key: Flag, value: Vec<u8>) -> Result<(), ToolResult> {
        match key {
            Flag::IgnoreEnvironment => {
                self.trace("cleaning environ");
                self.environment.clear();
            }
            Flag::Unset if value.is_empty() || value.contains(&b'=') => {
                return Err(ToolResult::Failure(
                    format!("cannot unset {}: Invalid argument", quote_value(&value)),
                    125,
                ));
            }
            Flag::Unset => {
                self.trace(&format!("unset:    {}", String::from_utf8_lossy(&value)));
                unset(&mut self.environment, &value);
            }
            Flag::Null => self.end = Some(0),
            Flag::Chdir => self.directory = value,
            Flag::Debug => self.debug = true,
            Flag::ListSignalHandling => self.lists_signals = true,
            Flag::DefaultSignal | Flag::IgnoreSignal => {
                self.set_signals(&value, key == Flag::IgnoreSignal)
                    .map_err(|message| ToolResult::Usage(message, 125))?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Prints a line of `--debug`.
    fn trace(&self, line: &str) {
        if self.debug {
            // Ignore the error: stderr may be closed.
            let _ = writeln!(std::io::stderr(), "{line}");
        }
    }

    fn trace_split(&self, text: &[u8], words: &[Vec<u8>]) {
        self.trace(&format!("split -S:  {}", quote_value(text)));
        for (at, word) in words.iter().enumerate() {
            self.trace(&format!("{}{}", if at == 0 { " into:    " } else { "     &    " }, quote_value(word)));
        }
    }

    /// Records signals by name. Without names, records all that can be ignored.
    fn set_signals(&mut self, names: &[u8], ignore: bool) -> Result<(), String> {
        let mut set = 0;
        if names.is_empty() {
            set = (1..32).filter(|number| ![9, 19].contains(number)).fold(0_u64, |set, number| set | 1 << number);
        }
        for name in names.split(|byte| *byte == b',').filter(|name| !name.is_empty()) {
            let number = signal::parse(&String::from_utf8_lossy(name)).filter(|number| (1..64).contains(number));
            set |= 1_u64 << number.ok_or_else(|| format!("{}: invalid signal", quote_value(name)))?;
        }
        self.ignored = if ignore { self.ignored | set } else { self.ignored & !set };
        Ok(())
    }

    fn finish(&self, words: &[Vec<u8>]) -> ToolResult {
        let directory = self.directory.as_slice();
        let end = self.end.unwrap_or(b'\n');
        if self.lists_signals {
            for number in (1..32).filter(|number| self.ignored & 1 << number != 0) {
                let name = signal::name(number).unwrap_or_default();
                let _ = writeln!(std::io::stderr(), "{name:<10} ({number:2}): IGNORE");
            }
        }
        if words.is_empty() {
            if !directory.is_empty() {
                return ToolResult::Usage("must specify command with --chdir (-C)".to_owned(), 125);
            }
            let lines: Vec<u8> = self.environment.iter().flat_map(|entry| entry.iter().copied().chain([end])).collect();
            return ToolResult::Print(lines);
        }
        if end == 0 {
            return ToolResult::Usage("cannot specify --null (-0) with command".to_owned(), 125);
        }
        if !directory.is_empty()
            && let Err(error) = tidebox_rt::read_dir(directory)
        {
            return ToolResult::Failure(
                format!("cannot change directory to {}: {}", quote_path(directory), error.text()),
                125,
            );
        }
        let arguments: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
        self.trace(&format!("executing: {}", String::from_utf8_lossy(arguments.first().copied().unwrap_or_default())));
        for (at, argument) in arguments.iter().enumerate() {
            self.trace(&format!("   arg[{at}]= {}", quote_value(argument)));
        }
        let command = Command {
            environment: Some(&self.environment),
            directory,
            ignored: self.ignored,
            ..Command::new(&arguments)
        };
        run::run(&command)
    }
}

fn unset(environment: &mut Vec<Vec<u8>>, name: &[u8]) {
    environment.retain(|entry| !entry.strip_prefix(name).is_some_and(|rest| rest.starts_with(b"=")));
}

/// Splits text like a shell, with quotes, escapes and `${NAME}`.
pub(crate) fn split(text: &[u8], environment: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, String> {
    let mut words = Vec::new();
    let mut word: Option<Vec<u8>> = None;
    let mut quote = None;
    let mut rest = text;
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        match (*first, quote) {
            (byte, Some(open)) if byte == open => quote = None,
            (byte @ (b'\'' | b'"'), None) => {
                quote = Some(byte);
                word.get_or_insert_default();
            }
            (b'\\', Some(b'\'')) if !matches!(rest.first(), Some(b'\\' | b'\'')) => {
                word.get_or_insert_default().push(b'\\');
            }
            (b'\\', _) => {
                let (letter, after) = rest.split_first().ok_or("invalid backslash at end of string in -S")?;
                rest = after;
                match letter {
                    b'_' if quote.is_none() => words.extend(word.take()),
                    b'c' if quote.is_none() => break,
                    letter => word.get_or_insert_default().push(escape(*letter)?),
                }
            }
            (b'$', quote) if quote != Some(b'\'') => {
                let (name, after) = variable(rest)?;
                rest = after;
                let value = environment.iter().find_map(|entry| entry.strip_prefix(name)?.strip_prefix(b"="));
                word.get_or_insert_default().extend_from_slice(value.unwrap_or_default());
            }
            (b' ' | b'\t' | b'\n' | b'\r' | 11 | 12, None) => words.extend(word.take()),
            (b'#', None) if word.is_none() => break,
            (byte, _) => word.get_or_insert_default().push(byte),
        }
    }
    if quote.is_some() {
        return Err("no terminating quote in -S string".to_owned());
    }
    words.extend(word);
    Ok(words)
}

fn escape(letter: u8) -> Result<u8, String> {
    Ok(match letter {
        b'f' => 12,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'v' => 11,
        b'_' => b' ',
        b'#' | b'$' | b'"' | b'\'' | b'\\' => letter,
        _ => return Err(format!("invalid sequence '\\{}' in -S", char::from(letter))),
    })
}

fn variable(rest: &[u8]) -> Result<(&[u8], &[u8]), String> {
    let inner = rest.strip_prefix(b"{").and_then(|inner| Some((inner, inner.iter().position(|byte| *byte == b'}')?)));
    match inner.and_then(|(inner, end)| Some((inner.get(..end)?, inner.get(end + 1..)?))) {
        Some((name, after)) if !name.is_empty() => Ok((name, after)),
        _ => Err("only ${VARNAME} expansion is supported, error at: $".to_owned() + &String::from_utf8_lossy(rest)),
    }
}
