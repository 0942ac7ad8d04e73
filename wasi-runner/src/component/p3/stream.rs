//! Byte streams between a component and a descriptor, and streams of directory entries.

use std::pin::Pin;
use std::task::{Context, Poll};

use tidebox_kernel::{Errno, SyscallError};

use tokio::sync::oneshot;
use wasmtime::StoreContextMut;
use wasmtime::component::{
    Destination, FutureReader, Source as Offered, StreamConsumer, StreamProducer, StreamResult, VecBuffer,
};
use wasmtime_wasi::p3::bindings::filesystem::types::{DirectoryEntry, ErrorCode};
use wasmtime_wasi_io::bytes::BytesMut;

use super::super::descriptor::DirListing;
use super::super::errors;
use super::super::input::{MAX_READ, Source};
use super::super::output::Sink;
use super::super::wait_set::WaitRegistration;
use super::kind;

/// Sends the result of a stream to the future that reports it.
pub(super) struct ResultSender<E> {
    code: fn(Errno) -> E,
    sender: Option<oneshot::Sender<Result<(), E>>>,
}

impl<E: Send + Sync + 'static> ResultSender<E> {
    /// Creates a sender that converts an errno with `code`, and its receiver.
    pub(super) fn new(code: fn(Errno) -> E) -> (Self, oneshot::Receiver<Result<(), E>>) {
        let (channel, receiver) = oneshot::channel();
        (Self { code, sender: Some(channel) }, receiver)
    }

    pub(super) fn send(&mut self, result: Result<(), Errno>) {
        if let Some(channel) = self.sender.take() {
            // The component may have dropped the future; ignore the error.
            let _ = channel.send(result.map_err(self.code));
        }
    }
}

/// Handles an interrupted transfer: it blocks, was cancelled, failed, or the process exits.
fn handle_error<E: Send + Sync + 'static>(
    halt: SyscallError,
    result_sender: &mut ResultSender<E>,
    registration: &WaitRegistration,
    cx: &mut Context<'_>,
    finish: bool,
) -> Poll<wasmtime::Result<StreamResult>> {
    match halt {
        SyscallError::Block(_) if finish => {
            registration.clear();
            Poll::Ready(Ok(StreamResult::Cancelled))
        }
        SyscallError::Block(until) => {
            registration.wait(until, cx.waker());
            Poll::Pending
        }
        SyscallError::Errno(errno) => {
            result_sender.send(Err(errno));
            Poll::Ready(Ok(StreamResult::Dropped))
        }
        SyscallError::Kill(_) => Poll::Ready(Err(errors::trap(halt))),
    }
}

/// Stream of bytes read from a descriptor.
pub(super) struct DescriptorProducer<E> {
    source: Source,
    registration: WaitRegistration,
    result_sender: ResultSender<E>,
}

impl<E: Send + Sync + 'static> DescriptorProducer<E> {
    pub(super) fn new(source: Source, result_sender: ResultSender<E>) -> Self {
        let registration = WaitRegistration::new(&source.handle.waits);
        Self { source, registration, result_sender }
    }
}

impl<D, E: Send + Sync + 'static> StreamProducer<D> for DescriptorProducer<E> {
    type Item = u8;
    type Buffer = BytesMut;

    fn poll_produce<'a>(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        store: StoreContextMut<'a, D>,
        destination: Destination<'a, u8, BytesMut>,
        finish: bool,
    ) -> Poll<wasmtime::Result<StreamResult>> {
        let me = &mut *self;
        if !finish && me.source.handle.must_yield() {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let mut destination = destination.as_direct(store, MAX_READ);
        let buffer = destination.remaining();
        // A read of zero bytes checks whether data is available.
        let requested =
            if buffer.is_empty() { me.source.readable().map(|_| None) } else { me.source.read(buffer).map(Some) };
        let outcome = match requested {
            Ok(None) => StreamResult::Completed,
            Ok(Some(0)) => {
                me.result_sender.send(Ok(()));
                StreamResult::Dropped
            }
            Ok(Some(n)) => {
                destination.mark_written(n);
                StreamResult::Completed
            }
            Err(halt) => return handle_error(halt, &mut me.result_sender, &me.registration, cx, finish),
        };
        me.registration.clear();
        Poll::Ready(Ok(outcome))
    }
}

/// Stream of bytes written to a descriptor.
pub(super) struct DescriptorConsumer<E: Send + Sync + 'static> {
    sink: Sink,
    registration: WaitRegistration,
    result_sender: ResultSender<E>,
}

impl<E: Send + Sync + 'static> DescriptorConsumer<E> {
    pub(super) fn new(sink: Sink, result_sender: ResultSender<E>) -> Self {
        let registration = WaitRegistration::new(&sink.handle.waits);
        Self { sink, registration, result_sender }
    }
}

impl<D, E: Send + Sync + 'static> StreamConsumer<D> for DescriptorConsumer<E> {
    type Item = u8;

    fn poll_consume(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        store: StoreContextMut<'_, D>,
        offered: Offered<'_, u8>,
        finish: bool,
    ) -> Poll<wasmtime::Result<StreamResult>> {
        let me = &mut *self;
        if !finish && me.sink.handle.must_yield() {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let mut offered = offered.as_direct(store);
        let bytes = offered.remaining();
        // A write of zero bytes checks whether space is available.
        let taken = if bytes.is_empty() { me.sink.writable().map(|_| 0) } else { me.sink.write(bytes) };
        match taken {
            Ok(n) => {
                offered.mark_read(n);
                me.registration.clear();
                Poll::Ready(Ok(StreamResult::Completed))
            }
            Err(halt) => handle_error(halt, &mut me.result_sender, &me.registration, cx, finish),
        }
    }
}

/// Reports success when the component has finished writing.
impl<E: Send + Sync + 'static> Drop for DescriptorConsumer<E> {
    fn drop(&mut self) {
        self.result_sender.send(Ok(()));
    }
}

/// Reports success when the component stops reading.
impl<E> Drop for ResultSender<E> {
    fn drop(&mut self) {
        if let Some(channel) = self.sender.take() {
            let _ = channel.send(Ok(()));
        }
    }
}

/// Stream of directory entries.
pub(super) struct DirEntryProducer {
    listing: DirListing,
    result_sender: ResultSender<ErrorCode>,
}

/// Entries delivered at a time if the component does not specify a capacity.
const NAMES: usize = 64;

impl DirEntryProducer {
    pub(super) fn new(listing: DirListing, result_sender: ResultSender<ErrorCode>) -> Self {
        Self { listing, result_sender }
    }

    /// Returns the next entry. A name that is not UTF-8 ends the stream with an error.
    fn next(&mut self) -> Result<Option<DirectoryEntry>, SyscallError> {
        let Some(entry) = self.listing.next()? else { return Ok(None) };
        let name = String::from_utf8(entry.name).map_err(|_| Errno::Ilseq)?;
        Ok(Some(DirectoryEntry { type_: kind(entry.filetype), name }))
    }
}

impl<D> StreamProducer<D> for DirEntryProducer {
    type Item = DirectoryEntry;
    type Buffer = VecBuffer<DirectoryEntry>;

    fn poll_produce<'a>(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        store: StoreContextMut<'a, D>,
        mut destination: Destination<'a, DirectoryEntry, VecBuffer<DirectoryEntry>>,
        _: bool,
    ) -> Poll<wasmtime::Result<StreamResult>> {
        let max_bytes = destination.remaining(store).unwrap_or(NAMES).min(NAMES);
        let mut names = Vec::new();
        let mut result = StreamResult::Completed;
        while names.len() < max_bytes {
            match self.next() {
                Ok(Some(entry)) => names.push(entry),
                Ok(None) => {
                    self.result_sender.send(Ok(()));
                    result = StreamResult::Dropped;
                    break;
                }
                Err(SyscallError::Kill(signal)) => return Poll::Ready(Err(errors::trap(SyscallError::Kill(signal)))),
                Err(SyscallError::Errno(errno)) => {
                    self.result_sender.send(Err(errno));
                    result = StreamResult::Dropped;
                    break;
                }
                Err(SyscallError::Block(_)) => break,
            }
        }
        destination.set_buffer(names.into());
        Poll::Ready(Ok(result))
    }
}

/// The future of a stream's result.
pub(super) fn future<E>(
    store: impl wasmtime::AsContextMut,
    receiver: oneshot::Receiver<Result<(), E>>,
) -> wasmtime::Result<FutureReader<Result<(), E>>>
where
    Result<(), E>: wasmtime::component::Lower + wasmtime::component::Lift + Send + Sync + 'static,
    E: Send + 'static,
{
    FutureReader::new(store, async move {
        // The sender reports at the latest when it is dropped.
        wasmtime::error::Ok(receiver.await.unwrap_or(Ok(())))
    })
}
