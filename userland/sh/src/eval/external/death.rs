//! What is said of programs that a signal ended.

use tidebox_rt::Status;

use crate::expand::lossy;
use crate::ir::Bytes;
use crate::state::Shell;
use crate::trap::signal_name;

impl Shell {
    /// What bash says about a process that a signal ended.
    pub(in crate::eval) fn report_death(&mut self, pid: u32, status: Status, text: impl FnOnce() -> Bytes) {
        let Status::Killed(signal) = status else { return };
        if self.substitutes {
            return;
        }
        let what = death_text(signal);
        match signal {
            // SIGINT and SIGPIPE are how programs are meant to end.
            2 | 13 => {}
            _ if self.traps.get(signal).is_some() => {
                // Where standard error is closed there is nobody to tell.
                let _ = self.io.write(2, format!("{what}\n").as_bytes());
            }
            15 => {
                // Where standard error is closed there is nobody to tell.
                let _ = self.io.write(2, b"Terminated\n");
            }
            _ => {
                let text = text();
                self.complain(format!("{pid:5} {what:<23} {}", lossy(&text)));
            }
        }
    }
}

/// What bash prints for a signal that ended a program.
pub(crate) fn death_text(signal: u8) -> String {
    let text = match signal {
        1 => "Hangup",
        2 => "Interrupt",
        3 => "Quit",
        13 => "Broken pipe",
        4 => "Illegal instruction",
        5 => "Trace/breakpoint trap",
        6 => "Aborted",
        7 => "Bus error",
        8 => "Floating point exception",
        9 => "Killed",
        10 => "User defined signal 1",
        11 => "Segmentation fault",
        12 => "User defined signal 2",
        14 => "Alarm clock",
        15 => "Terminated",
        16 => "Stack fault",
        24 => "CPU time limit exceeded",
        25 => "File size limit exceeded",
        26 => "Virtual timer expired",
        27 => "Profiling timer expired",
        29 => "I/O possible",
        30 => "Power failure",
        31 => "Bad system call",
        34..=64 => return format!("Real-time signal {}", signal - 34),
        _ => return signal_name(signal).map_or_else(|| format!("Signal {signal}"), |name| format!("SIG{name}")),
    };
    text.to_owned()
}
