//! `free`: how much memory is left.

use tidebox_gnu::getopt::{Item, Long, Parser, Spec, Takes, long};
use tidebox_gnu::message::complain;

use crate::process::Memory;
use crate::{print, wrong};

const HELP_TEXT: &str = include_str!("free.txt");

const KILO: char = '\u{e001}';
const MEGA: char = '\u{e002}';
const GIGA: char = '\u{e003}';
const TERA: char = '\u{e004}';
const PETA: char = '\u{e005}';
const TEBI: char = '\u{e006}';
const PEBI: char = '\u{e007}';
const SI: char = '\u{e008}';
const HELP: char = '\u{e009}';

const LONG: &[Long] = &[
    long("bytes", Takes::Nothing, 'b'),
    long("kilo", Takes::Nothing, KILO),
    long("mega", Takes::Nothing, MEGA),
    long("giga", Takes::Nothing, GIGA),
    long("tera", Takes::Nothing, TERA),
    long("peta", Takes::Nothing, PETA),
    long("kibi", Takes::Nothing, 'k'),
    long("mebi", Takes::Nothing, 'm'),
    long("gibi", Takes::Nothing, 'g'),
    long("tebi", Takes::Nothing, TEBI),
    long("pebi", Takes::Nothing, PEBI),
    long("human", Takes::Nothing, 'h'),
    long("si", Takes::Nothing, SI),
    long("lohi", Takes::Nothing, 'l'),
    long("total", Takes::Nothing, 't'),
    long("committed", Takes::Nothing, 'v'),
    long("seconds", Takes::Value, 's'),
    long("count", Takes::Value, 'c'),
    long("wide", Takes::Nothing, 'w'),
    long("help", Takes::Nothing, HELP),
    long("version", Takes::Nothing, 'V'),
];

#[derive(Clone, Copy)]
struct Shown {
    /// The power of the unit; `None` chooses it for people.
    power: Option<u32>,
    si: bool,
    wide: bool,
    total: bool,
    low_and_high: bool,
}

/// When it is shown.
struct Times {
    count: u64,
    /// Seconds between two times, where that was said.
    pause: Option<f64>,
}

pub(crate) fn main(arguments: Vec<Vec<u8>>) -> i32 {
    let mut shown = Shown { power: Some(1), si: false, wide: false, total: false, low_and_high: false };
    let mut times = Times { count: 1, pause: None };
    let mut parser = Parser::new(Spec { short: "bkmghlvts:c:wV", long: LONG, permute: true }, arguments);
    loop {
        let (key, value) = match parser.next_item() {
            Err(message) => return wrong("free", &message, HELP_TEXT, 1),
            Ok(None) => break,
            Ok(Some(Item::Operand(_))) => return wrong("free", "unexpected operand", HELP_TEXT, 1),
            Ok(Some(Item::Option(key, value))) => {
                (key, String::from_utf8_lossy(&value.unwrap_or_default()).into_owned())
            }
        };
        match key {
            'b' => shown.power = Some(0),
            'k' | KILO => (shown.power, shown.si) = (Some(1), shown.si || key == KILO),
            'm' | MEGA => (shown.power, shown.si) = (Some(2), shown.si || key == MEGA),
            'g' | GIGA => (shown.power, shown.si) = (Some(3), shown.si || key == GIGA),
            TEBI | TERA => (shown.power, shown.si) = (Some(4), shown.si || key == TERA),
            PEBI | PETA => (shown.power, shown.si) = (Some(5), shown.si || key == PETA),
            'h' => shown.power = None,
            SI => shown.si = true,
            'w' => shown.wide = true,
            't' => shown.total = true,
            'l' => shown.low_and_high = true,
            's' | 'c' => {
                if let Err(message) = times.set(key, &value) {
                    complain("free", &message);
                    return 1;
                }
            }
            'v' => {
                complain("free", "committed memory (-v) is not known here");
                return 1;
            }
            HELP => return print("free", HELP_TEXT, 0),
            _ => return print("free", "free from procps-ng 4.0.2\n", 0),
        }
    }
    times.show(shown)
}

impl Times {
    /// Sets how often (`c`) or in what distance (`s`). An error is the message.
    fn set(&mut self, key: char, value: &str) -> Result<(), String> {
        if key == 'c' {
            let count = value.parse::<u64>().ok().filter(|count| *count > 0);
            self.count = count.ok_or_else(|| format!("failed to parse count argument: '{value}'"))?;
            self.pause = self.pause.or(Some(1.0));
            return Ok(());
        }
        match value.parse::<f64>() {
            Ok(seconds) if seconds > 0.0 && seconds < 1e9 => (self.pause, self.count) = (Some(seconds), u64::MAX),
            Ok(_) => return Err(format!("seconds argument `{value}' is not positive number")),
            Err(_) => return Err(format!("seconds argument `{value}' failed")),
        }
        Ok(())
    }

    /// Shows the memory as often as asked for.
    fn show(&self, shown: Shown) -> i32 {
        for time in 0..self.count {
            if time > 0 {
                std::thread::sleep(std::time::Duration::from_secs_f64(self.pause.unwrap_or(1.0)));
            }
            let gap = if self.pause.is_some() && time + 1 < self.count { "\n" } else { "" };
            let code = print("free", &(table(Memory::now(), shown) + gap), 0);
            if code != 0 {
                return code;
            }
        }
        0
    }
}

/// An amount of KiB.
fn amount(kib: u64, shown: Shown) -> String {
    let base: u64 = if shown.si { 1000 } else { 1024 };
    let bytes = kib.saturating_mul(1024);
    if let Some(power) = shown.power {
        return (bytes / base.checked_pow(power).unwrap_or(u64::MAX)).to_string();
    }
    if bytes < base {
        return format!("{bytes}B");
    }
    let unit = |letter: char| if shown.si { letter.to_string() } else { format!("{letter}i") };
    let mut scale = base;
    for letter in ['K', 'M', 'G', 'T', 'P'] {
        let letter = if shown.si && letter == 'K' { 'k' } else { letter };
        let value = bytes as f64 / scale as f64;
        let tenths = format!("{value:.1}");
        if tenths.len() <= 3 {
            return tenths + &unit(letter);
        }
        if bytes / scale < base {
            return format!("{}{}", bytes / scale, unit(letter));
        }
        scale = scale.saturating_mul(base);
    }
    bytes.to_string()
}

fn table(memory: Memory, shown: Shown) -> String {
    let used = memory.total.saturating_sub(memory.available);
    let cached = memory.buffers.saturating_add(memory.cache);
    let swap_used = memory.swap_total.saturating_sub(memory.swap_free);
    let row = |name: &str, amounts: &[u64]| {
        let cells: String = amounts.iter().map(|kib| format!(" {:>11}", amount(*kib, shown))).collect();
        format!("{name:<8}{cells}\n")
    };
    let mut out = String::new();
    if shown.wide {
        out.push_str("               total        used        free      shared     buffers       cache   available\n");
        let cells = [memory.total, used, memory.free, memory.shared, memory.buffers, memory.cache, memory.available];
        out.push_str(&row("Mem:", &cells));
    } else {
        out.push_str("               total        used        free      shared  buff/cache   available\n");
        out.push_str(&row("Mem:", &[memory.total, used, memory.free, memory.shared, cached, memory.available]));
    }
    if shown.low_and_high {
        out.push_str(&row("Low:", &[memory.total, memory.total.saturating_sub(memory.free), memory.free]));
        out.push_str(&row("High:", &[0, 0, 0]));
    }
    out.push_str(&row("Swap:", &[memory.swap_total, swap_used, memory.swap_free]));
    if shown.total {
        let cells = [memory.total + memory.swap_total, used + swap_used, memory.free + memory.swap_free];
        out.push_str(&row("Total:", &cells));
    }
    out
}
