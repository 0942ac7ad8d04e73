//! A process in a terminal, for tests that press keys and read what is shown.

use std::sync::Arc;
use std::time::Duration;

use tidebox::{OutputCursor, Process, ReadOutput, Sandbox, SandboxBackend, SpawnRequest, TerminalSize};

/// Maximum time for which a test waits. The first one may wait until the programs of the sandbox are compiled.
pub(crate) const PATIENCE: Duration = Duration::from_secs(90);

/// A process in a terminal, and the output that was read.
pub(crate) struct Terminal {
    pub(crate) process: Process,
    pub(crate) after: OutputCursor,
    /// Output since the last call of `expect`.
    pub(crate) unread: String,
}

impl Terminal {
    pub(crate) async fn start(sandbox: &Arc<Sandbox>, command: &str) -> Self {
        let backend: Arc<dyn SandboxBackend> = Arc::<Sandbox>::clone(sandbox);
        let request = SpawnRequest::new(command).with_terminal(TerminalSize::new(24, 80)).with_timeout(PATIENCE * 2);
        let process = Process::spawn(backend, request).await.expect("the process starts");
        Self { process, after: OutputCursor::START, unread: String::new() }
    }

    pub(crate) async fn press(&self, keys: &str) {
        self.process.write_all(keys.as_bytes()).await.expect("the terminal is open");
    }

    /// Reads up to the end of `text` and returns it all.
    pub(crate) async fn expect(&mut self, text: &str) -> String {
        let deadline = tokio::time::Instant::now() + PATIENCE;
        loop {
            if let Some(at) = self.unread.find(text) {
                let rest = self.unread.split_off(at + text.len());
                return std::mem::replace(&mut self.unread, rest);
            }
            let left = deadline.saturating_duration_since(tokio::time::Instant::now());
            let page = self.process.read(ReadOutput::after(self.after).with_wait(left)).await.expect("it is known");
            self.after = page.next;
            self.unread.push_str(&String::from_utf8_lossy(&page.bytes()));
            let is_over = page.chunks.is_empty() && (page.state.has_ended() || left.is_zero());
            assert!(!is_over, "{text:?} does not come: {:?} {:?}", self.unread, page.state);
        }
    }
}
