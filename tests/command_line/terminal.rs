//! `tidebox shell` at a terminal: line editing and history.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::process::{Child, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use nix::pty::{OpenptyResult, Winsize, openpty};

use crate::run::command;

/// A session on a pseudo-terminal, and the user's side of it.
struct Terminal {
    child: Child,
    keyboard: File,
    screen: Receiver<Vec<u8>>,
    seen: String,
}

impl Terminal {
    fn open(state: &std::path::Path) -> Self {
        let size = Winsize { ws_row: 24, ws_col: 200, ws_xpixel: 0, ws_ypixel: 0 };
        let OpenptyResult { master, slave } = openpty(&size, None).expect("a terminal can be opened");
        let handle = || Stdio::from(slave.try_clone().expect("a descriptor can be copied"));
        let child = command(&["shell"])
            .env("TERM", "xterm")
            .env("XDG_STATE_HOME", state)
            .stdin(handle())
            .stdout(handle())
            .stderr(handle())
            .spawn()
            .expect("the session starts");
        drop(slave);
        let keyboard = File::from(master);
        let mut output = keyboard.try_clone().expect("a descriptor can be copied");
        let (arrives, screen) = mpsc::channel();
        thread::spawn(move || {
            let mut buffer = [0; 4096];
            // The read fails after the session has closed its side.
            while let Ok(read @ 1..) = output.read(&mut buffer) {
                if arrives.send(buffer[..read].to_vec()).is_err() {
                    break;
                }
            }
        });
        Self { child, keyboard, screen, seen: String::new() }
    }

    fn type_keys(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).expect("keys can be typed");
    }

    /// Leaves the session at its next prompt. Earlier, the terminal itself would interpret the key as end of input.
    fn leave(mut self) {
        self.see("$ ");
        self.type_keys(CTRL_D);
        let end = Instant::now() + PATIENCE;
        while Instant::now() < end {
            if let Some(status) = self.child.try_wait().expect("the session can be opened") {
                assert_eq!(status.code(), Some(0));
                return;
            }
            thread::sleep(Duration::from_millis(10));
        }
        self.child.kill().expect("the session can be killed");
        panic!("the session did not end; it showed {:?}", self.seen);
    }

    /// Waits until `text` is on the screen. Returns and discards the screen up to there.
    fn see(&mut self, text: &str) -> String {
        let end = Instant::now() + PATIENCE;
        loop {
            if let Some(at) = self.seen.find(text) {
                return self.seen.drain(..at + text.len()).collect();
            }
            let left = end.saturating_duration_since(Instant::now());
            let more = self.screen.recv_timeout(left).unwrap_or_else(|_| panic!("no {text:?} in {:?}", self.seen));
            self.seen.push_str(&String::from_utf8_lossy(&more));
        }
    }
}

/// Timeout of each step, longer than any step takes on a busy host.
const PATIENCE: Duration = Duration::from_secs(30);

const LEFT: &str = "\u{1b}[D";
const UP: &str = "\u{1b}[A";
const CTRL_C: &str = "\u{3}";
const CTRL_D: &str = "\u{4}";

#[test]
fn lines_can_be_edited_recalled_and_cancelled() {
    let state = tempfile::tempdir().expect("a temporary directory can be created");
    let mut terminal = Terminal::open(state.path());
    terminal.see("tidebox:/workspace$ ");
    terminal.type_keys(&format!("echo ac{LEFT}b\r"));
    terminal.see("\nabc\r\n");
    terminal.see("tidebox:/workspace$ ");
    terminal.type_keys(&format!("{UP}{LEFT}{LEFT}x\r"));
    terminal.see("\naxbc\r\n");
    terminal.see("tidebox:/workspace$ ");
    terminal.type_keys(&format!("echo dropped{CTRL_C}"));
    assert!(!terminal.see("tidebox:/workspace$ ").contains("\ndropped"));
    terminal.type_keys("cd /tmp\r");
    terminal.see("tidebox:/tmp$ ");
    terminal.type_keys("echo 'two\r");
    terminal.see("> ");
    terminal.type_keys("lines'\r");
    terminal.see("\ntwo\r\nlines\r\n");
    terminal.leave();
}

#[test]
fn history_persists_across_sessions() {
    let state = tempfile::tempdir().expect("a temporary directory can be created");
    let mut first = Terminal::open(state.path());
    first.see("$ ");
    first.type_keys("echo remembered\r");
    first.see("\nremembered\r\n");
    first.leave();

    let mut second = Terminal::open(state.path());
    second.see("$ ");
    second.type_keys(&format!("{UP}\r"));
    second.see("\nremembered\r\n");
    second.leave();
}

/// Waits for the prompt, types a line and waits for what it shows.
fn enter(terminal: &mut Terminal, line: &str, expected: &str) {
    terminal.see("$ ");
    terminal.type_keys(&format!("{line}\r"));
    terminal.see(expected);
}

#[test]
fn tab_completes_commands_functions_and_files() {
    let state = tempfile::tempdir().expect("a temporary directory can be created");
    let mut terminal = Terminal::open(state.path());
    enter(
        &mut terminal,
        "mkdir some_dir; echo found >some_dir/a_file; echo other >'b c'; my_function() { echo called; }",
        "\n",
    );
    terminal.see("$ ");
    terminal.type_keys("cat some\ta\t\r");
    terminal.see("found\r\n");
    terminal.see("$ ");
    terminal.type_keys("my_f\t\r");
    terminal.see("\ncalled\r\n");
    terminal.see("$ ");
    terminal.type_keys("true; print\tf x\r");
    terminal.see("\nx");
    terminal.see("$ ");
    terminal.type_keys("cat b\t\r");
    terminal.see("\nother\r\n");
    terminal.see("$ ");
    terminal.type_keys(":lim\t\r");
    terminal.see("wall-time");
    terminal.leave();
}

#[test]
fn a_line_after_a_blank_is_not_in_the_history() {
    let state = tempfile::tempdir().expect("a temporary directory can be created");
    let mut terminal = Terminal::open(state.path());
    enter(&mut terminal, "echo public", "\npublic\r\n");
    enter(&mut terminal, " echo private", "\nprivate\r\n");
    terminal.see("$ ");
    terminal.type_keys(&format!("{UP}\r"));
    terminal.see("\npublic\r\n");
    terminal.leave();
    let history = std::fs::read_to_string(state.path().join("tidebox/history")).expect("the history is stored");
    assert!(history.contains("echo public") && !history.contains("private"), "{history}");
}
