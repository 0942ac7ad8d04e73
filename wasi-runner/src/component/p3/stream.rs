//! Streams of bytes between a component and a descriptor, and of the names in a directory.

use std::pin::Pin;
use std::task::{Context, Poll};

use tidebox_kernel::Errno;
use tidebox_kernel::wasi::Halt;
use tokio::sync::oneshot;
use wasmtime::StoreContextMut;
use wasmtime::component::{
    Destination, FutureReader, Source as Offered, StreamConsumer, StreamProducer, StreamResult, VecBuffer,
};
use wasmtime_wasi::p3::bindings::filesystem::types::{DirectoryEntry, ErrorCode};
use wasmtime_wasi_io::bytes::BytesMut;

use super::super::descriptor::Listing;
use super::super::failure;
use super::super::gate::Ticket;
use super::super::input::{MOST_READ, Source};
use super::super::output::Sink;
use super::kind;

/// How a stream ended, on its way to the future that tells so.
pub(super) struct Verdict<E> {
    code: fn(Errno) -> E,
    teller: Option<oneshot::Sender<Result<(), E>>>,
}

impl<E: Send + Sync + 'static> Verdict<E> {
    /// A verdict in the words of one interface, and what is told it.
    pub(super) fn new(code: fn(Errno) -> E) -> (Self, oneshot::Receiver<Result<(), E>>) {
        let (teller, told) = oneshot::channel();
        (Self { code, teller: Some(teller) }, told)
    }

    pub(super) fn tell(&mut self, result: Result<(), Errno>) {
        if let Some(teller) = self.teller.take() {
            // A component that dropped the future does not want to know.
            let _ = teller.send(result.map_err(self.code));
        }
    }
}

/// What comes of a halted transfer: it waits, was cancelled, has failed, or ends the process.
fn halted<E: Send + Sync + 'static>(
    halt: Halt,
    verdict: &mut Verdict<E>,
    ticket: &Ticket,
    cx: &mut Context<'_>,
    finish: bool,
) -> Poll<wasmtime::Result<StreamResult>> {
    match halt {
        Halt::Block(_) if finish => {
            ticket.rest();
            Poll::Ready(Ok(StreamResult::Cancelled))
        }
        Halt::Block(until) => {
            ticket.wait(until, cx.waker());
            Poll::Pending
        }
        Halt::Errno(errno) => {
            verdict.tell(Err(errno));
            Poll::Ready(Ok(StreamResult::Dropped))
        }
        Halt::Kill(_) => Poll::Ready(Err(failure::trap(halt))),
    }
}

/// What a descriptor reads, as a stream.
pub(super) struct Reading<E> {
    source: Source,
    ticket: Ticket,
    verdict: Verdict<E>,
}

impl<E: Send + Sync + 'static> Reading<E> {
    pub(super) fn new(source: Source, verdict: Verdict<E>) -> Self {
        let ticket = Ticket::new(&source.handle.waits);
        Self { source, ticket, verdict }
    }
}

impl<D, E: Send + Sync + 'static> StreamProducer<D> for Reading<E> {
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
        if !finish && me.source.handle.turn_is_over() {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let mut destination = destination.as_direct(store, MOST_READ);
        let buffer = destination.remaining();
        // Nothing asked for is the question whether there is something.
        let asked =
            if buffer.is_empty() { me.source.readable().map(|_| None) } else { me.source.read(buffer).map(Some) };
        let answer = match asked {
            Ok(None) => StreamResult::Completed,
            Ok(Some(0)) => {
                me.verdict.tell(Ok(()));
                StreamResult::Dropped
            }
            Ok(Some(n)) => {
                destination.mark_written(n);
                StreamResult::Completed
            }
            Err(halt) => return halted(halt, &mut me.verdict, &me.ticket, cx, finish),
        };
        me.ticket.rest();
        Poll::Ready(Ok(answer))
    }
}

/// A stream that is written to a descriptor.
pub(super) struct Writing<E: Send + Sync + 'static> {
    sink: Sink,
    ticket: Ticket,
    verdict: Verdict<E>,
}

impl<E: Send + Sync + 'static> Writing<E> {
    pub(super) fn new(sink: Sink, verdict: Verdict<E>) -> Self {
        let ticket = Ticket::new(&sink.handle.waits);
        Self { sink, ticket, verdict }
    }
}

impl<D, E: Send + Sync + 'static> StreamConsumer<D> for Writing<E> {
    type Item = u8;

    fn poll_consume(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        store: StoreContextMut<'_, D>,
        offered: Offered<'_, u8>,
        finish: bool,
    ) -> Poll<wasmtime::Result<StreamResult>> {
        let me = &mut *self;
        if !finish && me.sink.handle.turn_is_over() {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let mut offered = offered.as_direct(store);
        let bytes = offered.remaining();
        // Nothing offered is the question whether there is room.
        let taken = if bytes.is_empty() { me.sink.writable().map(|_| 0) } else { me.sink.write(bytes) };
        match taken {
            Ok(n) => {
                offered.mark_read(n);
                me.ticket.rest();
                Poll::Ready(Ok(StreamResult::Completed))
            }
            Err(halt) => halted(halt, &mut me.verdict, &me.ticket, cx, finish),
        }
    }
}

/// The component has nothing more to write.
impl<E: Send + Sync + 'static> Drop for Writing<E> {
    fn drop(&mut self) {
        self.verdict.tell(Ok(()));
    }
}

/// The component does not want to read on.
impl<E> Drop for Verdict<E> {
    fn drop(&mut self) {
        if let Some(teller) = self.teller.take() {
            let _ = teller.send(Ok(()));
        }
    }
}

/// The names in a directory, as a stream.
pub(super) struct Names {
    listing: Listing,
    verdict: Verdict<ErrorCode>,
}

/// Names that are handed over at a time when the component does not say how many it takes.
const NAMES: usize = 64;

impl Names {
    pub(super) fn new(listing: Listing, verdict: Verdict<ErrorCode>) -> Self {
        Self { listing, verdict }
    }

    /// The next name. One that is not UTF-8 ends the stream with an error.
    fn next(&mut self) -> Result<Option<DirectoryEntry>, Halt> {
        let Some(entry) = self.listing.next()? else { return Ok(None) };
        let name = String::from_utf8(entry.name).map_err(|_| Errno::Ilseq)?;
        Ok(Some(DirectoryEntry { type_: kind(entry.filetype), name }))
    }
}

impl<D> StreamProducer<D> for Names {
    type Item = DirectoryEntry;
    type Buffer = VecBuffer<DirectoryEntry>;

    fn poll_produce<'a>(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        store: StoreContextMut<'a, D>,
        mut destination: Destination<'a, DirectoryEntry, VecBuffer<DirectoryEntry>>,
        _: bool,
    ) -> Poll<wasmtime::Result<StreamResult>> {
        let most = destination.remaining(store).unwrap_or(NAMES).min(NAMES);
        let mut names = Vec::new();
        let mut result = StreamResult::Completed;
        while names.len() < most {
            match self.next() {
                Ok(Some(entry)) => names.push(entry),
                Ok(None) => {
                    self.verdict.tell(Ok(()));
                    result = StreamResult::Dropped;
                    break;
                }
                Err(Halt::Kill(signal)) => return Poll::Ready(Err(failure::trap(Halt::Kill(signal)))),
                Err(Halt::Errno(errno)) => {
                    self.verdict.tell(Err(errno));
                    result = StreamResult::Dropped;
                    break;
                }
                Err(Halt::Block(_)) => break,
            }
        }
        destination.set_buffer(names.into());
        Poll::Ready(Ok(result))
    }
}

/// The future of a verdict.
pub(super) fn future<E>(
    store: impl wasmtime::AsContextMut,
    told: oneshot::Receiver<Result<(), E>>,
) -> wasmtime::Result<FutureReader<Result<(), E>>>
where
    Result<(), E>: wasmtime::component::Lower + wasmtime::component::Lift + Send + Sync + 'static,
    E: Send + 'static,
{
    FutureReader::new(store, async move {
        // A verdict is told at the latest when it is dropped.
        wasmtime::error::Ok(told.await.unwrap_or(Ok(())))
    })
}
