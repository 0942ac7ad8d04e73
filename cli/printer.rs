//! Prints what a command writes, as it arrives, without ever keeping the command waiting.

use std::io::{self, Write};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

use anyhow::{Context, Result};
use tidebox::{OutputEvent, OutputStream};
use tokio::sync::oneshot;

/// A thread that writes to our stdout and stderr. A reader that is slow holds up the thread and not the sandbox, whose
/// deadline goes on; what waits meanwhile is bounded by the limit on output.
#[derive(Debug)]
pub(crate) struct Printer {
    events: mpsc::Sender<OutputEvent>,
    thread: JoinHandle<io::Result<()>>,
}

/// Resolves when nothing can be printed any more, because whoever reads our output has gone.
pub(crate) type Broken = oneshot::Receiver<()>;

impl Printer {
    pub(crate) fn start() -> Result<(Self, Broken)> {
        let (events, arriving) = mpsc::channel();
        let (breaks, broken) = oneshot::channel();
        let thread = thread::Builder::new()
            .name("printer".to_owned())
            .spawn(move || print_all(&arriving, breaks))
            .context("cannot start the thread that prints")?;
        Ok((Self { events, thread }, broken))
    }

    /// Prints this some time soon.
    pub(crate) fn print(&self, event: OutputEvent) {
        // The thread ends early only when printing failed, and then `finish` tells.
        let _ = self.events.send(event);
    }

    /// Waits until everything is printed.
    pub(crate) fn finish(self) -> io::Result<()> {
        drop(self.events);
        self.thread.join().unwrap_or_else(|_| Err(io::Error::other("the thread that prints has ended badly")))
    }
}

fn print_all(arriving: &mpsc::Receiver<OutputEvent>, breaks: oneshot::Sender<()>) -> io::Result<()> {
    while let Ok(event) = arriving.recv() {
        let printed = match event.stream {
            OutputStream::Stdout => print(io::stdout().lock(), &event.bytes),
            OutputStream::Stderr => print(io::stderr().lock(), &event.bytes),
        };
        if printed.is_err() {
            // Nobody may be waiting for the news any more; then `finish` is about to be called.
            let _ = breaks.send(());
            return printed;
        }
    }
    Ok(())
}

fn print(mut to: impl Write, bytes: &[u8]) -> io::Result<()> {
    to.write_all(bytes)?;
    to.flush()
}
