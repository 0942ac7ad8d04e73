//! Processes in a terminal: an interactive shell, keys, resizes, hang-ups, and programs that misuse it.

#![allow(clippy::print_stdout, reason = "a skipped test is printed with the reason")]

#[path = "terminal/session.rs"]
mod session;

use std::sync::Arc;
use std::time::Duration;

use tidebox::{
    ErrorKind, ExecuteRequest, Limits, Process, ProcessInput, ProcessSignal, ProcessState, ReadOutput, Sandbox,
    SandboxBackend, SpawnRequest, TerminalSize,
};

use session::{PATIENCE, Terminal};

/// Prompt of the shells in these tests.
const PROMPT: &str = "$> ";

fn sandbox() -> Arc<Sandbox> {
    Arc::new(tidebox::sandbox().expect("the engine starts").build().expect("the sandbox is built"))
}

impl Terminal {
    /// An interactive shell that shows its first prompt.
    async fn shell(sandbox: &Arc<Sandbox>) -> Self {
        let mut shell = Self::start(sandbox, &format!("PS1='{PROMPT}' exec bash --norc")).await;
        assert_eq!(shell.expect(PROMPT).await, PROMPT);
        shell
    }

    /// Runs a command line of a shell and returns its output, without the echo and the next prompt.
    async fn run(&mut self, line: &str) -> String {
        self.press(&format!("{line}\r")).await;
        let output = self.expect(PROMPT).await;
        let output = output.strip_prefix(&format!("{line}\r\n")).unwrap_or_else(|| panic!("no echo: {output:?}"));
        output.strip_suffix(PROMPT).expect("the text that was read").replace("\r\n", "\n")
    }

    /// Presses Enter until the shell reports a change of a job. Returns the report.
    async fn next_report(&mut self) -> String {
        let deadline = tokio::time::Instant::now() + PATIENCE;
        loop {
            let report = self.run("").await;
            if !report.is_empty() {
                return report;
            }
            assert!(tokio::time::Instant::now() < deadline, "no job changes");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Waits for the end; returns the exit code and the remaining output.
    async fn finish(mut self) -> (Option<i32>, String) {
        let ended = tokio::time::timeout(PATIENCE, async {
            loop {
                let read = ReadOutput::after(self.after).with_wait(PATIENCE);
                let page = self.process.read(read).await.expect("it is known");
                self.after = page.next;
                self.unread.push_str(&String::from_utf8_lossy(&page.bytes()));
                if let ProcessState::Ended { exit_code, .. } = page.state
                    && page.chunks.is_empty()
                {
                    return exit_code;
                }
            }
        });
        (ended.await.expect("the process ends in time"), self.unread)
    }
}

/// Waits until nothing is left in the sandbox.
async fn expect_nothing_left(sandbox: &Sandbox) {
    let deadline = tokio::time::Instant::now() + PATIENCE;
    loop {
        let left = sandbox.resource_usage();
        if left.processes == 0 && left.commands == 0 && left.terminals == 0 && left.memory_bytes == 0 {
            return;
        }
        assert!(tokio::time::Instant::now() < deadline, "left behind: {left:?}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Waits until a program runs and is not stopped, and for the shell to give it the keys.
async fn wait_until_runs(sandbox: &Sandbox, program: &str) {
    let deadline = tokio::time::Instant::now() + PATIENCE;
    loop {
        let listed = sandbox.execute(ExecuteRequest::new("ps -eo stat,args")).await.expect("the command runs");
        if listed.output_text().lines().any(|line| !line.starts_with('T') && line.ends_with(program)) {
            break;
        }
        assert!(tokio::time::Instant::now() < deadline, "{program} does not run: {}", listed.output_text());
    }
    tokio::time::sleep(Duration::from_millis(50)).await;
}

#[tokio::test]
async fn a_shell_shows_prompts_and_echoes_keys() {
    let sandbox = sandbox();
    let mut shell = Terminal::shell(&sandbox).await;
    assert_eq!(shell.run("echo one; [ -t 0 ] && echo terminal").await, "one\nterminal\n");
    assert_eq!(
        shell.run("tty; echo typed > /dev/tty; echo $TERM $LINES $COLUMNS").await,
        "/dev/tty\ntyped\nxterm-256color 24 80\n"
    );
    assert_eq!(shell.run("cd /tmp; pwd; x=1").await, "/tmp\n");
    assert_eq!(shell.run("echo $x").await, "1\n");
    shell.press("if true\r").await;
    shell.expect("> ").await;
    shell.press("then echo done; fi\r").await;
    assert_eq!(shell.expect(PROMPT).await, format!("then echo done; fi\r\ndone\r\n{PROMPT}"));
    shell.press("echo wronk\x7fg\r").await;
    assert_eq!(shell.expect(PROMPT).await, format!("echo wronk\x08 \x08g\r\nwrong\r\n{PROMPT}"));
    shell.press("exit 7\r").await;
    let (code, output) = shell.finish().await;
    assert_eq!((code, &*output), (Some(7), "exit 7\r\nexit\r\n"));
    expect_nothing_left(&sandbox).await;
}

#[tokio::test]
async fn ctrl_c_ends_the_command_and_not_the_shell() {
    let sandbox = sandbox();
    let mut shell = Terminal::shell(&sandbox).await;
    for command in
        ["sleep 100", "while :; do :; done", "while :; do sleep 0.01; done", "cat", "read x", "sleep 99 | cat"]
    {
        shell.press(&format!("echo started; {command}\r")).await;
        shell.expect("\r\nstarted\r\n").await;
        // The key may come before the program has started.
        tokio::time::sleep(Duration::from_millis(50)).await;
        shell.press("\x03").await;
        assert_eq!(shell.expect(PROMPT).await, format!("^C\r\n{PROMPT}"), "{command}");
        assert_eq!(shell.run("echo $?").await, "130\n", "{command}");
    }
    shell.press("half a line\x03").await;
    assert_eq!(shell.expect(PROMPT).await, format!("half a line^C\r\n{PROMPT}"));
    assert_eq!(shell.run("trap 'echo caught' INT; echo $?").await, "0\n");
    shell.press("\x03").await;
    shell.expect("caught").await;
    shell.press("exit\r").await;
    assert_eq!(shell.finish().await.0, Some(0));
}

#[tokio::test]
async fn ctrl_c_before_the_program_has_started_ends_it() {
    let sandbox = sandbox();
    let mut shell = Terminal::shell(&sandbox).await;
    for _ in 0..50 {
        // The key comes while the shell starts the program.
        shell.press("cat\r\x03").await;
        shell.expect("^C\r\n").await;
        shell.expect(PROMPT).await;
    }
    shell.press("exit 5\r").await;
    assert_eq!(shell.finish().await.0, Some(5));
}

#[tokio::test]
async fn ctrl_d_ends_input_and_the_shell() {
    let sandbox = sandbox();
    let mut shell = Terminal::shell(&sandbox).await;
    shell.press("cat > file\rline\r").await;
    shell.press("\x04").await;
    shell.expect(PROMPT).await;
    assert_eq!(shell.run("cat file").await, "line\n");
    shell.process.close_input().await.expect("the terminal is open");
    assert_eq!(shell.finish().await, (Some(0), "exit\r\n".to_owned()));
    expect_nothing_left(&sandbox).await;
}

#[tokio::test]
async fn a_resize_is_seen_by_programs() {
    let sandbox = sandbox();
    let mut shell = Terminal::shell(&sandbox).await;
    assert_eq!(shell.run("stty size").await, "24 80\n");
    shell.run("trap 'echo resized' WINCH").await;
    shell.process.resize(TerminalSize::new(50, 120)).await.expect("it has a terminal");
    shell.expect("resized\r\n").await;
    assert_eq!(shell.run("stty size; echo $LINES $COLUMNS").await.replace("resized\n", ""), "50 120\n50 120\n");
    shell.run("stty cols 90").await;
    assert_eq!(shell.run("trap - WINCH; stty size").await, "50 90\n");
    for size in [TerminalSize::new(0, 80), TerminalSize::new(24, 1001)] {
        let rejected = shell.process.resize(size).await.expect_err("the size is out of bounds");
        assert_eq!(rejected.kind(), ErrorKind::InvalidRequest);
    }
    shell.process.kill().await.expect("it is known");
    assert_eq!(shell.finish().await.0, Some(137));
}

#[tokio::test]
async fn settings_are_shown_and_changed() {
    let sandbox = sandbox();
    let mut shell = Terminal::shell(&sandbox).await;
    assert_eq!(shell.run("stty").await, "speed 38400 baud; line = 0;\n-brkint iutf8\n");
    assert!(shell.run("stty -a").await.contains("isig icanon iexten echo echoe"), "all settings");
    assert!(shell.run("stty bogus").await.starts_with("stty: invalid argument "), "the setting is rejected");
    // Without echo only the output comes.
    shell.run("stty -echo").await;
    shell.press("echo quiet\r").await;
    assert_eq!(shell.expect(PROMPT).await, format!("quiet\r\n{PROMPT}"));
    shell.press("stty sane\r").await;
    shell.expect(PROMPT).await;
    shell.press("read -s secret\r").await;
    shell.expect("\r\n").await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    shell.press("hidden\r").await;
    shell.expect(PROMPT).await;
    assert_eq!(shell.run("echo $secret").await, "hidden\n");
    shell.press("read -n 1 key; echo \"<$key>\"\r").await;
    shell.expect("\r\n").await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    shell.press("y").await;
    assert_eq!(shell.expect(PROMPT).await, format!("y<y>\r\n{PROMPT}"));
    // In raw mode every key is a byte. The shell restores the settings of a program that was killed.
    shell.press("stty raw -echo; echo go; head -c 3 | od -An -tx1; stty sane\r").await;
    shell.expect("go\n").await;
    shell.press("\x03\r\x04").await;
    assert!(shell.expect(PROMPT).await.contains("03 0d 04"), "three bytes");
    assert_eq!(shell.run("echo after").await, "after\n");
}

#[tokio::test]
async fn background_jobs_are_listed_and_killed() {
    let sandbox = sandbox();
    let mut shell = Terminal::shell(&sandbox).await;
    assert!(shell.run("sleep 100 &").await.starts_with("[1] "));
    shell.press("\x03").await;
    shell.expect(PROMPT).await;
    assert!(shell.run("jobs").await.contains("Running"), "Ctrl-C does not reach the job");
    shell.press("fg\r").await;
    shell.expect("sleep 100\r\n").await;
    tokio::time::sleep(Duration::from_millis(50)).await;
    shell.press("\x03").await;
    shell.expect(PROMPT).await;
    assert_eq!(shell.run("jobs").await, "");
    shell.run("sleep 100 &").await;
    assert!(shell.run("kill %1; wait").await.contains("Terminated"), "the end is reported");
}

#[tokio::test]
async fn ctrl_z_stops_a_job_that_fg_and_bg_continue() {
    let sandbox = sandbox();
    let mut shell = Terminal::shell(&sandbox).await;
    let commands =
        [(1, "sleep 100", "sleep 100"), (2, "sleep 99 | cat", "sleep 99"), (3, "( sleep 98; echo x )", "sleep 98")];
    for (number, command, program) in commands {
        shell.press(&format!("{command}\r")).await;
        shell.expect("\r\n").await;
        wait_until_runs(&sandbox, program).await;
        shell.press("\x1a").await;
        let expected = format!("^Z\r\n[{number}]+  Stopped                 {command}\r\n{PROMPT}");
        assert_eq!(shell.expect(PROMPT).await, expected);
        assert_eq!(shell.run("echo $?").await, "148\n", "{command}");
    }
    assert_eq!(
        shell.run("jobs").await,
        "[1]   Stopped                 sleep 100\n[2]-  Stopped                 sleep 99 | cat\n\
         [3]+  Stopped                 ( sleep 98; echo x )\n"
    );
    assert!(shell.run("ps -o stat,args | grep '[s]leep 100'").await.starts_with('T'), "ps shows that it is stopped");
    assert_eq!(shell.run("bg %1").await, "[1]  sleep 100 &\n");
    assert_eq!(shell.run("jobs -r; jobs -s | wc -l").await, "[1]   Running                 sleep 100 &\n2\n");
    shell.press("fg %2\r").await;
    shell.expect("sleep 99 | cat\r\n").await;
    wait_until_runs(&sandbox, "sleep 99").await;
    shell.press("\x1a").await;
    let stopped = format!("^Z\r\n[2]+  Stopped                 sleep 99 | cat\r\n{PROMPT}");
    assert_eq!(shell.expect(PROMPT).await, stopped);
    shell.press("fg\r").await;
    shell.expect("sleep 99 | cat\r\n").await;
    wait_until_runs(&sandbox, "sleep 99").await;
    shell.press("\x03").await;
    shell.expect(PROMPT).await;
    shell.press("exit\r").await;
    assert_eq!(shell.expect(PROMPT).await, format!("exit\r\nexit\r\nThere are stopped jobs.\r\n{PROMPT}"));
    shell.run("kill %3; wait %3").await;
    shell.run("kill %1; wait %1").await;
    shell.press("\x04").await;
    assert_eq!(shell.finish().await.0, Some(143));
    expect_nothing_left(&sandbox).await;
}

#[tokio::test]
async fn ctrl_z_ends_a_loop_and_exit_ends_stopped_jobs() {
    let sandbox = sandbox();
    let mut shell = Terminal::shell(&sandbox).await;
    shell.press("while :; do sleep 97; done; echo over\r").await;
    shell.expect("\r\n").await;
    wait_until_runs(&sandbox, "sleep 97").await;
    shell.press("\x1a").await;
    let expected = format!("^Z\r\n[1]+  Stopped                 sleep 97\r\nover\r\n{PROMPT}");
    assert_eq!(shell.expect(PROMPT).await, expected);
    shell.press("exit\r").await;
    shell.expect(PROMPT).await;
    shell.press("exit 3\r").await;
    assert_eq!(shell.finish().await.0, Some(3));
    expect_nothing_left(&sandbox).await;
}

#[tokio::test]
async fn a_background_job_that_reads_or_writes_is_stopped() {
    let sandbox = sandbox();
    let mut shell = Terminal::shell(&sandbox).await;
    shell.run("cat &").await;
    assert_eq!(shell.next_report().await, "\n[1]+  Stopped                 cat\n");
    shell.press("fg\r").await;
    shell.expect("cat\r\n").await;
    shell.press("typed\r").await;
    shell.expect("typed\r\ntyped\r\n").await;
    shell.press("\x04").await;
    shell.expect(PROMPT).await;
    shell.run("stty tostop").await;
    shell.run("(sleep 0.1; echo late) &").await;
    assert!(shell.next_report().await.starts_with("\n[1]+  Stopped "), "the writer is stopped");
    shell.press("fg\r").await;
    shell.expect("\r\nlate\r\n").await;
    shell.expect(PROMPT).await;
    shell.press("exit\r").await;
    assert_eq!(shell.finish().await.0, Some(0));
}

#[tokio::test]
async fn ctrl_z_without_a_shell_has_no_effect() {
    let sandbox = sandbox();
    let mut alone = Terminal::start(&sandbox, "echo ready; cat").await;
    alone.expect("ready\r\n").await;
    alone.press("\x1atyped\r").await;
    alone.expect("^Ztyped\r\ntyped\r\n").await;
    alone.press("\x04").await;
    assert_eq!(alone.finish().await.0, Some(0));
}

#[tokio::test]
async fn a_flood_into_an_unread_terminal_is_bounded() {
    let mut limits = Limits::default();
    limits.background_output_bytes = 64 << 10;
    let builder = tidebox::sandbox().expect("the engine starts").limits(limits);
    let sandbox = Arc::new(builder.build().expect("the sandbox is built"));
    let flood = Terminal::start(&sandbox, "head -c 5000000 /dev/zero | tr '\\0' 'x'; echo; echo end").await;
    let state = tokio::time::timeout(PATIENCE, flood.process.wait()).await.expect("it does not block").expect("known");
    assert_eq!(state, ProcessState::Ended { exit_code: Some(0), stopped_by: None });
    let page = flood.process.read(ReadOutput::default()).await.expect("it is known");
    assert!(page.bytes().len() <= 64 << 10 && page.dropped > 4_900_000, "{} {}", page.bytes().len(), page.dropped);
    assert!(page.bytes().ends_with(b"x\r\nend\r\n"));
}

#[tokio::test]
async fn unread_keys_are_bounded_and_can_be_interrupted() {
    let sandbox = sandbox();
    let mut idle = Terminal::start(&sandbox, "echo ready; sleep 100").await;
    idle.expect("ready\r\n").await;
    let lines = b"0123456\n".repeat(32 << 10);
    let mut typed = 0;
    while let Ok(written) = tokio::time::timeout(
        Duration::from_secs(1),
        sandbox.write_process(idle.process.id(), ProcessInput::Bytes(lines.clone())),
    )
    .await
    {
        typed += written.expect("the terminal is open");
        assert!(typed <= 64 << 10, "{typed}");
    }
    idle.press("\x03").await;
    assert_eq!(idle.finish().await.0, Some(130));
}

#[tokio::test]
async fn closing_the_sandbox_hangs_up() {
    let sandbox = sandbox();
    let _shell = Terminal::shell(&sandbox).await;
    let mut other =
        Terminal::start(&sandbox, "trap 'echo bye; exit 5' HUP; echo ready; while :; do sleep 0.01; done").await;
    other.expect("ready").await;
    let started = std::time::Instant::now();
    sandbox.close().await.expect("it closes");
    // Interactive shells ignore SIGTERM. Without the hang-up both would be killed after two seconds.
    assert!(started.elapsed() < Duration::from_millis(1900), "{:?}", started.elapsed());
}

#[tokio::test]
async fn the_end_of_the_first_process_hangs_up_its_group() {
    let sandbox = sandbox();
    let survivor = "(trap '' HUP; sleep 1; ls / && touch written; read x < /dev/tty; echo $? > ended)";
    let terminal = Terminal::start(&sandbox, &format!("{survivor} & sleep 100 & sleep 0.3; echo first")).await;
    let (code, output) = terminal.finish().await;
    assert_eq!((code, &*output), (Some(0), "first\r\n"));
    expect_nothing_left(&sandbox).await;
    let response = sandbox.execute(tidebox::ExecuteRequest::new("ls; cat ended")).await.expect("the sandbox responds");
    assert_eq!(response.output_text(), "ended\n1\n", "a write fails, and a read is at the end");
}

#[tokio::test]
async fn keys_of_a_process_that_has_ended_are_rejected() {
    let sandbox = sandbox();
    let terminal = Terminal::start(&sandbox, "true").await;
    terminal.process.wait().await.expect("it is known");
    let rejected = terminal.process.write_all(b"x").await.expect_err("it has ended");
    assert_eq!(rejected.kind(), ErrorKind::InvalidRequest);
    terminal.process.close_input().await.expect("closing twice is not an error");
    terminal.process.resize(TerminalSize::new(10, 10)).await.expect("nothing sees it");
    let plain =
        Process::spawn(Arc::<Sandbox>::clone(&sandbox), SpawnRequest::new("sleep 100")).await.expect("it starts");
    let rejected = plain.resize(TerminalSize::new(10, 10)).await.expect_err("it has no terminal");
    assert_eq!(rejected.kind(), ErrorKind::InvalidRequest);
    plain.signal(ProcessSignal::Kill).await.expect("it is known");
}

#[tokio::test]
async fn commands_without_a_terminal_are_as_before() {
    let sandbox = sandbox();
    let script = "[ -t 0 ] || [ -t 1 ] || echo none; exec 3<>/dev/tty; stty; tty; echo $TERM";
    let response = sandbox.execute(tidebox::ExecuteRequest::new(script)).await.expect("the sandbox responds");
    let expected = "none\nbash: line 1: /dev/tty: No such device or address\n\
                    stty: 'standard input': Inappropriate ioctl for device\nnot a tty\ndumb\n";
    assert_eq!(response.output_text(), expected);
}

#[cfg(feature = "python")]
#[tokio::test]
async fn python_is_interactive_if_it_is_installed() {
    if !tidebox::Packs::user().ready().iter().any(|pack| pack.name() == "python") {
        assert!(std::env::var_os("CI").is_none(), "the pack python is missing");
        println!("skipped: the pack python is not installed; add it with `tidebox pack add python`");
        return;
    }
    let sandbox = sandbox();
    let mut python = Terminal::start(&sandbox, "python3 -i -q").await;
    python.expect(">>> ").await;
    python.press("import sys; sys.stdin.isatty(), 6 * 7\r").await;
    python.expect("(True, 42)\r\n>>> ").await;
    python.press("import time; time.sleep(100)\r").await;
    python.expect("\r\n").await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    python.press("\x03").await;
    python.expect("KeyboardInterrupt").await;
    python.expect(">>> ").await;
    python.press("\x04").await;
    assert_eq!(python.finish().await.0, Some(0));
}
