//! `free`: memory use.

use tidebox_gnu::exit::{IntoExitCode, ToolResult};
use tidebox_gnu::getopt::Item;
use tidebox_gnu::message::print_error;
use tidebox_gnu::options::Syntax;

use crate::process::Memory;
use crate::{print, usage_error};

const USAGE: &str = "
Usage:
 free [options]

Displays the amount of free and used memory.

Options:
";

tidebox_gnu::options! {
    /// Options of `free`.
    enum Flag {
        Bytes = "-b, --bytes", "show output in bytes";
        Kilo = "--kilo", "show output in kilobytes";
        Mega = "--mega", "show output in megabytes";
        Giga = "--giga", "show output in gigabytes";
        Tera = "--tera", "show output in terabytes";
        Peta = "--peta", "show output in petabytes";
        Kibi = "-k, --kibi", "show output in kibibytes";
        Mebi = "-m, --mebi", "show output in mebibytes";
        Gibi = "-g, --gibi", "show output in gibibytes";
        Tebi = "--tebi", "show output in tebibytes";
        Pebi = "--pebi", "show output in pebibytes";
        Human = "-h, --human", "show human-readable output";
        Si = "--si", "use powers of 1000 not 1024";
        Lohi = "-l, --lohi", "show detailed low and high memory statistics";
        Total = "-t, --total", "show total for RAM + swap";
        Committed = "-v, --committed", "", unsupported "committed memory (-v) is not known here";
        Seconds = "-s N, --seconds N", "repeat printing every N seconds";
        Count = "-c N, --count N", "repeat printing N times, then exit";
        Wide = "-w, --wide", "wide output\n\n";
        Help = "--help", "display this help and exit";
        Version = "-V, --version", "output version information and exit";
    }
}

const LINE: Syntax<'_, Flag> =
    Syntax { indent: 1, version: "free from procps-ng 4.0.2\n", ..Syntax::new("free", USAGE, 21) };

#[derive(Clone, Copy)]
struct Shown {
    /// The power of the unit; `None` selects a human-readable one.
    power: Option<u32>,
    si: bool,
    wide: bool,
    total: bool,
    low_and_high: bool,
}

/// Schedule of the output.
struct Times {
    count: u64,
    /// Seconds between two reports, if given.
    pause: Option<f64>,
}

/// Runs `free`.
pub fn main(arguments: Vec<Vec<u8>>) -> i32 {
    let mut shown = Shown { power: Some(1), si: false, wide: false, total: false, low_and_high: false };
    let mut times = Times { count: 1, pause: None };
    let mut items = LINE.items(arguments);
    loop {
        let (flag, value) = match items.next_item() {
            Err(ToolResult::Usage(message, code)) => return usage_error("free", &message, &LINE.help(), code),
            Err(answer) => return answer.into_exit_code("free"),
            Ok(None) => break,
            Ok(Some(Item::Operand(_))) => return usage_error("free", "unexpected operand", &LINE.help(), 1),
            Ok(Some(Item::Option(flag, value))) => {
                (flag, String::from_utf8_lossy(&value.unwrap_or_default()).into_owned())
            }
        };
        match flag {
            Flag::Bytes => shown.power = Some(0),
            Flag::Kibi | Flag::Kilo => (shown.power, shown.si) = (Some(1), shown.si || flag == Flag::Kilo),
            Flag::Mebi | Flag::Mega => (shown.power, shown.si) = (Some(2), shown.si || flag == Flag::Mega),
            Flag::Gibi | Flag::Giga => (shown.power, shown.si) = (Some(3), shown.si || flag == Flag::Giga),
            Flag::Tebi | Flag::Tera => (shown.power, shown.si) = (Some(4), shown.si || flag == Flag::Tera),
            Flag::Pebi | Flag::Peta => (shown.power, shown.si) = (Some(5), shown.si || flag == Flag::Peta),
            Flag::Human => shown.power = None,
            Flag::Si => shown.si = true,
            Flag::Wide => shown.wide = true,
            Flag::Total => shown.total = true,
            Flag::Lohi => shown.low_and_high = true,
            Flag::Seconds | Flag::Count => {
                if let Err(message) = times.set(flag, &value) {
                    print_error("free", &message);
                    return 1;
                }
            }
            Flag::Committed | Flag::Help | Flag::Version => {}
        }
    }
    times.show(shown)
}

impl Times {
    /// Sets the repetitions or the interval in seconds. The error is the message.
    fn set(&mut self, flag: Flag, value: &str) -> Result<(), String> {
        if flag == Flag::Count {
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

    /// Prints the memory use for each repetition.
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
