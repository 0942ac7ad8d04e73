//! `uptime`: time since boot.

use tidebox_gnu::getopt::{Item, Parser, Spec, Takes, long};
use tidebox_gnu::zone::Zone;

use crate::process::{booted, load, now, uptime};
use crate::{print, wrong};

const HELP: &str = include_str!("uptime.txt");

/// Runs `uptime`.
pub fn main(arguments: Vec<Vec<u8>>) -> i32 {
    let long = [
        long("pretty", Takes::Nothing, 'p'),
        long("help", Takes::Nothing, 'h'),
        long("since", Takes::Nothing, 's'),
        long("version", Takes::Nothing, 'V'),
    ];
    let mut parser = Parser::new(Spec { short: "phsV", long: &long, permute: true }, arguments);
    loop {
        return match parser.next_item() {
            Err(message) => wrong("uptime", &message, HELP, 1),
            Ok(None) => print("uptime", &(line() + "\n"), 0),
            Ok(Some(Item::Operand(_))) => continue,
            Ok(Some(Item::Option('p', _))) => print("uptime", &(pretty() + "\n"), 0),
            Ok(Some(Item::Option('s', _))) => {
                let moment = Zone::local().moment(booted(), 0);
                let field = |letter| moment.field(letter).unwrap_or_default();
                print("uptime", &format!("{} {}\n", field('F'), field('T')), 0)
            }
            Ok(Some(Item::Option('h', _))) => print("uptime", HELP, 0),
            Ok(Some(Item::Option(..))) => print("uptime", "uptime from procps-ng 4.0.2\n", 0),
        };
    }
}

/// The line that `w` and `top` also start with. No user is logged in.
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
