//! `top` in batch mode: one snapshot of the running processes.

use tidebox_gnu::getopt::{Item, Parser, Spec};
use tidebox_gnu::message::print_error;
use tidebox_gnu::user::{Kind, Names};

use crate::print;
use crate::process::{Memory, Process};
use crate::uptime;

const HELP: &str = "Usage:\n top -b [-n NUMBER] [-d SECONDS]\nShows what runs. There is no terminal, so that only the batch mode (-b) works.\n";

/// Runs `top`.
pub fn main(arguments: Vec<Vec<u8>>) -> i32 {
    let (mut batch, mut times, mut pause) = (false, u64::MAX, 3.0);
    let mut parser = Parser::new(Spec { short: "bcd:hiHn:o:p:sSu:vVw::1", long: &[], permute: true }, arguments);
    loop {
        let (key, value) = match parser.next_item() {
            Err(message) => {
                print_error("top", &message);
                return 1;
            }
            Ok(None) => break,
            Ok(Some(Item::Operand(_))) => continue,
            Ok(Some(Item::Option(key, value))) => {
                (key, String::from_utf8_lossy(&value.unwrap_or_default()).into_owned())
            }
        };
        match key {
            'b' => batch = true,
            'n' => match value.trim().parse::<u64>() {
                Ok(count) if count > 0 => times = count,
                _ => {
                    print_error("top", &format!("bad iterations arg '{value}'"));
                    return 1;
                }
            },
            'd' => match value.trim().parse::<f64>() {
                Ok(seconds) if (0.0..1e9).contains(&seconds) => pause = seconds,
                _ => {
                    print_error("top", &format!("bad delay interval '{value}'"));
                    return 1;
                }
            },
            'h' => return print("top", HELP, 0),
            'v' | 'V' => return print("top", "top from procps-ng 4.0.2\n", 0),
            'o' | 'p' | 'u' => {
                print_error("top", &format!("the option -{key} is not supported"));
                return 1;
            }
            _ => {}
        }
    }
    if !batch {
        print_error("top", "failed tty get");
        return 1;
    }
    for time in 0..times {
        if time > 0 {
            std::thread::sleep(std::time::Duration::from_secs_f64(pause));
        }
        let gap = if time > 0 { "\n" } else { "" };
        let code = print("top", &(gap.to_owned() + &picture()), 0);
        if code != 0 {
            return code;
        }
    }
    0
}

fn picture() -> String {
    let (processes, memory) = (Process::all(), Memory::now());
    let count = |states: &str| processes.iter().filter(|process| states.contains(process.state)).count();
    let mib = |kib: u64| kib as f64 / 1024.0;
    let used = memory.total.saturating_sub(memory.available);
    let cached = memory.buffers + memory.cache;
    let mut out = format!("top -{}\n", uptime::line());
    out.push_str(&format!(
        "Tasks: {:>3} total, {:>3} running, {:>3} sleeping, {:>3} stopped, {:>3} zombie\n",
        processes.len(),
        count("R"),
        count("SDI"),
        count("Tt"),
        count("Z")
    ));
    out.push_str("%Cpu(s):  0.0 us,  0.0 sy,  0.0 ni,100.0 id,  0.0 wa,  0.0 hi,  0.0 si,  0.0 st \n");
    out.push_str(&format!(
        "MiB Mem : {:>8.1} total, {:>8.1} free, {:>8.1} used, {:>8.1} buff/cache     \n",
        mib(memory.total),
        mib(memory.free),
        mib(used),
        mib(cached)
    ));
    out.push_str(&format!(
        "MiB Swap: {:>8.1} total, {:>8.1} free, {:>8.1} used. {:>8.1} avail Mem \n\n",
        mib(memory.swap_total),
        mib(memory.swap_free),
        mib(memory.swap_total.saturating_sub(memory.swap_free)),
        mib(memory.available)
    ));
    out.push_str("    PID USER      PR  NI    VIRT    RES    SHR S  %CPU  %MEM     TIME+ COMMAND\n");
    let users = Names::load(Kind::User);
    for process in &processes {
        let share = 100.0 * (process.resident / 1024) as f64 / memory.total.max(1) as f64;
        let (minutes, rest) = (process.used / 6000, process.used % 6000);
        out.push_str(&format!(
            "{:>7} {:<8.8} {:>3} {:>3} {:>7} {:>6} {:>6} {} {:>5.1} {:>5.1} {:>3}:{:02}.{:02} {}\n",
            process.pid,
            users.name_or_id(process.user),
            process.priority,
            process.nice,
            process.memory / 1024,
            process.resident / 1024,
            0,
            process.state,
            0.0,
            share,
            minutes,
            rest / 100,
            rest % 100,
            process.name
        ));
    }
    out
}
