//! `kill`: signals to other processes.

use tidebox_gnu::answer::Answer;
use tidebox_gnu::message::{cited, complain};

use crate::signal;

const USAGE: &str = "usage: kill [-s SIGNAL | -SIGNAL] PID... or kill -l [SIGNAL]...";

pub(crate) fn main(arguments: Vec<Vec<u8>>) -> Answer {
    let mut words: Vec<String> = arguments.iter().map(|word| String::from_utf8_lossy(word).into_owned()).collect();
    let mut number = signal::TERMINATE;
    let first = words.first().cloned().unwrap_or_default();
    let chosen = match first.as_str() {
        "" => return Answer::Failure(USAGE.to_owned(), 1),
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
            None => return Answer::Usage(format!("{}: invalid signal", cited(text.as_bytes())), 1),
        }
    }
    if words.first().is_some_and(|word| word == "--") {
        words.remove(0);
    }
    if words.is_empty() {
        return Answer::Usage("no process ID specified".to_owned(), 1);
    }
    send(number, &words)
}

fn send(number: u32, words: &[String]) -> Answer {
    let mut code = 0;
    for word in words {
        let sent = match word.parse::<i32>() {
            Ok(pid) => tidebox_rt::kill(pid, number),
            Err(_) => {
                complain("kill", &format!("{}: invalid process id", cited(word.as_bytes())));
                code = 1;
                continue;
            }
        };
        if let Err(error) = sent {
            complain("kill", &format!("sending signal to {word} failed: {}", error.text()));
            code = 1;
        }
    }
    Answer::Code(code)
}

fn list(words: &[String]) -> Answer {
    let mut out = String::new();
    if words.is_empty() {
        for (_, name) in signal::all() {
            out.push_str(name);
            out.push('\n');
        }
    }
    for word in words {
        let Some(number) = signal::parse(word) else {
            return Answer::Failure(format!("{}: invalid signal", cited(word.as_bytes())), 1);
        };
        // Numbers become names and names numbers.
        match signal::name(number).filter(|_| word.parse::<u32>().is_ok()) {
            Some(name) => out.push_str(name),
            None => out.push_str(&number.to_string()),
        }
        out.push('\n');
    }
    Answer::Print(out.into_bytes())
}
