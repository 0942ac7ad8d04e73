//! Progress of an installation on standard error: one line that changes on a terminal, lines of text otherwise.

use std::io::{self, IsTerminal as _, Write};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::{ByteCount, PackProgress};

/// Interval of updates on a terminal.
const FRAME: Duration = Duration::from_millis(200);

/// Interval of lines about the same step without a terminal: a log stays short.
const LINE: Duration = Duration::from_secs(10);

/// Width of the bar, in characters.
const BAR: usize = 24;

/// An event: the step, and the size of a download.
type Event = (String, Option<ByteCount>);

/// Shows progress until it is dropped. A thread writes it, because compilation blocks the caller.
pub(crate) struct ProgressDisplay {
    events: Option<Sender<Event>>,
    writer: Option<JoinHandle<()>>,
}

impl ProgressDisplay {
    /// Starts the display. `name` is written before each step.
    pub(crate) fn start(name: &str) -> Self {
        let (events, received) = mpsc::channel();
        let (name, terminal) = (name.to_owned(), io::stderr().is_terminal());
        let writer = std::thread::spawn(move || {
            // Without standard error there is nowhere to report this.
            let _ = show(&received, &name, terminal, if terminal { FRAME } else { LINE }, &mut io::stderr());
        });
        Self { events: Some(events), writer: Some(writer) }
    }

    /// Shows an event.
    pub(crate) fn report(&self, event: PackProgress<'_>) {
        if let Some(events) = &self.events {
            let _ = events.send((event.step.to_owned(), event.bytes));
        }
    }
}

impl Drop for ProgressDisplay {
    fn drop(&mut self) {
        self.events = None;
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
    }
}

fn show(
    events: &Receiver<Event>,
    name: &str,
    terminal: bool,
    interval: Duration,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (mut step, mut bytes, mut started, mut written) = (String::new(), None, Instant::now(), Instant::now());
    loop {
        match events.recv_timeout(interval) {
            Ok((next, size)) => {
                let begins = next != step;
                if begins && terminal && !step.is_empty() {
                    writeln!(out, "\r\x1b[K{name}: {step} ({} s)", started.elapsed().as_secs())?;
                }
                if begins {
                    (step, started) = (next, Instant::now());
                }
                bytes = size;
                if begins && !terminal {
                    writeln!(out, "{name}: {step}{}", total(bytes))?;
                    written = Instant::now();
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if step.is_empty() || written.elapsed() < interval {
            continue;
        }
        written = Instant::now();
        let seconds = started.elapsed().as_secs();
        if terminal {
            write!(out, "\r\x1b[K{name}: {step} {}", bar(bytes, seconds))?;
            out.flush()?;
        } else {
            writeln!(out, "{name}: {step}: {}", amount(bytes, seconds))?;
        }
    }
    if terminal { write!(out, "\r\x1b[K") } else { Ok(()) }
}

/// Returns the size of a download that starts.
fn total(bytes: Option<ByteCount>) -> String {
    match bytes {
        Some(ByteCount { total: Some(total), .. }) => format!(" ({:.1} MB)", megabytes(total)),
        _ => String::new(),
    }
}

fn amount(bytes: Option<ByteCount>, seconds: u64) -> String {
    match bytes {
        Some(ByteCount { done, total: Some(total) }) => {
            format!("{:.1} of {:.1} MB", megabytes(done), megabytes(total))
        }
        Some(ByteCount { done, total: None }) => format!("{:.1} MB", megabytes(done)),
        None => format!("{seconds} s"),
    }
}

/// Returns a bar for a download of known size, otherwise the amount or the time.
fn bar(bytes: Option<ByteCount>, seconds: u64) -> String {
    let amount = amount(bytes, seconds);
    let Some(ByteCount { done, total: Some(total @ 1..) }) = bytes else { return amount };
    let share = done.min(total).saturating_mul(100) / total;
    let filled = BAR * usize::try_from(share).unwrap_or(100) / 100;
    format!("[{}{}] {share:3} % {amount}", "=".repeat(filled), " ".repeat(BAR - filled))
}

fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    fn render(terminal: bool, interval: Duration, send: impl FnOnce(&Sender<Event>) + Send + 'static) -> String {
        let (events, received) = mpsc::channel();
        let sender = std::thread::spawn(move || send(&events));
        let mut out = Vec::new();
        show(&received, "python", terminal, interval, &mut out).expect("a vector can be written");
        sender.join().expect("the events are sent");
        String::from_utf8(out).expect("it is UTF-8")
    }

    fn download(done: u64) -> Event {
        ("downloading a.whl".to_owned(), Some(ByteCount { done, total: Some(98_300_000) }))
    }

    #[test]
    fn a_log_has_a_line_per_step() {
        let text = render(false, Duration::from_secs(60), |events| {
            for event in [download(0), download(50_000_000), ("unpacking".to_owned(), None)] {
                events.send(event).expect("received");
            }
        });
        assert_eq!(text, "python: downloading a.whl (98.3 MB)\npython: unpacking\n");
    }

    #[test]
    fn a_log_reports_that_a_long_step_continues() {
        let text = render(false, Duration::from_millis(20), |events| {
            events.send(("compiling".to_owned(), None)).expect("received");
            std::thread::sleep(Duration::from_millis(200));
        });
        assert!(text.starts_with("python: compiling\npython: compiling: 0 s\n"), "{text}");
    }

    #[test]
    fn a_terminal_shows_a_bar_and_the_finished_steps() {
        let text = render(true, Duration::ZERO, |events| {
            for event in [download(49_150_000), ("unpacking".to_owned(), None)] {
                events.send(event).expect("received");
                std::thread::sleep(Duration::from_millis(50));
            }
        });
        assert!(text.contains("python: downloading a.whl [============            ]  50 % 49.1 of 98.3 MB"), "{text}");
        assert!(text.contains("\r\x1b[Kpython: downloading a.whl (0 s)\n") && text.ends_with("\r\x1b[K"), "{text}");
    }
}
