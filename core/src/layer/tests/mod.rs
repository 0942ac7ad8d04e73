//! Tests of layers around a backend with responses chosen by the test.

mod policies;
mod record_replay;
mod replay;
mod round_trip;

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use crate::backend::{BoxFuture, OutputSink, SandboxBackend};
use crate::error::{Error, ErrorKind, Result};
use crate::execute::{ExecuteRequest, ExecuteResponse, OutputChunk, OutputStream};
use crate::layer::{Call, Layer, Response, from_layer};
use crate::path::SandboxPath;
use crate::provider::{ListPage, ListRequest, SandboxId, SandboxInfo, SandboxProvider, Selector};

fn path(text: &str) -> SandboxPath {
    SandboxPath::parse(text).unwrap()
}

fn id(text: &str) -> SandboxId {
    SandboxId::parse(text).unwrap()
}

/// Returns the configured responses in order.
#[derive(Debug)]
struct Canned {
    id: SandboxId,
    responses: Mutex<VecDeque<(Vec<OutputChunk>, Result<Response>)>>,
}

impl Canned {
    fn backend(responses: impl IntoIterator<Item = (Vec<OutputChunk>, Result<Response>)>) -> Arc<dyn SandboxBackend> {
        from_layer(Self { id: id("sb-canned"), responses: Mutex::new(responses.into_iter().collect()) })
    }
}

impl Layer for Canned {
    fn id(&self) -> &SandboxId {
        &self.id
    }

    fn call<'a>(&'a self, call: Call, sink: Option<OutputSink<'a>>) -> BoxFuture<'a, Result<Response>> {
        Box::pin(async move {
            let (events, reply) = self.responses.lock().unwrap().pop_front().expect("a response for every call");
            if let Some(sink) = sink {
                assert!(matches!(call, Call::ExecuteStreaming(_)));
                events.into_iter().for_each(sink);
            }
            reply
        })
    }
}

/// A sandbox that counts its commands: each prints its number and its text. The command `fail` fails.
#[derive(Debug)]
struct Counting {
    id: SandboxId,
    commands: AtomicU64,
}

impl Counting {
    fn backend(name: &str) -> Arc<dyn SandboxBackend> {
        from_layer(Self { id: id(name), commands: AtomicU64::new(0) })
    }
}

impl Layer for Counting {
    fn id(&self) -> &SandboxId {
        &self.id
    }

    fn call<'a>(&'a self, call: Call, mut sink: Option<OutputSink<'a>>) -> BoxFuture<'a, Result<Response>> {
        Box::pin(async move {
            let (Call::Execute(request) | Call::ExecuteStreaming(request)) = call else {
                return match call {
                    Call::Close => Ok(Response::Close),
                    other => Err(Error::new(ErrorKind::Unsupported, other.method(), "it only counts")),
                };
            };
            yield_now().await;
            if request.command == "fail" {
                return Err(Error::new(ErrorKind::Unavailable, "execute", "no response"));
            }
            let number = self.commands.fetch_add(1, Ordering::SeqCst) + 1;
            let mut response = ExecuteResponse { exit_code: Some(0), ..ExecuteResponse::default() };
            for (stream, text) in
                [(OutputStream::Stdout, format!("{number} ")), (OutputStream::Stderr, request.command.clone())]
            {
                let event = OutputChunk { stream, bytes: text.into_bytes() };
                response.push_chunk(&event);
                if let Some(sink) = &mut sink {
                    sink(event);
                }
            }
            Ok(Response::Execute(response))
        })
    }
}

/// Yields once, so that calls overlap.
async fn yield_now() {
    let mut yielded = false;
    std::future::poll_fn(|cx| {
        if std::mem::replace(&mut yielded, true) {
            return std::task::Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        std::task::Poll::Pending
    })
    .await;
}

async fn output(backend: &dyn SandboxBackend, command: &str) -> Result<String> {
    let response = backend.execute(ExecuteRequest::new(command)).await?;
    Ok(response.output_text().into_owned())
}

/// Sandboxes `sb-1`, `sb-2` and so on, by labels.
#[derive(Debug, Default)]
struct Sandboxes {
    created: Mutex<Vec<Labelled>>,
}

type Labelled = (BTreeMap<String, String>, Arc<dyn SandboxBackend>);

impl SandboxProvider for Sandboxes {
    fn get_or_create(&self, selector: Selector) -> BoxFuture<'_, Result<Arc<dyn SandboxBackend>>> {
        Box::pin(async move {
            let mut created = self.created.lock().unwrap();
            match selector {
                Selector::Id(id) => created
                    .iter()
                    .find(|(_, sandbox)| *sandbox.id() == id)
                    .map(|(_, sandbox)| Arc::clone(sandbox))
                    .ok_or_else(|| Error::new(ErrorKind::SandboxNotFound, "get sandbox", "no such sandbox")),
                Selector::Labels(labels) => {
                    let sandbox = Counting::backend(&format!("sb-{}", created.len() + 1));
                    created.push((labels, Arc::clone(&sandbox)));
                    Ok(sandbox)
                }
            }
        })
    }

    fn list(&self, _: ListRequest) -> BoxFuture<'_, Result<ListPage>> {
        let created = self.created.lock().unwrap();
        let sandboxes = created
            .iter()
            .map(|(labels, sandbox)| SandboxInfo { id: sandbox.id().clone(), labels: labels.clone() })
            .collect();
        Box::pin(async move { Ok(ListPage { sandboxes, cursor: Some("next".to_owned()) }) })
    }

    fn delete<'a>(&'a self, id: &'a SandboxId) -> BoxFuture<'a, Result<()>> {
        self.created.lock().unwrap().retain(|(_, sandbox)| sandbox.id() != id);
        Box::pin(async move { Ok(()) })
    }
}
