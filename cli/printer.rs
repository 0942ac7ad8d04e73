//! Prints the output of a command as it arrives, without blocking the command.

use std::io::{self, Write};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

use crate::{OutputChunk, OutputStream};
use anyhow::{Context, Result};
use tokio::sync::oneshot;

/// Thread that writes to stdout and stderr. A slow reader blocks this thread and not the sandbox, whose deadline continues. The
/// buffered data is bounded by the output limit.
#[derive(Debug)]
pub(crate) struct Printer {
    chunks: mpsc::Sender<OutputChunk>,
    thread: JoinHandle<io::Result<()>>,
}

/// Resolves when the output was closed by its reader.
pub(crate) type OutputClosed = oneshot::Receiver<()>;

impl Printer {
    pub(crate) fn start() -> Result<(Self, OutputClosed)> {
        let (chunks, receiver) = mpsc::channel();
        let (on_closed, closed) = oneshot::channel();
        let thread = thread::Builder::new()
            .name("printer".to_owned())
            .spawn(move || print_all(&receiver, on_closed))
            .context("cannot start the printer thread")?;
        Ok((Self { chunks, thread }, closed))
    }

    /// Queues a chunk for printing.
    pub(crate) fn print(&self, chunk: OutputChunk) {
        // The thread ends early only after a print error, which `finish` returns.
        let _ = self.chunks.send(chunk);
    }

    /// Waits until everything is printed.
    pub(crate) fn finish(self) -> io::Result<()> {
        drop(self.chunks);
        self.thread.join().unwrap_or_else(|_| Err(io::Error::other("the printer thread panicked")))
    }
}

fn print_all(receiver: &mpsc::Receiver<OutputChunk>, on_closed: oneshot::Sender<()>) -> io::Result<()> {
    while let Ok(chunk) = receiver.recv() {
        let printed = match chunk.stream {
            OutputStream::Stdout => print(io::stdout().lock(), &chunk.bytes),
            OutputStream::Stderr => print(io::stderr().lock(), &chunk.bytes),
        };
        if printed.is_err() {
            // The receiver may be dropped already; then `finish` reports the error.
            let _ = on_closed.send(());
            return printed;
        }
    }
    Ok(())
}

fn print(mut to: impl Write, bytes: &[u8]) -> io::Result<()> {
    to.write_all(bytes)?;
    to.flush()
}
