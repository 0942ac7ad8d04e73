//! Connections of the application to servers of a sandbox. JavaScript numbers them, and both sides send chunks.
//!
//! The number of chunks in transfer is limited in both directions: JavaScript requests each chunk that it reads, and this side
//! confirms each chunk that was written.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::ready;
use std::time::Duration;

use futures_util::future::{AbortHandle, Abortable, join};
use js_sys::{Array, Promise};
use tidebox_core::{Error, ErrorKind, Result};
use tidebox_js_values::promise;
use tidebox_kernel::{ConnectionReset, Errno, HostStream};
use tidebox_vfs_backend::{Tasks as _, VfsBackend};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen_futures::spawn_local;

use crate::inbox::{Mailboxes, next};
use crate::js_imports;
use crate::process::check_engine;
use crate::sandbox::Sandbox;
use crate::tasks::LocalTasks;

/// Maximum size of a chunk that JavaScript reads.
const CHUNK_BYTES: usize = 64 << 10;

/// Time between two attempts to connect, and between two looks for a server.
const RETRY_TIME: Duration = Duration::from_millis(10);

/// A connection: its sandbox, and its number in JavaScript.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct StreamId {
    sandbox: u32,
    stream: u32,
}

#[derive(Debug)]
enum Written {
    Chunk(Vec<u8>),
    /// The data to the server ends.
    End,
}

thread_local! {
    /// Numbers of chunks that JavaScript can receive.
    static PULLS: Mailboxes<StreamId, u32> = const { Mailboxes::new() };
    static WRITES: Mailboxes<StreamId, Written> = const { Mailboxes::new() };
    /// Connections, including those that are being made.
    static OPEN: RefCell<BTreeMap<StreamId, AbortHandle>> = const { RefCell::new(BTreeMap::new()) };
    /// One buffer for all connections, because an idle one must not hold any.
    static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// The queues of a connection, and its entry among the open ones, until it is dropped.
struct Registered(StreamId);

impl Registered {
    fn new(id: StreamId, handle: AbortHandle) -> Self {
        PULLS.with(|pulls| pulls.open(id));
        WRITES.with(|writes| writes.open(id));
        OPEN.with_borrow_mut(|open| open.insert(id, handle));
        Self(id)
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        PULLS.with(|pulls| pulls.close(self.0));
        WRITES.with(|writes| writes.close(self.0));
        let removed = OPEN.with_borrow_mut(|open| open.remove(&self.0));
        drop(removed);
    }
}

/// Closes the connections of a sandbox.
pub(crate) fn abort_all(sandbox: u32) {
    let handles: Vec<AbortHandle> = OPEN.with_borrow(|open| {
        let own = open.range(StreamId { sandbox, stream: 0 }..=StreamId { sandbox, stream: u32::MAX });
        own.map(|(_, handle)| handle.clone()).collect()
    });
    handles.iter().for_each(AbortHandle::abort);
}

/// Connects to a port. `waits`: until the server's queue has room.
async fn connect(backend: &VfsBackend, port: u16, waits: bool) -> Result<HostStream> {
    loop {
        match backend.connector()?.connect(port) {
            Err(Errno::Again) if waits => LocalTasks::default().sleep(RETRY_TIME).await,
            result => return result.map_err(|errno| connect_error(port, errno)),
        }
    }
}

fn connect_error(port: u16, errno: Errno) -> Error {
    let (kind, message) = match errno {
        Errno::Connrefused => (
            ErrorKind::Unavailable,
            format!(
                "nothing listens at port {port} of the sandbox; start a server there, or wait for it by waitForPort"
            ),
        ),
        Errno::Again => {
            (ErrorKind::Unavailable, format!("the server at port {port} accepts no connections; try again"))
        }
        Errno::Nfile => {
            (ErrorKind::QuotaExceeded, "the sandbox has as many sockets as it may have (limits.sockets)".to_owned())
        }
        _ => return Error::closed("connect"),
    };
    Error::new(kind, "connect", message)
}

async fn transfer(id: StreamId, stream: HostStream) {
    join(read_all(id, &stream), write_all(id, &stream)).await;
}

/// Sends data of the server as JavaScript requests it, and then its end.
async fn read_all(id: StreamId, stream: &HostStream) {
    let mut requested = 0;
    loop {
        while requested == 0 {
            requested = next(&PULLS, id).await;
        }
        requested -= 1;
        let read = poll_fn(|cx| {
            BUFFER.with_borrow_mut(|buffer| {
                buffer.resize(CHUNK_BYTES, 0);
                let count = ready!(stream.poll_read(cx, buffer));
                let chunk = count.ok().and_then(|count| buffer.get(..count)).unwrap_or_default();
                if !chunk.is_empty() {
                    js_imports::port_chunk(id.sandbox, id.stream, chunk);
                }
                count.into()
            })
        });
        match read.await {
            Ok(0) => return js_imports::port_ended(id.sandbox, id.stream, false),
            Ok(_) => {}
            Err(ConnectionReset) => return js_imports::port_ended(id.sandbox, id.stream, true),
        }
    }
}

/// Writes the chunks of JavaScript and confirms each, until it ends the data or the server no longer reads.
async fn write_all(id: StreamId, stream: &HostStream) {
    while let Written::Chunk(chunk) = next(&WRITES, id).await {
        let mut rest = chunk.as_slice();
        while !rest.is_empty() {
            match poll_fn(|cx| stream.poll_write(cx, rest)).await {
                Ok(count) => rest = rest.get(count..).unwrap_or_default(),
                Err(ConnectionReset) => return js_imports::port_written(id.sandbox, id.stream, false),
            }
        }
        js_imports::port_written(id.sandbox, id.stream, true);
    }
    stream.shut_down_write();
}

#[wasm_bindgen(js_class = SandboxKernel)]
impl Sandbox {
    /// Connects to a server of the sandbox. JavaScript chooses the number of the connection. `waits`: until the server's queue
    /// has room.
    #[wasm_bindgen(js_name = connectPort)]
    pub fn connect_port(&self, stream: u32, port: u16, waits: bool) -> Promise {
        let id = StreamId { sandbox: self.sandbox, stream };
        let backend = Arc::clone(&self.backend);
        let (handle, registration) = AbortHandle::new_pair();
        let registered = Registered::new(id, handle);
        promise(async move {
            check_engine("connect")?;
            let connected = Abortable::new(connect(&backend, port, waits), registration).await;
            let stream = connected.unwrap_or_else(|_| Err(Error::closed("connect")))?;
            let (handle, registration) = AbortHandle::new_pair();
            OPEN.with_borrow_mut(|open| open.insert(id, handle));
            spawn_local(async move {
                // The connection is dropped here, whether it has ended or was aborted.
                let _ = Abortable::new(transfer(id, stream), registration).await;
                drop(registered);
            });
            Ok(JsValue::UNDEFINED)
        })
    }

    /// Returns the ports at which programs of the sandbox listen, in ascending order.
    #[wasm_bindgen(js_name = listeningPorts)]
    pub fn listening_ports(&self) -> Promise {
        let backend = Arc::clone(&self.backend);
        promise(async move {
            check_engine("ports")?;
            Ok(backend.listening_ports()?.into_iter().map(JsValue::from).collect::<Array>().into())
        })
    }

    /// Waits until a program of the sandbox listens at a port, at most for these milliseconds.
    #[wasm_bindgen(js_name = waitForPort)]
    pub fn wait_for_port(&self, port: u16, milliseconds: f64) -> Promise {
        let backend = Arc::clone(&self.backend);
        promise(async move {
            check_engine("waitForPort")?;
            let until = js_imports::monotonic() + milliseconds;
            while !backend.listening_ports()?.contains(&port) {
                if js_imports::monotonic() >= until {
                    let message = format!("nothing listens at port {port} of the sandbox after {milliseconds} ms");
                    return Err(Error::new(ErrorKind::Timeout, "waitForPort", message));
                }
                LocalTasks::default().sleep(RETRY_TIME).await;
            }
            Ok(JsValue::UNDEFINED)
        })
    }
}

/// JavaScript can receive further chunks of a connection.
#[wasm_bindgen(js_name = portPull)]
pub fn port_pull(sandbox: u32, stream: u32, chunks: u32) {
    PULLS.with(|pulls| pulls.put(StreamId { sandbox, stream }, chunks));
}

/// Receives a chunk for the server.
#[wasm_bindgen(js_name = portWrite)]
pub fn port_write(sandbox: u32, stream: u32, chunk: Vec<u8>) {
    WRITES.with(|writes| writes.put(StreamId { sandbox, stream }, Written::Chunk(chunk)));
}

/// The data for the server ends.
#[wasm_bindgen(js_name = portEnd)]
pub fn port_end(sandbox: u32, stream: u32) {
    WRITES.with(|writes| writes.put(StreamId { sandbox, stream }, Written::End));
}

/// Closes a connection. Data that was not written is dropped.
#[wasm_bindgen(js_name = portClose)]
pub fn port_close(sandbox: u32, stream: u32) {
    let handle = OPEN.with_borrow(|open| open.get(&StreamId { sandbox, stream }).cloned());
    if let Some(handle) = handle {
        handle.abort();
    }
}
