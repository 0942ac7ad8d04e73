//! State saved by a provider survives a restart of the program, even if the program is killed at any moment.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tidebox::{
    Durability, ErrorKind, ExecuteRequest, FolderLog, HostCall, ListRequest, Provider, SandboxBackend, SandboxBuilder,
    SandboxPath, SandboxProvider, Selector, ShellMode, StopReason, WriteRequest,
};

/// Environment variable that passes the directory to the child process, which is this test binary.
const DIR: &str = "TIDEBOX_TEST_FOLDER";

/// Number of children to kill: half of them during a save, the others at any moment.
const KILLED: u32 = 40;
/// Maximum time between two saves under load.
const SAVE_TIMEOUT: Duration = Duration::from_secs(60);

fn open(dir: &Path) -> tidebox::Result<Provider> {
    let shape = |new: SandboxBuilder| new.shell_mode(ShellMode::Persistent).host_tool("ask", handle_ask);
    tidebox::provider()?.sandbox(shape).save_in(dir).build()
}

async fn handle_ask(mut call: HostCall) -> u8 {
    call.stdout.write("42\n").await.map_or(141, |()| 0)
}

fn thread() -> Selector {
    Selector::labels([("thread", "1")])
}

fn numbered() -> SandboxPath {
    SandboxPath::parse("/workspace/number").expect("an absolute path")
}

/// Incompressible bytes with a number at the start and at the end, so that a partial file is detected.
fn content(number: u64) -> Vec<u8> {
    let mut state = number.wrapping_add(1);
    let mut bytes = format!("{number:08}").into_bytes();
    for _ in 0..40_000 {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        bytes.extend_from_slice(&state.to_le_bytes());
    }
    bytes.extend_from_slice(format!("{number:08}").as_bytes());
    bytes
}

async fn number(sandbox: &dyn SandboxBackend) -> Option<u64> {
    let downloads = sandbox.download_files(vec![b"/workspace/number".to_vec()]).await.expect("the sandbox is open");
    let bytes = downloads.into_iter().next()?.result.ok()?;
    let number = std::str::from_utf8(&bytes[..8]).expect("digits").parse().expect("a number");
    assert!(bytes == content(number), "the file of save {number} is whole");
    Some(number)
}

/// The child: saves one number after the other, and prints each number after it is saved.
#[test]
#[ignore = "it runs until it is killed, and is started by the test below"]
fn a_program_that_saves_until_it_is_killed() {
    let dir = std::env::var_os(DIR).expect("the parent passes the directory");
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
        let provider = open(Path::new(&dir)).unwrap();
        let sandbox = provider.get_or_create(thread()).await.unwrap();
        let first = number(&*sandbox).await.map_or(0, |number| number + 1);
        for number in first.. {
            sandbox.write(WriteRequest::new(numbered(), content(number))).await.unwrap().unwrap();
            eprintln!("saved {number}");
        }
    });
}

fn start(dir: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "a_program_that_saves_until_it_is_killed", "--ignored", "--nocapture"])
        .env(DIR, dir)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("this test program starts again")
}

/// Reports whether a save is in progress: its file has a temporary name until it is complete.
fn is_saving(dir: &Path) -> bool {
    let names = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name());
    names.into_iter().any(|name| name.as_encoded_bytes().starts_with(b".tidebox-"))
}

fn wait_for_save(dir: &Path) {
    let end = Instant::now() + SAVE_TIMEOUT;
    while !is_saving(dir) {
        assert!(Instant::now() < end, "the child saves again within {SAVE_TIMEOUT:?}");
        std::thread::sleep(Duration::from_micros(100));
    }
}

#[test]
fn a_kill_during_saving_loses_no_saved_state() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().join("sandboxes");
    let (mut last, mut in_the_middle) = (None, 0);
    for round in 0..KILLED {
        let mut child = start(&dir);
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
        let first = lines.by_ref().find(|line| line.starts_with("saved ")).expect("the child saves something");
        if round % 2 == 0 {
            wait_for_save(&dir);
        } else {
            std::thread::sleep(Duration::from_micros(u64::from(round) * 977));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let reported =
            std::iter::once(first).chain(lines).filter_map(|line| line.strip_prefix("saved ")?.parse().ok()).last();
        let reported: u64 = reported.expect("a number");
        assert!(last < Some(reported), "round {round}: every child continues where the previous one was killed");
        in_the_middle += u32::from(is_saving(&dir));
        let found = tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
            let provider = open(&dir).unwrap();
            let sandboxes = provider.list(ListRequest::default()).await.unwrap().sandboxes;
            assert_eq!(sandboxes.len(), 1);
            number(&*provider.get_or_create(thread()).await.unwrap()).await.expect("something was saved")
        });
        // A state that was saved but not yet printed may exist, too.
        assert!(found == reported || found == reported + 1, "round {round}: reported {reported}, found {found}");
        last = Some(reported);
    }
    assert!(in_the_middle > 0, "no child was killed in the middle of a save");
}

#[tokio::test]
async fn files_shell_session_and_id_survive_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let id = {
        let provider = open(dir.path()).unwrap();
        let sandbox = provider.get_or_create(thread()).await.unwrap();
        for command in
            ["mkdir -p src && cd src && echo 'hi' > a.txt && chmod 600 a.txt", "greet() { echo \"hello $1\"; }; X=5"]
        {
            assert_eq!(sandbox.execute(ExecuteRequest::new(command)).await.unwrap().exit_code, Some(0));
        }
        sandbox.id().clone()
    };
    let provider = open(dir.path()).unwrap();
    let sandbox = provider.get_or_create(Selector::Id(id)).await.unwrap();
    let command = "pwd; greet $X; cat a.txt; stat -c %a a.txt; ask";
    let response = sandbox.execute(ExecuteRequest::new(command)).await.unwrap();
    assert_eq!(response.output_text(), "/workspace/src\nhello 5\nhi\n600\n42\n");
}

#[tokio::test]
async fn a_directory_of_an_earlier_version_is_converted() {
    let dir = tempfile::tempdir().unwrap();
    for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/saved")).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), dir.path().join(entry.file_name())).unwrap();
    }
    for expected in ["2000\nsecond\n", "2001\nsecond\n"] {
        let provider = open(dir.path()).unwrap();
        let sandbox = provider.get_or_create(Selector::labels([("name", "default")])).await.unwrap();
        let command =
            "pwd; echo $NAME; cat ../link; stat -c %a ../numbers; wc -l < ../numbers; cat b.txt; echo x >> ../numbers";
        let response = sandbox.execute(ExecuteRequest::new(command)).await.unwrap();
        assert_eq!(response.output_text(), format!("/workspace/notes\nvalue\nfirst\n600\n{expected}"));
    }
}

#[tokio::test]
async fn two_programs_take_a_sandbox_over_from_each_other() {
    let dir = tempfile::tempdir().unwrap();
    let open = || {
        let log = std::sync::Arc::new(FolderLog::open(dir.path()).unwrap());
        tidebox::provider().unwrap().save_log(log).build().unwrap()
    };
    let (one, two) = (open(), open());
    assert_eq!(
        (one.durability(), tidebox::provider().unwrap().build().unwrap().durability()),
        (Durability::Local, Durability::Memory)
    );
    let first = one.get_or_create(thread()).await.unwrap();
    first.execute(ExecuteRequest::new("echo one > who")).await.unwrap();
    let second = two.get_or_create(thread()).await.unwrap();
    assert_eq!(second.id(), first.id());
    assert_eq!(second.execute(ExecuteRequest::new("cat who; echo two > who")).await.unwrap().output_text(), "one\n");
    let error = first.execute(ExecuteRequest::new("echo lost > who")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Closed);
    let back = one.get_or_create(thread()).await.unwrap();
    assert_eq!(back.execute(ExecuteRequest::new("cat who")).await.unwrap().output_text(), "two\n");
}

#[tokio::test]
async fn an_expired_lifetime_ends_running_commands() {
    let lifetime = Duration::from_secs(2);
    let provider = tidebox::provider().unwrap().max_lifetime(lifetime).build().unwrap();
    let sandbox = provider.get_or_create(thread()).await.unwrap();
    let sweep = async {
        tokio::time::sleep(lifetime).await;
        provider.delete_expired().await.unwrap()
    };
    let (response, swept) = tokio::join!(sandbox.execute(ExecuteRequest::new("echo begun; sleep 60")), sweep);
    let response = response.unwrap();
    assert_eq!((response.stopped_by, response.stdout.as_slice()), (Some(StopReason::Cancelled), &b"begun\n"[..]));
    assert_eq!(swept, [sandbox.id().clone()]);
    assert_eq!(sandbox.execute(ExecuteRequest::new("true")).await.unwrap_err().kind(), ErrorKind::Closed);
}

#[tokio::test]
async fn two_programs_cannot_share_a_directory() {
    let dir = tempfile::tempdir().unwrap();
    let provider = open(dir.path()).unwrap();
    let second = open(dir.path()).unwrap_err();
    assert_eq!(second.kind(), ErrorKind::Storage);
    assert!(second.message().contains("used by another program"), "{second}");
    let sandbox = provider.get_or_create(thread()).await.unwrap();
    drop(provider);
    assert!(open(dir.path()).is_err(), "a sandbox that is still held may still be saved");
    drop(sandbox);
    open(dir.path()).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_requests_for_a_thread_get_one_sandbox() {
    let provider = std::sync::Arc::new(tidebox::provider().unwrap().labels([("app", "test")]).build().unwrap());
    let asking: Vec<_> = (0..64)
        .map(|number| {
            let provider = std::sync::Arc::clone(&provider);
            tokio::spawn(async move {
                let thread = Selector::labels([("thread", format!("{}", number % 4))]);
                let sandbox = provider.get_or_create(thread).await.unwrap();
                sandbox.execute(ExecuteRequest::new(format!("echo {number} >> asked"))).await.unwrap();
                sandbox.id().clone()
            })
        })
        .collect();
    let mut ids = std::collections::BTreeSet::new();
    for requested in asking {
        ids.insert(requested.await.unwrap());
    }
    assert_eq!(ids.len(), 4);
    for id in ids {
        let sandbox = provider.get_or_create(Selector::Id(id)).await.unwrap();
        let lines = sandbox.execute(ExecuteRequest::new("wc -l < asked")).await.unwrap();
        assert_eq!(lines.stdout_text().trim(), "16");
    }
}
