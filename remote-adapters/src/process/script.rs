//! Scripts around a process, and the files by which they find each other.

use tidebox_core::ProcessSignal;
use tidebox_core::shell_backend::quote;

/// Files of one process in the sandbox: `.pid` and `.hold` with the ids of two process groups, `.in`, the FIFO that is its standard
/// input, `.open`, which shows that the FIFO has both ends, and `.sent`, the bytes that are written next.
#[derive(Debug)]
pub(super) struct ProcessFiles {
    prefix: String,
}

impl ProcessFiles {
    /// Chooses names that no other client uses.
    pub(super) fn new(nonce: u64, number: u64) -> Self {
        Self { prefix: format!("/tmp/.tidebox-{nonce:x}-process-{number}") }
    }

    /// Returns the script that runs a command. Job control creates a process group for it.
    pub(super) fn run(&self, command: &str, has_input: bool) -> String {
        let (p, command) = (&self.prefix, quote(command));
        let (before, input, after) = match has_input {
            false => (String::new(), "/dev/null".to_owned(), String::new()),
            // Without a writer that stays, the end of the first write would be the end of the input.
            true => (
                format!(
                    "mkfifo -m 600 {p}.in || exit; {{ echo > {p}.open; exec sleep infinity; }} > {p}.in & echo $! > {p}.hold; "
                ),
                format!("{p}.in"),
                format!("kill -KILL -- -$(cat {p}.hold); "),
            ),
        };
        // The shell reports killed jobs on its standard error.
        format!(
            "set -m; {before}bash -c {command} < {input} & echo $! > {p}.pid; exec 2> /dev/null; wait $!; code=$?; {after}rm -f \
             {p}.*; exit $code"
        )
    }

    /// Returns the script that runs a command in a terminal, as the leader of its process group.
    pub(super) fn run_in_terminal(&self, command: &str) -> String {
        format!("echo $$ > {}.pid; exec bash -c {}", self.prefix, quote(command))
    }

    /// Returns the script that removes the files.
    pub(super) fn remove(&self) -> String {
        format!("rm -f {}.*", self.prefix)
    }

    /// Returns the start of a script, which waits for a file of a process that has just been started.
    fn wait_for(&self, suffix: &str) -> String {
        let p = &self.prefix;
        format!("n=0; until [ -s {p}.{suffix} ] || [ $n = 600 ]; do sleep 0.05; n=$((n + 1)); done; ")
    }

    /// Returns the script that sends a signal to the process group.
    pub(super) fn signal(&self, signal: ProcessSignal) -> String {
        let (p, wait) = (&self.prefix, self.wait_for("pid"));
        format!("{wait}kill -{signal} -- -$(cat {p}.pid) 2> /dev/null || [ ! -e {p}.pid ]")
    }

    /// The file with the bytes that [`send`](Self::send) writes.
    pub(super) fn sent(&self) -> String {
        format!("{}.sent", self.prefix)
    }

    /// Returns the script that writes bytes to standard input, waiting while the pipe is full.
    pub(super) fn send(&self) -> String {
        let (p, wait) = (&self.prefix, self.wait_for("open"));
        format!("{wait}cat {p}.sent > {p}.in && rm -f {p}.sent")
    }

    /// Returns the script that closes standard input.
    pub(super) fn close_input(&self) -> String {
        let (p, wait) = (&self.prefix, self.wait_for("open"));
        format!("{wait}kill -KILL -- -$(cat {p}.hold)")
    }
}
