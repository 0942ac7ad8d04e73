//! Node's interactive mode in a terminal of the sandbox.

use std::sync::Arc;

use tidebox::ReadOutput;

use crate::session::{PATIENCE, Terminal};
use crate::{is_ready, sandbox};

impl Terminal {
    /// Waits for the end. Returns whether it came in time.
    async fn ends(&mut self) -> bool {
        let deadline = tokio::time::Instant::now() + PATIENCE;
        loop {
            let left = deadline.saturating_duration_since(tokio::time::Instant::now());
            let page = self.process.read(ReadOutput::after(self.after).with_wait(left)).await.expect("it is known");
            self.after = page.next;
            if page.state.has_ended() || left.is_zero() {
                return page.state.has_ended();
            }
        }
    }
}

#[tokio::test]
async fn interactive_mode_evaluates_edits_and_ends() {
    if !is_ready() {
        return;
    }
    let sandbox = Arc::new(sandbox());
    let mut node = Terminal::start(&sandbox, "exec node").await;
    node.expect("Welcome to Node.js v22").await;
    node.expect("> ").await;
    node.press("const sum = [1, 2, 39].reduce((a, b) => a + b)\r").await;
    node.expect("undefined").await;
    node.press("`sum ${sum}`\r").await;
    node.expect("'sum 42'").await;
    // A function of several lines, and the last value.
    node.press("function twice(x) {\rreturn 2 * x\r}\r").await;
    node.expect("undefined").await;
    node.press("twice(21000)\r").await;
    node.expect("42000").await;
    node.press("_ + 1\r").await;
    node.expect("42001").await;
    node.press("await Promise.resolve('waited')\r").await;
    node.expect("'waited'").await;
    // Keys: backspace, and the line before by the arrow.
    node.press("'abx\u{7f}c'.length + 70000\r").await;
    node.expect("70003").await;
    node.press("\u{1b}[A\r").await;
    node.expect("70003").await;
    node.press("missing\r").await;
    node.expect("missing is not defined").await;
    node.press(".exit\r").await;
    assert!(node.ends().await, "the process runs after .exit");
}

#[tokio::test]
async fn end_of_file_ends_interactive_mode() {
    if !is_ready() {
        return;
    }
    let sandbox = Arc::new(sandbox());
    let mut node = Terminal::start(&sandbox, "exec node").await;
    node.expect("> ").await;
    // An interrupt clears the line; the end of the file on an empty line ends the process.
    node.press("unfinished(\u{3}").await;
    node.expect("> ").await;
    node.press("\u{4}").await;
    assert!(node.ends().await, "the process runs after the end of its input");
}
