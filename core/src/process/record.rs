//! Records of the processes of a backend: their names, their output, and the list of them.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use super::output_log::OutputLog;
use super::{OutputPage, ProcessId, ProcessInfo, ProcessState, ReadOutput, unknown_process};
use crate::backend::BoxFuture;
use crate::error::Result;
use crate::execute::OutputChunk;
use crate::lock::Mutex;

/// Number of ended processes that are remembered. The oldest are forgotten first.
const ENDED_PROCESSES: usize = 64;

/// A process: its names, the newest bytes of its output, and its state.
#[derive(Debug)]
pub struct ProcessRecord {
    id: ProcessId,
    tag: Option<String>,
    command: String,
    started: Duration,
    log: Mutex<OutputLog>,
}

impl ProcessRecord {
    /// Creates the record of a running process. `started` is the time since the Unix epoch, and `kept_bytes` the number of
    /// bytes of output that are kept.
    pub fn new(id: ProcessId, tag: Option<String>, command: String, started: Duration, kept_bytes: u64) -> Self {
        Self { id, tag, command, started, log: Mutex::new(OutputLog::new(kept_bytes)) }
    }

    /// Returns the id.
    pub fn id(&self) -> &ProcessId {
        &self.id
    }

    /// Returns whether the process has ended.
    pub fn has_ended(&self) -> bool {
        self.log.lock().state().has_ended()
    }

    /// Adds output.
    pub fn push(&self, chunk: &OutputChunk) {
        self.log.lock().push(chunk);
    }

    /// Records the end. The first one counts.
    pub fn end(&self, state: ProcessState) {
        self.log.lock().end(state);
    }

    /// Returns the properties.
    pub fn info(&self) -> ProcessInfo {
        let log = self.log.lock();
        ProcessInfo {
            id: self.id.clone(),
            tag: self.tag.clone(),
            command: self.command.clone(),
            started: self.started,
            state: log.state().clone(),
            written_bytes: log.written(),
        }
    }

    /// Waits until it has ended.
    pub fn poll_ended(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut log = self.log.lock();
        if log.state().has_ended() {
            return Poll::Ready(());
        }
        log.wake_later(cx.waker());
        Poll::Pending
    }

    /// Returns the output after the cursor, or waits for more until `timeout` has expired. `None` does not wait.
    pub async fn read(&self, request: &ReadOutput, mut timeout: Option<BoxFuture<'_, ()>>) -> OutputPage {
        poll_fn(|cx| {
            let mut log = self.log.lock();
            let page = log.page(request);
            let is_over = !page.chunks.is_empty() || page.state.has_ended();
            if is_over || timeout.as_mut().is_none_or(|timeout| timeout.as_mut().poll(cx).is_ready()) {
                return Poll::Ready(page);
            }
            log.wake_later(cx.waker());
            Poll::Pending
        })
        .await
    }
}

/// The processes of a sandbox in the order of their start.
#[derive(Debug)]
pub struct ProcessList<T>(Mutex<Vec<Arc<T>>>);

impl<T> Default for ProcessList<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: AsRef<ProcessRecord>> ProcessList<T> {
    /// Returns all.
    pub fn all(&self) -> Vec<Arc<T>> {
        self.0.lock().clone()
    }

    /// Returns those that run.
    pub fn running(&self) -> Vec<Arc<T>> {
        self.all().into_iter().filter(|process| !(**process).as_ref().has_ended()).collect()
    }

    /// Returns the running process with the tag.
    pub fn tagged(&self, tag: Option<&str>) -> Option<Arc<T>> {
        let tag = tag?;
        self.running().into_iter().find(|process| (**process).as_ref().tag.as_deref() == Some(tag))
    }

    /// Returns the process with the id.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidRequest`](crate::ErrorKind::InvalidRequest) if no process has it.
    pub fn find(&self, operation: &'static str, id: &ProcessId) -> Result<Arc<T>> {
        // The newest, because a kernel uses ids again after millions of processes.
        let found = self.0.lock().iter().rfind(|process| (***process).as_ref().id == *id).cloned();
        found.ok_or_else(|| unknown_process(operation, id))
    }

    /// Adds a process and forgets the oldest ended ones.
    pub fn add(&self, process: Arc<T>) {
        let mut list = self.0.lock();
        list.push(process);
        let has_ended = |process: &Arc<T>| (**process).as_ref().has_ended();
        let mut surplus = list.iter().filter(|process| has_ended(process)).count().saturating_sub(ENDED_PROCESSES);
        list.retain(|process| {
            let forget = surplus > 0 && has_ended(process);
            surplus -= usize::from(forget);
            !forget
        });
    }

    /// Forgets a process.
    pub fn remove(&self, process: &Arc<T>) {
        self.0.lock().retain(|other| !Arc::ptr_eq(other, process));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl AsRef<Self> for ProcessRecord {
        fn as_ref(&self) -> &Self {
            self
        }
    }

    fn record(id: usize, tag: Option<&str>) -> Arc<ProcessRecord> {
        let id = ProcessId::new(id.to_string());
        Arc::new(ProcessRecord::new(id, tag.map(str::to_owned), "true".to_owned(), Duration::ZERO, 100))
    }

    #[test]
    fn the_oldest_ended_processes_are_forgotten() {
        let list = ProcessList::default();
        let running = record(0, Some("server"));
        list.add(Arc::clone(&running));
        for id in 1..=100 {
            let ended = record(id, None);
            ended.end(ProcessState::Ended { exit_code: Some(0), stopped_by: None });
            list.add(ended);
        }
        assert_eq!(list.all().len(), 1 + ENDED_PROCESSES);
        assert!(list.find("test", &ProcessId::new("36")).is_err());
        assert!(list.find("test", &ProcessId::new("37")).is_ok());
        assert_eq!(list.tagged(Some("server")).map(|found| found.id().clone()), Some(running.id().clone()));
        running.end(ProcessState::Ended { exit_code: None, stopped_by: None });
        assert!(list.tagged(Some("server")).is_none() && list.running().is_empty());
    }
}
