//! Layers round a backend whose every answer the test chooses.

mod deck;
mod policies;
mod replay;
mod round_trip;

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use crate::backend::{BoxFuture, OutputSink, SandboxBackend};
use crate::error::{Error, ErrorKind, Result};
use crate::execute::{ExecuteRequest, ExecuteResponse, OutputEvent, OutputStream};
use crate::layer::{Answer, Call, Layer, layered};
use crate::path::SandboxPath;
use crate::provider::{ListPage, ListRequest, SandboxId, SandboxInfo, SandboxProvider, Selector};

fn path(text: &str) -> SandboxPath {
    SandboxPath::parse(text).unwrap()
}

fn id(text: &str) -> SandboxId {
    SandboxId::parse(text).unwrap()
}

/// Answers what it was given to answer, in order.
#[derive(Debug)]
struct Canned {
    id: SandboxId,
    answers: Mutex<VecDeque<(Vec<OutputEvent>, Result<Answer>)>>,
}

impl Canned {
    fn backend(answers: impl IntoIterator<Item = (Vec<OutputEvent>, Result<Answer>)>) -> Arc<dyn SandboxBackend> {
        layered(Self { id: id("sb-canned"), answers: Mutex::new(answers.into_iter().collect()) })
    }
}

impl Layer for Canned {
    fn id(&self) -> &SandboxId {
        &self.id
    }

    fn call<'a>(&'a self, call: Call, sink: Option<OutputSink<'a>>) -> BoxFuture<'a, Result<Answer>> {
        Box::pin(async move {
            let (events, answer) = self.answers.lock().unwrap().pop_front().expect("an answer to every call");
            if let Some(sink) = sink {
                assert!(matches!(call, Call::ExecuteStreaming(_)));
                events.into_iter().for_each(sink);
            }
            answer
        })
    }
}

/// A sandbox that remembers how many commands it ran: each prints its number and itself. `fail` fails.
#[derive(Debug)]
struct Counting {
    id: SandboxId,
    commands: AtomicU64,
}

impl Counting {
    fn backend(name: &str) -> Arc<dyn SandboxBackend> {
        layered(Self { id: id(name), commands: AtomicU64::new(0) })
    }
}

impl Layer for Counting {
    fn id(&self) -> &SandboxId {
        &self.id
    }

    fn call<'a>(&'a self, call: Call, mut sink: Option<OutputSink<'a>>) -> BoxFuture<'a, Result<Answer>> {
        Box::pin(async move {
            let (Call::Execute(request) | Call::ExecuteStreaming(request)) = call else {
                return match call {
                    Call::Close => Ok(Answer::Close),
                    other => Err(Error::new(ErrorKind::Unsupported, other.method(), "it can only count")),
                };
            };
            yield_now().await;
            if request.command == "fail" {
                return Err(Error::new(ErrorKind::Unavailable, "execute", "no answer"));
            }
            let number = self.commands.fetch_add(1, Ordering::SeqCst) + 1;
            let mut response = ExecuteResponse { exit_code: Some(0), ..ExecuteResponse::default() };
            for (stream, text) in
                [(OutputStream::Stdout, format!("{number} ")), (OutputStream::Stderr, request.command.clone())]
            {
                let event = OutputEvent { stream, bytes: text.into_bytes() };
                response.push(&event);
                if let Some(sink) = &mut sink {
                    sink(event);
                }
            }
            Ok(Answer::Execute(response))
        })
    }
}

/// Comes back at the next poll, so that calls overlap.
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
    made: Mutex<Vec<Labelled>>,
}

type Labelled = (BTreeMap<String, String>, Arc<dyn SandboxBackend>);

impl SandboxProvider for Sandboxes {
    fn get_or_create(&self, selector: Selector) -> BoxFuture<'_, Result<Arc<dyn SandboxBackend>>> {
        Box::pin(async move {
            let mut made = self.made.lock().unwrap();
            match selector {
                Selector::Id(id) => made
                    .iter()
                    .find(|(_, sandbox)| *sandbox.id() == id)
                    .map(|(_, sandbox)| Arc::clone(sandbox))
                    .ok_or_else(|| Error::new(ErrorKind::SandboxNotFound, "get sandbox", "no such sandbox")),
                Selector::Labels(labels) => {
                    let sandbox = Counting::backend(&format!("sb-{}", made.len() + 1));
                    made.push((labels, Arc::clone(&sandbox)));
                    Ok(sandbox)
                }
            }
        })
    }

    fn list(&self, _: ListRequest) -> BoxFuture<'_, Result<ListPage>> {
        let made = self.made.lock().unwrap();
        let sandboxes = made
            .iter()
            .map(|(labels, sandbox)| SandboxInfo { id: sandbox.id().clone(), labels: labels.clone() })
            .collect();
        Box::pin(async move { Ok(ListPage { sandboxes, cursor: Some("next".to_owned()) }) })
    }

    fn delete<'a>(&'a self, id: &'a SandboxId) -> BoxFuture<'a, Result<()>> {
        self.made.lock().unwrap().retain(|(_, sandbox)| sandbox.id() != id);
        Box::pin(async move { Ok(()) })
    }
}
