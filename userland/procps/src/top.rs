//! `top` in batch mode: one snapshot of the running processes.

use tidebox_gnu::exit::{IntoExitCode, ToolResult};
use tidebox_gnu::message::print_error;
use tidebox_gnu::options::Syntax;
use tidebox_gnu::user::{Kind, Names};

use crate::print;
use crate::process::{Memory, Process};
use crate::uptime;

const USAGE: &str = "Usage:
 top -b [-n NUMBER] [-d SECONDS]
Shows the running processes. Only the batch mode (-b) works, because there is no terminal.
";

tidebox_gnu::options! {
    /// Options of `top`.
    enum Flag {
        Batch = "-b", "";
        Number = "-n NUMBER", "";
        Delay = "-d SECONDS", "";
        // Apply to the interactive mode or to values that are always zero.
        Ignored = "-c, -i, -H, -s, -S, -1, -w[COLUMNS]", "";
        Field = "-o FIELD", "", unsupported "the option -o is not supported";
        Processes = "-p LIST", "", unsupported "the option -p is not supported";
        User = "-u USER", "", unsupported "the option -u is not supported";
        Help = "-h, --help", "";
        Version = "-v, -V, --version", "";
    }
}

const SYNTAX: Syntax<'_, Flag> = Syntax { version: "top from procps-ng 4.0.2\n", ..Syntax::new("top", USAGE, 24) };

/// Runs `top`.
pub fn main(arguments: Vec<Vec<u8>>) -> i32 {
    let (mut batch, mut times, mut pause) = (false, u64::MAX, 3.0);
    let result = SYNTAX.parse::<ToolResult>(arguments, |flag, value| {
        let value = String::from_utf8_lossy(&value);
        match flag {
            Flag::Batch => batch = true,
            Flag::Number => {
                let count = value.trim().parse::<u64>().ok().filter(|count| *count > 0);
                times = count.ok_or_else(|| ToolResult::Failure(format!("bad iterations arg '{value}'"), 1))?;
            }
            Flag::Delay => {
                let seconds = value.trim().parse::<f64>().ok().filter(|seconds| (0.0..1e9).contains(seconds));
                pause = seconds.ok_or_else(|| ToolResult::Failure(format!("bad delay interval '{value}'"), 1))?;
            }
            _ => {}
        }
        Ok(())
    });
    match result {
        Ok(_) => {}
        // `top` prints no hint at --help.
        Err(ToolResult::Usage(message, code)) => return ToolResult::Failure(message, code).into_exit_code("top"),
        Err(result) => return result.into_exit_code("top"),
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
        let code = print("top", &(gap.to_owned() + &snapshot()), 0);
        if code != 0 {
            return code;
        }
    }
    0
}

fn snapshot() -> String {
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
