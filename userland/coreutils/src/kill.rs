//! `kill`: sends signals to processes.

use tidebox_gnu::exit::ToolResult;
use tidebox_gnu::message::{print_error, quote_value};

use crate::common::signal;

const USAGE: &str = "usage: kill [-s SIGNAL | -SIGNAL] PID... or kill -l [SIGNAL]...";

/// Runs `kill`.
pub fn main(arguments: Vec<Vec<u8>>) -> ToolResult {
    let mut words: Vec<String> = arguments.iter().map(|word| String::from_utf8_lossy(word).into_owned()).collect();
    let mut number = signal::TERMINATE;
    let first = words.first().cloned().unwrap_or_default();
    let chosen = match first.as_str() {
        "" => return ToolResult::Failure(USAGE.to_owned(), 1),
        "-l" | "-L" | "--list" | "-t" | "--table" => return list(words.get(1..).unwrap_or_default()),
        "-s" | "--signal" if words.len() > 1 => {
            words.remove(0);
            Some(words.remove(0))
        }
        "--" => {
            words.remove(0);
            None
        }
        option if option.len() > 1 && option.starts_with('-') => {
            words.remove(0);
            Some(option.strip_prefix("--signal=").or_else(|| option.strip_prefix('-')).unwrap_or(option).to_owned())
        }
        _ => None,
    };
    if let Some(text) = chosen {
        match signal::parse(&text) {
            Some(parsed) => number = parsed,
            None => return ToolResult::Usage(format!("{}: invalid signal", quote_value(text.as_bytes())), 1),
        }
    }
    if words.first().is_some_and(|word| word == "--") {
        words.remove(0);
    }
    if words.is_empty() {
        return ToolResult::Usage("no process ID specified".to_owned(), 1);
    }
    send(number, &words)
}

fn send(number: u32, words: &[String]) -> ToolResult {
    let mut code = 0;
    for word in words {
        let sent = match word.parse::<i32>() {
            Ok(pid) => tidebox_rt::kill(pid, number),
            Err(_) => {
                print_error("kill", &format!("{}: invalid process id", quote_value(word.as_bytes())));
                code = 1;
                continue;
            }
        };
        if let Err(error) = sent {
            print_error("kill", &format!("sending signal to {word} failed: {}", error.text()));
            code = 1;
        }
    }
    ToolResult::Code(code)
}

fn list(words: &[String]) -> ToolResult {
    let mut out = String::new();
    if words.is_empty() {
        for (_, name) in signal::all() {
            out.push_str(name);
            out.push('\n');
        }
    }
    for word in words {
        let Some(number) = signal::parse(word) else {
            return ToolResult::Failure(format!("{}: invalid signal", quote_value(word.as_bytes())), 1);
        };
        // A number is printed as a name, and a name as a number.
        match signal::name(number).filter(|_| word.parse::<u32>().is_ok()) {
            Some(name) => out.push_str(name),
            None => out.push_str(&number.to_string()),
        }
        out.push('\n');
    }
    ToolResult::Print(out.into_bytes())
}
