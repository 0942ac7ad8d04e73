//! Runs a guest in a separate sandbox and checks the state afterwards.

use std::io::Write as _;

use tidebox::{ExecuteRequest, ExecuteResponse, Packs, Sandbox, SandboxBackend, ShellMode};

use crate::guest::{Guest, Table};

/// Maximum number of bytes of a stream in an assertion message.
const SHOWN: usize = 600;

/// Runs the guest and compares its outcome with the table.
pub(crate) fn hold(guest: &Guest) {
    if guest.needs_python() && !has_python() {
        return;
    }
    let runtime = runtime();
    runtime.block_on(async {
        let sandbox = sandbox(guest);
        let before = inside(&sandbox).await;
        bring(&sandbox, guest).await;
        let ended = run(&sandbox, guest).await;
        expect(guest, &ended);
        let left = sandbox.resource_usage();
        let nothing = [left.commands, left.processes, left.open_files, left.pipes];
        let bytes = [left.memory_bytes, left.pipe_bytes, left.argument_bytes];
        assert_eq!((nothing, bytes), ([0; 4], [0; 3]), "the guest has left something: {left:?}");
        assert_eq!(inside(&sandbox).await, before, "the sandbox goes on as before");
    });
}

/// Returns whether the pack `python` is installed, and prints how to add it otherwise. Tests in CI fail without it.
fn has_python() -> bool {
    let ready = Packs::user().ready().iter().any(|pack| pack.name() == "python");
    let reason = "the pack python is not installed; add it with `tidebox pack add python`";
    assert!(ready || std::env::var_os("CI").is_none(), "{reason}");
    if !ready {
        writeln!(std::io::stderr(), "skipped: {reason}").expect("standard error is open");
    }
    ready
}

fn expect(guest: &Guest, ended: &ExecuteResponse) {
    let reported = describe(ended);
    assert!(ended.exit_code.is_some_and(|code| guest.exit.contains(&code)), "{reported}");
    assert!(guest.accepts_stop(ended.exit_code, ended.stopped_by), "{reported}");
    assert_eq!(ended.truncated, guest.truncated, "{reported}");
    for words in &guest.stderr {
        assert!(ended.stderr_text().contains(words), "standard error lacks {words:?}\n{reported}");
    }
    if let Some(stdout) = &guest.stdout {
        assert_eq!(ended.stdout_text(), stdout.as_str(), "{reported}");
    }
    let limits = guest.limits();
    assert!(ended.peak_memory_bytes <= limits.sandbox_memory_bytes, "{reported}");
}

/// Prints the outcome of each guest whose file name contains `wanted`.
pub(crate) fn show(table: &Table, wanted: &str) {
    let runtime = runtime();
    for guest in table.guests.iter().filter(|guest| guest.file.contains(wanted)) {
        let (ended, took) = runtime.block_on(async {
            let sandbox = sandbox(guest);
            bring(&sandbox, guest).await;
            let started = std::time::Instant::now();
            (run(&sandbox, guest).await, started.elapsed())
        });
        let lines = format!("== {} ({took:?})\n{}\n", guest.file, describe(&ended));
        std::io::stdout().write_all(lines.as_bytes()).expect("standard output is open");
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime starts")
}

fn sandbox(guest: &Guest) -> Sandbox {
    let builder = tidebox::sandbox().expect("the engine starts").limits(guest.limits()).env("SECRET_OF_GUEST", "given");
    builder.build().expect("the sandbox is built")
}

/// Uploads the file of a guest to the path of its command.
async fn bring(sandbox: &Sandbox, guest: &Guest) {
    if let Some(upload) = guest.upload() {
        let responses = sandbox.upload_files(vec![upload]).await.expect("the sandbox responds");
        assert!(responses.iter().all(|response| response.result.is_ok()), "{responses:?}");
    }
}

async fn run(sandbox: &Sandbox, guest: &Guest) -> ExecuteResponse {
    let mut request = guest.request();
    if guest.session {
        request = request.with_shell_mode(ShellMode::Persistent);
    }
    sandbox.execute(request).await.expect("the sandbox responds")
}

/// Lists the sandbox's processes, and checks that a command can read, write and start programs.
async fn inside(sandbox: &Sandbox) -> String {
    let look = "cd /tmp; rm -rf /workspace/* /tmp/*; set -- /proc/[0-9]*; echo $#; ls /proc/self/fd | wc -l; \
                seq 100 > numbers; sort -rn numbers | head -1; rm numbers; ls -d /bin /etc /workspace";
    let request = ExecuteRequest::new(look).with_timeout(std::time::Duration::from_secs(120));
    sandbox.execute(request).await.expect("the sandbox responds").output_text().into_owned()
}

fn describe(ended: &ExecuteResponse) -> String {
    let end = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let skipped = text.chars().count().saturating_sub(SHOWN);
        text.chars().skip(skipped).collect::<String>()
    };
    format!(
        "exit {:?}, stopped by {:?}, truncated {}, peak {} KiB, took {:?}\nstdout ({} bytes): {}\nstderr: {}",
        ended.exit_code,
        ended.stopped_by,
        ended.truncated,
        ended.peak_memory_bytes >> 10,
        ended.duration,
        ended.stdout.len(),
        end(&ended.stdout),
        end(&ended.stderr),
    )
}
