//! The host's end of a connection to a server in the sandbox.

use std::fmt;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};

use tidebox_core::lock::Mutex;

use crate::errno::Errno;
use crate::kernel::{Kernel, SharedKernel};
use crate::socket::Stream;

/// A connection to a port of the sandbox. Dropping it closes the connection; the server gets a reset if data was not read.
///
/// It must not be dropped while the kernel is locked.
pub struct HostStream {
    /// Weak, because a connection must not keep the sandbox alive.
    kernel: Weak<Mutex<Kernel>>,
    socket: u32,
}

/// Opens connections to the servers of a sandbox. It does not keep the sandbox alive.
#[derive(Clone)]
pub struct HostConnector {
    kernel: Weak<Mutex<Kernel>>,
}

impl fmt::Debug for HostConnector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostConnector").finish_non_exhaustive()
    }
}

impl HostConnector {
    /// Creates a connector for the sandbox of this kernel.
    #[must_use]
    pub fn new(kernel: &SharedKernel) -> Self {
        Self { kernel: Arc::downgrade(kernel) }
    }

    /// Connects to a program that listens at a port of the loopback.
    ///
    /// # Errors
    /// `CONNREFUSED` if none does, `AGAIN` if its queue is full, `NFILE` beyond the limit on sockets or pipes, `NETDOWN` if the
    /// sandbox has ended.
    pub fn connect(&self, port: u16) -> Result<HostStream, Errno> {
        let kernel = self.kernel.upgrade().ok_or(Errno::Netdown)?;
        let socket = kernel.lock().connect_host(port)?;
        Ok(HostStream { kernel: Weak::clone(&self.kernel), socket })
    }
}

/// The server has closed the connection without reading all data, or the sandbox has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionReset;

impl fmt::Debug for HostStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostStream").field("socket", &self.socket).finish_non_exhaustive()
    }
}

impl HostStream {
    /// Reads the available bytes and returns their number, 0 at the end of the data. Waits for the first.
    pub fn poll_read(&self, cx: &mut Context<'_>, into: &mut [u8]) -> Poll<Result<usize, ConnectionReset>> {
        let Some(kernel) = self.kernel.upgrade() else { return Poll::Ready(Err(ConnectionReset)) };
        let mut kernel = kernel.lock();
        let Stream::Pipe(number) = kernel.incoming(self.socket) else { return Poll::Ready(Ok(0)) };
        let Some(pipe) = kernel.pipes.get_mut(number) else { return Poll::Ready(Ok(0)) };
        let count = pipe.peek(0, into);
        if count > 0 {
            pipe.skip(count);
            kernel.wake_pipe(number);
            return Poll::Ready(Ok(count));
        }
        if into.is_empty() {
            return Poll::Ready(Ok(0));
        }
        if pipe.writers == 0 {
            return Poll::Ready(if pipe.take_reset() { Err(ConnectionReset) } else { Ok(0) });
        }
        pipe.add_host_waiter(cx.waker());
        Poll::Pending
    }

    /// Writes the bytes that fit and returns their number. Waits while the connection is full.
    pub fn poll_write(&self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize, ConnectionReset>> {
        let Some(kernel) = self.kernel.upgrade() else { return Poll::Ready(Err(ConnectionReset)) };
        let mut kernel = kernel.lock();
        let Stream::Pipe(number) = kernel.outgoing(self.socket) else { return Poll::Ready(Err(ConnectionReset)) };
        let Some(pipe) = kernel.pipes.get_mut(number).filter(|pipe| pipe.readers > 0) else {
            return Poll::Ready(Err(ConnectionReset));
        };
        let written = pipe.push(bytes);
        if written == 0 && !bytes.is_empty() {
            pipe.add_host_waiter(cx.waker());
            return Poll::Pending;
        }
        kernel.wake_pipe(number);
        Poll::Ready(Ok(written))
    }

    /// Ends the data to the server, which can still send.
    pub fn shut_down_write(&self) {
        if let Some(kernel) = self.kernel.upgrade() {
            kernel.lock().shut_down_host(self.socket);
        }
    }
}

impl Drop for HostStream {
    fn drop(&mut self) {
        if let Some(kernel) = self.kernel.upgrade() {
            kernel.lock().close_socket(self.socket);
        }
    }
}
