//! `tput`, `clear` and `reset`: terminal control strings.

use tidebox_gnu::exit::{IntoExitCode, ToolResult};
use tidebox_gnu::options::Syntax;
use tidebox_gnu::stream::read_all;
use tidebox_gnu::tool::print;

use crate::terminal::{Ability, Terminal};

tidebox_gnu::options! {
    /// Options of `tput`.
    enum Flag {
        Input = "-S", "";
        Terminal = "-T TERM", "";
        Version = "-V, --version", "";
        KeepScrollback = "-x", "";
    }
}

const SYNTAX: Syntax<'_, Flag> =
    Syntax { permute: false, version: "ncurses 6.4.20221231\n", ..Syntax::new("tput", USAGE, 0) };

const USAGE: &str = "Usage: tput [options] [command]

Options:
  -S <<       read commands from standard input
  -T TERM     use this instead of $TERM
  -V          print curses-version
  -x          do not try to clear scrollback

Commands:
  clear       clear the screen
  init        initialize the terminal
  reset       reinitialize the terminal
  capname     unlike clear/init/reset, print value for capability \"capname\"";

fn refuse(message: &str, code: i32) -> i32 {
    tidebox_gnu::eprint_line!("tput: {message}");
    code
}

/// Returns the terminal of `-T` or the environment. The error is a message and an exit code.
fn terminal(given: Option<String>) -> Result<Terminal, (String, i32)> {
    let name = given.or_else(|| std::env::var("TERM").ok()).filter(|name| !name.is_empty());
    let name = name.ok_or_else(|| ("No value for $TERM and no -T specified".to_owned(), 2))?;
    Terminal::find(&name).ok_or_else(|| (format!("unknown terminal \"{name}\""), 3))
}

/// Runs `tput`.
pub fn main(arguments: Vec<Vec<u8>>) -> i32 {
    let (mut given, mut from_input) = (None, false);
    let operands = SYNTAX.parse::<ToolResult>(arguments, |flag, value| {
        match flag {
            Flag::Input => from_input = true,
            Flag::Terminal => given = Some(String::from_utf8_lossy(&value).into_owned()),
            _ => {}
        }
        Ok(())
    });
    let operands: Vec<String> = match operands {
        Ok(operands) => operands.iter().map(|operand| String::from_utf8_lossy(operand).into_owned()).collect(),
        Err(ToolResult::Usage(message, _)) => {
            tidebox_gnu::eprint_line!("tput: {message}\n{USAGE}");
            return 2;
        }
        Err(result) => return result.into_exit_code("tput"),
    };
    let terminal = match terminal(given) {
        Ok(terminal) => terminal,
        Err((message, code)) => return refuse(&message, code),
    };
    if !from_input {
        if operands.is_empty() {
            tidebox_gnu::eprint_line!("{USAGE}");
            return 2;
        }
        return show(terminal, &operands);
    }
    let text = String::from_utf8_lossy(&read_all(b"-").unwrap_or_default()).into_owned();
    for line in text.lines() {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let code = if words.is_empty() { 0 } else { show(terminal, &words) };
        if code > 1 {
            return code;
        }
    }
    0
}

fn show(terminal: Terminal, words: &[String]) -> i32 {
    let Some((name, values)) = words.split_first() else {
        return 0;
    };
    let numbers: Vec<i32> = values.iter().map(|value| value.parse().unwrap_or(0)).collect();
    match name.as_str() {
        "longname" => return print("tput", terminal.title.as_bytes()),
        "init" => return 0,
        "reset" => return print("tput", reset_text(terminal).as_bytes()),
        _ => {}
    }
    match terminal.ability(name, &numbers) {
        None => refuse(&format!("unknown terminfo capability '{name}'"), 4),
        Some(Ability::Text(text)) => print("tput", text.as_bytes()),
        Some(Ability::Number(number)) => print("tput", format!("{number}\n").as_bytes()),
        Some(Ability::Flag(flag)) => i32::from(!flag),
        Some(Ability::Absent) if name == "clear" => 2,
        Some(Ability::Absent) => 1,
    }
}

fn reset_text(terminal: Terminal) -> String {
    match terminal.ability("rs1", &[]) {
        Some(Ability::Text(text)) => text,
        _ => String::new(),
    }
}

/// Runs `clear`.
pub fn clear(_arguments: Vec<Vec<u8>>) -> i32 {
    match terminal(None) {
        Err((message, 2)) => {
            let message = if message.starts_with("No value") { "TERM environment variable not set." } else { &message };
            tidebox_gnu::eprint_line!("{message}");
            1
        }
        Err((message, _)) => {
            let name = message.split('"').nth(1).unwrap_or_default().to_owned();
            tidebox_gnu::eprint_line!("'{name}': unknown terminal type.");
            1
        }
        Ok(terminal) => match terminal.ability("clear", &[]) {
            Some(Ability::Text(text)) => print("clear", text.as_bytes()),
            _ => 1,
        },
    }
}

/// Runs `reset`, which writes only the control strings, because the sandbox has no terminal.
pub fn reset(arguments: Vec<Vec<u8>>) -> i32 {
    match terminal(arguments.first().map(|name| String::from_utf8_lossy(name).into_owned())) {
        Ok(terminal) => {
            tidebox_gnu::eprint_part!("{}", reset_text(terminal));
            0
        }
        Err((message, _)) => {
            tidebox_gnu::eprint_line!("reset: {message}");
            1
        }
    }
}
