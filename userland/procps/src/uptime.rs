//! `uptime`: prints the time since boot.

use tidebox_gnu::exit::{IntoExitCode, ToolResult};
use tidebox_gnu::options::Syntax;
use tidebox_gnu::zone::Zone;

use crate::process::{booted, load, now, uptime};
use crate::{print, usage_error};

const USAGE: &str = "
Usage:
 uptime [options]

Options:
";

tidebox_gnu::options! {
    /// Options of `uptime`.
    enum Flag {
        Pretty = "-p, --pretty", "show uptime in pretty format";
        Help = "-h, --help", "display this help and exit";
        Since = "-s, --since", "system up since";
        Version = "-V, --version", "output version information and exit";
    }
}

const SYNTAX: Syntax<'_, Flag> = Syntax {
    indent: 1,
    notes: "\nFor more details see uptime(1).\n",
    version: "uptime from procps-ng 4.0.2\n",
    ..Syntax::new("uptime", USAGE, 16)
};

/// Runs `uptime`.
pub fn main(arguments: Vec<Vec<u8>>) -> i32 {
    // The first option selects the output.
    let result = SYNTAX.parse::<ToolResult>(arguments, |flag, _| {
        let text = match flag {
            Flag::Pretty => pretty() + "\n",
            _ => {
                let moment = Zone::local().moment(booted(), 0);
                let field = |letter| moment.field(letter).unwrap_or_default();
                format!("{} {}\n", field('F'), field('T'))
            }
        };
        Err(text.as_str().into())
    });
    match result {
        Ok(_) => print("uptime", &(line() + "\n"), 0),
        Err(ToolResult::Usage(message, code)) => usage_error("uptime", &message, &SYNTAX.help(), code),
        Err(result) => result.into_exit_code("uptime"),
    }
}

/// Returns the first line of `uptime`, `w` and `top`. No user is logged in.
pub(crate) fn line() -> String {
    let seconds = uptime() as u64;
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60);
    let days = match days {
        0 => String::new(),
        1 => "1 day, ".to_owned(),
        days => format!("{days} days, "),
    };
    let time = if hours > 0 { format!("{hours:>2}:{minutes:02}") } else { format!("{minutes} min") };
    let clock = Zone::local().moment(now(), 0).field('T').unwrap_or_default();
    format!(" {clock} up {days}{time},  0 user,  load average: {}", load())
}

fn pretty() -> String {
    let seconds = uptime() as u64;
    let mut parts = Vec::new();
    let mut part = |count: u64, name: &str| {
        if count > 0 {
            parts.push(format!("{count} {name}{}", if count == 1 { "" } else { "s" }));
        }
    };
    part(seconds / 604_800, "week");
    part(seconds / 86_400 % 7, "day");
    part(seconds / 3600 % 24, "hour");
    part(seconds / 60 % 60, "minute");
    if parts.is_empty() {
        parts.push("0 minutes".to_owned());
    }
    format!("up {}", parts.join(", "))
}
