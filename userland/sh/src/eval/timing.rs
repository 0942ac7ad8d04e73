//! The `time` keyword.

use tidebox_rt as rt;

use crate::expand::lossy;
use crate::ir::{Bytes, Command, Pipeline, TimeFormat};
use crate::state::{EvalResult, Shell, Unwind};

impl Shell {
    /// Runs a pipeline and reports its duration and its processor time. All of it counts as user time.
    #[inline(never)]
    pub(crate) fn run_timed(&mut self, pipeline: &Pipeline, format: TimeFormat) -> EvalResult {
        let (started, cpu_started) = (rt::monotonic_ns(), rt::cpu_times().total());
        let errexit = pipeline.bang && self.options.errexit;
        let result = if errexit {
            self.as_condition(|shell| shell.run_timed_stages(&pipeline.stages))
        } else {
            self.run_timed_stages(&pipeline.stages)
        };
        if pipeline.bang && matches!(result, Ok(()) | Err(Unwind::Break(_) | Unwind::Continue(_))) {
            self.status = u8::from(self.status == 0);
        }
        let times = Times {
            real: rt::monotonic_ns().saturating_sub(started) / 1_000_000,
            user: rt::cpu_times().total().saturating_sub(cpu_started) / 1_000_000,
        };
        let format = match format {
            TimeFormat::Posix => b"real %2R\nuser %2U\nsys %2S".to_vec(),
            TimeFormat::Bash if self.options.posix => b"real %2R\nuser %2U\nsys %2S".to_vec(),
            TimeFormat::Bash => {
                let own = self.lookup(b"TIMEFORMAT");
                own.unwrap_or_else(|| b"\nreal\t%3lR\nuser\t%3lU\nsys\t%3lS".to_vec())
            }
        };
        if !format.is_empty()
            && let Some(text) = self.time_text(&format, times)
        {
            // A closed standard error is ignored.
            let _ = self.io.write(2, &text);
        }
        result
    }

    /// The report in the format of `TIMEFORMAT`; `None` after an error message.
    fn time_text(&mut self, format: &[u8], times: Times) -> Option<Bytes> {
        let mut out = Bytes::new();
        let mut rest = format;
        while let Some((&byte, after)) = rest.split_first() {
            rest = after;
            if byte != b'%' {
                out.push(byte);
                continue;
            }
            let digits = rest.first().filter(|b| b.is_ascii_digit()).map(|b| usize::from(b - b'0').min(3));
            rest = rest.get(usize::from(digits.is_some())..).unwrap_or_default();
            let long = rest.first() == Some(&b'l');
            rest = rest.get(usize::from(long)..).unwrap_or_default();
            let letter = rest.first().copied();
            rest = rest.get(1..).unwrap_or_default();
            let shown = match letter {
                Some(b'%') => "%".to_owned(),
                Some(b'R') => duration(times.real, digits.unwrap_or(3), long),
                Some(b'U') => duration(times.user, digits.unwrap_or(3), long),
                Some(b'S') => duration(0, digits.unwrap_or(3), long),
                Some(b'P') => {
                    let hundredths = times.user.saturating_mul(10_000) / times.real.max(1);
                    format!("{}.{:02}", hundredths / 100, hundredths % 100)
                }
                other => {
                    let letter = other.unwrap_or(0);
                    self.report_error(format!("TIMEFORMAT: `{}': invalid format character", lossy(&[letter])));
                    return None;
                }
            };
            out.extend_from_slice(shown.as_bytes());
        }
        out.push(b'\n');
        Some(out)
    }

    fn run_timed_stages(&mut self, stages: &[Command]) -> EvalResult {
        match stages {
            [] => Ok(()),
            [only] => self.run_command(only),
            stages => self.run_multi(stages),
        }
    }
}

/// Milliseconds of a pipeline.
#[derive(Clone, Copy)]
struct Times {
    real: u64,
    user: u64,
}

/// Seconds with this many decimals, or minutes and seconds.
fn duration(millis: u64, digits: usize, long: bool) -> String {
    let (seconds, fraction) = (millis / 1000, format!("{:03}", millis % 1000));
    let fraction = match digits {
        0 => String::new(),
        _ => format!(".{}", fraction.get(..digits).unwrap_or(&fraction)),
    };
    if long { format!("{}m{}{fraction}s", seconds / 60, seconds % 60) } else { format!("{seconds}{fraction}") }
}
