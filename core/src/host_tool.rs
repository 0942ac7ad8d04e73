//! Commands of the sandbox that the application answers itself.

use std::fmt;
use std::future::poll_fn;
use std::task::{Context, Poll};

use crate::backend::BoxFuture;
use crate::path::SandboxPath;
use crate::provider::SandboxId;

/// Bytes that one read of [`HostInput::read_to_end`] asks for.
const READ_BYTES: usize = 64 << 10;

/// A command that runs in the application instead of in the sandbox, with the application's authority.
///
/// The sandbox sees a command like any other: arguments, standard streams, an exit code. What the tool knows (a token, a
/// connection, a database) stays outside. Every `Fn(HostCall) -> impl Future<Output = u8>` is a host tool.
///
/// What arrives in a [`HostCall`] was chosen by a guest and is as hostile as any guest input. The future is dropped when
/// the command is killed or its time is up.
pub trait HostTool: Send + Sync {
    /// Answers one call. The number is the command's exit code.
    fn call(&self, call: HostCall) -> BoxFuture<'static, u8>;
}

impl<F, Answer> HostTool for F
where
    F: Fn(HostCall) -> Answer + Send + Sync,
    Answer: Future<Output = u8> + Send + 'static,
{
    fn call(&self, call: HostCall) -> BoxFuture<'static, u8> {
        Box::pin(self(call))
    }
}

/// One call of a host tool: what a process is given when it starts.
#[derive(Debug)]
#[non_exhaustive]
pub struct HostCall {
    /// The sandbox that calls.
    pub sandbox: SandboxId,
    /// The arguments. The first is the name that the tool was called by.
    pub arguments: Vec<Vec<u8>>,
    /// The environment, each `NAME=value`.
    pub environment: Vec<Vec<u8>>,
    /// The working directory.
    pub cwd: SandboxPath,
    /// Standard input.
    pub stdin: HostInput,
    /// Standard output.
    pub stdout: HostOutput,
    /// Standard error.
    pub stderr: HostOutput,
}

impl HostCall {
    /// A call with these parts, for whoever implements an engine or tests a tool by itself.
    pub fn new(sandbox: SandboxId, cwd: SandboxPath, stdin: HostInput, stdout: HostOutput, stderr: HostOutput) -> Self {
        Self { sandbox, arguments: Vec::new(), environment: Vec::new(), cwd, stdin, stdout, stderr }
    }
}

/// Where the bytes of a [`HostInput`] come from.
pub trait ByteSource: Send {
    /// Takes up to `most` bytes. None at all means the end.
    fn poll_read(&mut self, cx: &mut Context<'_>, most: usize) -> Poll<Vec<u8>>;
}

/// Where the bytes of a [`HostOutput`] go to.
pub trait ByteSink: Send {
    /// Takes some of `bytes`, at least one, and answers how many.
    fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize, Disconnected>>;
}

/// Nobody reads what is written any more. A guest would get SIGPIPE; a host tool usually ends with exit code 141.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Disconnected;

impl fmt::Display for Disconnected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("nobody reads this stream any more; end the call")
    }
}

impl std::error::Error for Disconnected {}

/// A stream to read from.
pub struct HostInput(Box<dyn ByteSource>);

impl fmt::Debug for HostInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostInput").finish_non_exhaustive()
    }
}

impl HostInput {
    /// A stream of what `source` gives.
    pub fn new(source: impl ByteSource + 'static) -> Self {
        Self(Box::new(source))
    }

    /// Waits for bytes and returns up to `most` of them; none at all at the end.
    pub async fn read(&mut self, most: usize) -> Vec<u8> {
        poll_fn(|cx| self.0.poll_read(cx, most)).await
    }

    /// Reads to the end, or `None` as soon as there are more than `most` bytes: a guest may send without end.
    pub async fn read_to_end(&mut self, most: usize) -> Option<Vec<u8>> {
        let mut all = Vec::new();
        loop {
            let bytes = self.read(READ_BYTES).await;
            if bytes.is_empty() {
                return Some(all);
            }
            if bytes.len() > most.saturating_sub(all.len()) {
                return None;
            }
            all.extend_from_slice(&bytes);
        }
    }
}

/// A stream to write to.
pub struct HostOutput(Box<dyn ByteSink>);

impl fmt::Debug for HostOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostOutput").finish_non_exhaustive()
    }
}

impl HostOutput {
    /// A stream that ends in `sink`.
    pub fn new(sink: impl ByteSink + 'static) -> Self {
        Self(Box::new(sink))
    }

    /// Writes all of `bytes`, waiting while the reader is slow.
    ///
    /// # Errors
    /// [`Disconnected`] when nobody reads any more.
    pub async fn write(&mut self, bytes: impl AsRef<[u8]> + Send) -> Result<(), Disconnected> {
        let mut rest = bytes.as_ref();
        while !rest.is_empty() {
            let written = poll_fn(|cx| self.0.poll_write(cx, rest)).await?;
            rest = rest.get(written.max(1)..).unwrap_or_default();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::task::Waker;

    struct Slow(Vec<u8>);

    impl ByteSource for Slow {
        fn poll_read(&mut self, _: &mut Context<'_>, most: usize) -> Poll<Vec<u8>> {
            let n = most.min(3).min(self.0.len());
            Poll::Ready(self.0.drain(..n).collect())
        }
    }

    fn now<T>(future: impl Future<Output = T>) -> T {
        let mut future = Box::pin(future);
        match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(value) => value,
            Poll::Pending => panic!("nothing here waits"),
        }
    }

    #[test]
    fn reading_to_the_end_stops_at_the_bound() {
        let input = || HostInput::new(Slow(b"12345678".to_vec()));
        assert_eq!(now(input().read_to_end(8)), Some(b"12345678".to_vec()));
        assert_eq!(now(input().read_to_end(7)), None);
    }

    #[test]
    fn writing_goes_on_until_all_is_taken_or_nobody_reads() {
        struct Narrow(std::sync::Arc<std::sync::Mutex<Vec<u8>>>);
        impl ByteSink for Narrow {
            fn poll_write(&mut self, _: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize, Disconnected>> {
                let mut seen = self.0.lock().expect("one thread");
                if seen.len() >= 6 {
                    return Poll::Ready(Err(Disconnected));
                }
                let n = bytes.len().min(2);
                seen.extend_from_slice(&bytes[..n]);
                Poll::Ready(Ok(n))
            }
        }
        let seen = std::sync::Arc::default();
        let mut output = HostOutput::new(Narrow(std::sync::Arc::clone(&seen)));
        assert_eq!(now(output.write("abcde")), Ok(()));
        assert_eq!(now(output.write("fgh")), Err(Disconnected));
        assert_eq!(*seen.lock().expect("one thread"), b"abcdefg"[..].to_vec());
    }
}
