//! `stty`: prints and changes settings of a terminal.

mod change;
mod show;
mod table;
#[cfg(test)]
mod tests;

use tidebox_gnu::exit::{IntoExitCode as _, ToolResult};
use tidebox_gnu::message::{display_name, quote_value};
use tidebox_gnu::options::Syntax;
use tidebox_rt::{self as rt, Errno, Fd, Open};

use change::Rejected;

const USAGE: &str = "\
Usage: stty [-F DEVICE | --file=DEVICE] [SETTING]...
  or:  stty [-F DEVICE | --file=DEVICE] [-a|--all]
  or:  stty [-F DEVICE | --file=DEVICE] [-g|--save]
Prints or changes settings of a terminal.
";

tidebox_gnu::options! {
    /// Options of `stty`.
    enum Flag {
        All = "-a, --all", "print all settings";
        Save = "-g, --save", "print all settings in the form of an argument";
        File = "-F, --file=DEVICE", "use DEVICE instead of standard input";
    }
}

const LINE: Syntax<'_, Flag> = Syntax::core("stty", USAGE, 0);

/// Runs `stty`.
pub fn main(arguments: Vec<Vec<u8>>) -> i32 {
    result_of(arguments).into_exit_code("stty")
}

fn result_of(arguments: Vec<Vec<u8>>) -> ToolResult {
    // Settings may start with a dash (`-echo`), so only known options reach the parser.
    let is_option = |word: &[u8]| word.starts_with(b"--") || word.starts_with(b"-F") || matches!(word, b"-a" | b"-g");
    let (mut options, mut settings, mut rest) = (Vec::new(), Vec::new(), arguments.into_iter());
    while let Some(word) = rest.next() {
        if is_option(&word) {
            let takes_next = word == b"-F" || word == b"--file";
            options.push(word);
            options.extend(rest.next().filter(|_| takes_next));
        } else {
            settings.push(word);
        }
    }
    let (mut all, mut save, mut device) = (false, false, None);
    let parsed = LINE.parse(options, |flag, value| {
        match flag {
            Flag::All => all = true,
            Flag::Save => save = true,
            Flag::File => device = Some(value),
        }
        Ok::<(), ToolResult>(())
    });
    if let Err(result) = parsed {
        return result;
    }
    if all && save {
        return ToolResult::Failure(
            "the options for verbose and stty-readable output styles are\nmutually exclusive".to_owned(),
            1,
        );
    }
    if (all || save) && !settings.is_empty() {
        return ToolResult::Failure("when specifying an output style, modes may not be set".to_owned(), 1);
    }
    let name = device.as_ref().map_or("'standard input'".into(), |name| display_name(name));
    match run(device.as_deref(), &settings, all, save) {
        Ok(text) => ToolResult::from(text.as_str()),
        Err(Failure::Terminal(errno)) => ToolResult::Failure(format!("{name}: {}", errno.text()), 1),
        Err(Failure::Word(rejected)) => match rejected {
            Rejected::Invalid(word) => LINE.usage_error(format!("invalid argument {}", quote_value(&word))),
            Rejected::Missing(word) => LINE.usage_error(format!("missing argument to {}", quote_value(&word))),
            Rejected::NotInteger(word) => LINE.usage_error(format!("invalid integer argument: {}", quote_value(&word))),
        },
    }
}

/// Reason of a failure.
enum Failure {
    Terminal(Errno),
    Word(Rejected),
}

fn run(device: Option<&[u8]>, settings: &[Vec<u8>], all: bool, save: bool) -> Result<String, Failure> {
    let fd: Fd = match device {
        // Closed when the process exits. Not blocking, as GNU opens it.
        Some(name) => {
            rt::open(name, Open { read: true, nonblock: true, ..Open::default() }).map_err(Failure::Terminal)?
        }
        None => 0,
    };
    let before = rt::terminal_mode(fd).map_err(Failure::Terminal)?;
    if settings.is_empty() {
        return Ok(match (all, save) {
            (true, _) => show::all(&before),
            (_, true) => format!("{}\n", change::saved(&before)),
            _ => show::changed(&before),
        });
    }
    let mut mode = before;
    let prints = change::apply(&mut mode, settings).map_err(Failure::Word)?;
    if mode != before {
        rt::set_terminal_mode(fd, &mode, false).map_err(Failure::Terminal)?;
    }
    let line = |what: &str| match what {
        "speed" => "38400\n".to_owned(),
        _ => format!("{} {}\n", mode.rows, mode.columns),
    };
    Ok(prints.into_iter().map(line).collect())
}
