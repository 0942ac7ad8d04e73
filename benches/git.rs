//! Git in the sandbox and on the host in one run: times, their ratio, and memory.
//!
//! `cargo bench --bench git` creates a repository of 10,000 files and 5,000 commits with the Git of the host, and copies it into the
//! sandbox. Reading commands are the best of five runs, writing ones a single run. Without the pack `git`, or without Git on the
//! host, it prints that and ends. `cargo test --bench git` runs everything once with a small repository.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tidebox::{ExecuteRequest, Limits, Packs, Sandbox, SandboxBackend, Upload};

/// Size of the repository.
#[derive(Clone, Copy, Debug)]
struct Size {
    directories: usize,
    files_per_directory: usize,
    commits: usize,
}

const FULL: Size = Size { directories: 1000, files_per_directory: 10, commits: 5000 };
const SMALL: Size = Size { directories: 20, files_per_directory: 5, commits: 60 };

/// Lines of the file for `blame`. Each commit changes one of them.
const HOT_LINES: usize = 40;

/// The measured commands: label, preparation without measurement, command, and whether it changes the repository.
struct Row {
    label: &'static str,
    prepare: &'static str,
    command: String,
    writes: bool,
}

/// Processor time is shared with other programs, so the best run counts.
const RUNS: usize = 5;

fn rows(size: Size) -> Vec<Row> {
    let read = |label, command: &str| Row { label, prepare: ":", command: command.to_owned(), writes: false };
    let write = |label, prepare, command: String| Row { label, prepare, command, writes: true };
    let back = size.commits * 2 / 5;
    let near = size.commits / 10;
    vec![
        read("git --version", "git --version"),
        read("rev-parse HEAD", "git rev-parse HEAD"),
        read("status, clean", "git status"),
        read("diff, clean", "git diff"),
        read("log --oneline", "git log --oneline"),
        read("log --oneline -20", "git log --oneline -20"),
        read("log -p -20", "git log -p -20"),
        read("log -- PATH", "git log --oneline -- d1/f1"),
        read("diff --stat, a tenth of the history", &format!("git diff --stat HEAD~{near}")),
        read("blame, 40 lines of all commits", "git blame hot"),
        read("grep -n", "git grep -n needle"),
        write("status, all files touched", "find . -name .git -prune -o -type f -exec touch {} +", "git status".into()),
        write(
            "add -A of as many new files",
            "mkdir -p /tmp/new && cp -r d* /tmp/new && mkdir new && mv /tmp/new/* new",
            "git add -A".into(),
        ),
        write("commit of them", ":", "git commit -q -m new".into()),
        write("checkout, two fifths of the history back", ":", format!("git checkout -q HEAD~{back}")),
        write("checkout, forward", ":", "git checkout -q main".into()),
        write("clone --no-local", "rm -rf /tmp/clone", "git clone -q --no-local . /tmp/clone".into()),
        write("fsck", "rm -rf /tmp/clone", "git fsck --no-progress".into()),
        write("gc", ":", "git gc -q".into()),
    ]
}

fn main() {
    let is_measured = std::env::args().any(|argument| argument == "--bench");
    let size = if is_measured { FULL } else { SMALL };
    if !Packs::user().ready().iter().any(|pack| pack.name() == "git") {
        eprintln!("skipped: the pack git is not installed; run `cargo xtask pack git`, then `tidebox pack add git`");
        return;
    }
    let Some(version) = native_version() else {
        eprintln!("skipped: the host has no Git to compare with");
        return;
    };
    let dir = tempfile::tempdir().expect("a directory is created");
    let repository = dir.path().join("repository");
    create(&repository, size);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let sandbox = runtime.block_on(copy(&repository, dir.path()));
    eprintln!("{} files, {} commits; host: {version}", size.directories * size.files_per_directory, size.commits);
    eprintln!("| command | sandbox | host | ratio | memory |\n|---|---|---|---|---|");
    for row in rows(size) {
        let runs = if row.writes || !is_measured { 1 } else { RUNS };
        let ours = (0..runs).map(|_| runtime.block_on(inside(&sandbox, &row))).min().expect("at least one run");
        let theirs = (0..runs).map(|_| outside(&repository, dir.path(), &row)).min().expect("at least one run");
        let ratio = ours.0.as_secs_f64() / theirs.as_secs_f64();
        let (label, memory) = (row.label, ours.1 as f64 / f64::from(1 << 20));
        eprintln!("| {label} | {} | {} | {ratio:.1} | {memory:.1} MiB |", format_time(ours.0), format_time(theirs));
    }
}

/// The Git of the distribution, which is the version that the pack has on Debian 12; otherwise the first on the path.
fn git() -> &'static str {
    if Path::new("/usr/bin/git").exists() { "/usr/bin/git" } else { "git" }
}

fn native_version() -> Option<String> {
    let output = Command::new(git()).arg("--version").output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Returns a command of the host without its configuration.
fn native(program: &str, dir: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(dir).env("GIT_CONFIG_NOSYSTEM", "1").env("HOME", dir).stdin(Stdio::null());
    for (key, value) in IDENTITY {
        command.env(key, value);
    }
    command
}

const IDENTITY: [(&str, &str); 4] = [
    ("GIT_AUTHOR_NAME", "A"),
    ("GIT_AUTHOR_EMAIL", "a@example.com"),
    ("GIT_COMMITTER_NAME", "A"),
    ("GIT_COMMITTER_EMAIL", "a@example.com"),
];

/// Creates the repository by `fast-import`, with one pack and a work tree.
fn create(repository: &Path, size: Size) {
    std::fs::create_dir(repository).expect("the directory is new");
    run_native(native(git(), repository).args(["init", "-q", "-b", "main"]));
    let mut import = native(git(), repository);
    let mut child = import.args(["fast-import", "--quiet"]).stdin(Stdio::piped()).spawn().expect("git starts");
    let mut input = child.stdin.take().expect("piped");
    input.write_all(history(size).as_bytes()).expect("git reads the history");
    drop(input);
    assert!(child.wait().expect("git ends").success());
    run_native(native(git(), repository).args(["repack", "-a", "-d", "-f", "-q"]));
    run_native(native(git(), repository).args(["checkout", "-q", "-f", "main"]));
}

fn run_native(command: &mut Command) {
    assert!(command.stdout(Stdio::null()).status().expect("git starts").success(), "{command:?}");
}

/// Returns a stream for `fast-import`: a commit with all files, then commits that each change four files and a line of `hot`.
fn history(size: Size) -> String {
    let mut stream = String::new();
    let mut hot: Vec<usize> = vec![0; HOT_LINES];
    let files = size.directories * size.files_per_directory;
    for commit in 0..size.commits {
        let time = 1_700_000_000 + commit * 60;
        let message = format!("commit {commit}\n");
        writeln!(stream, "commit refs/heads/main\ncommitter A <a@example.com> {time} +0000").expect("writable");
        writeln!(stream, "data {}\n{message}", message.len()).expect("writable");
        let changed: Vec<usize> = match commit {
            0 => (0..files).collect(),
            _ => (0..4).map(|at| (commit * 7919 + at * 104_729) % files).collect(),
        };
        for file in changed {
            let path = format!("d{}/f{}", file / size.files_per_directory, file % size.files_per_directory);
            put(&mut stream, &path, &content(file, commit));
        }
        hot[commit % HOT_LINES] = commit;
        let lines: String =
            hot.iter().enumerate().map(|(line, commit)| format!("line {line} of commit {commit}\n")).collect();
        put(&mut stream, "hot", &lines);
    }
    stream
}

fn put(stream: &mut String, path: &str, content: &str) {
    writeln!(stream, "M 100644 inline {path}\ndata {}\n{content}", content.len()).expect("writable");
}

/// About 600 bytes, which differ in one line between commits.
fn content(file: usize, commit: usize) -> String {
    let mut text = format!("file {file} commit {commit}\n");
    for line in 0..20 {
        let value = (file + 1) * (line + 17) * 2_654_435_761 % 1_000_003;
        writeln!(text, "{value} lorem ipsum {line}").expect("writable");
    }
    if file.is_multiple_of(50) {
        text.push_str("a needle\n");
    }
    text
}

/// Copies the repository into a new sandbox with room for it.
async fn copy(repository: &Path, dir: &Path) -> Sandbox {
    let mut limits = Limits::default();
    limits.wall_time = Duration::from_secs(600);
    (limits.file_bytes, limits.single_file_bytes) = (2 << 30, 1 << 30);
    let mut builder = tidebox::sandbox().expect("the engine starts").limits(limits);
    for (key, value) in IDENTITY {
        builder = builder.env(key, value);
    }
    let sandbox = builder.build().expect("the sandbox is built");
    let archive: PathBuf = dir.join("repository.tar");
    run_native(Command::new("tar").arg("-C").arg(repository).arg("-cf").arg(&archive).arg("."));
    let bytes = std::fs::read(&archive).expect("the archive exists");
    sandbox.upload_files(vec![Upload::new("/tmp/repository.tar", bytes)]).await.expect("the sandbox responds");
    let command = "mkdir repository && tar -C repository -xf /tmp/repository.tar && rm /tmp/repository.tar && cd repository && git status -s";
    succeed(&sandbox, command).await;
    run_native(native(git(), repository).arg("status"));
    sandbox
}

async fn succeed(sandbox: &Sandbox, command: &str) -> u64 {
    let response = sandbox.execute(ExecuteRequest::new(command)).await.expect("the sandbox runs");
    assert_eq!(response.exit_code, Some(0), "{command}: {}", response.stderr_text());
    response.peak_memory_bytes
}

/// Returns the time and the peak memory of a command in the sandbox.
async fn inside(sandbox: &Sandbox, row: &Row) -> (Duration, u64) {
    succeed(sandbox, &format!("cd repository && {}", row.prepare)).await;
    let command = format!("cd repository && exec {} > /dev/null", row.command);
    let start = Instant::now();
    let memory = succeed(sandbox, &command).await;
    (start.elapsed(), memory)
}

/// Returns the time of a command on the host. `/tmp` is a separate directory.
fn outside(repository: &Path, dir: &Path, row: &Row) -> Duration {
    let temporary = dir.join("tmp");
    std::fs::create_dir_all(&temporary).expect("the directory can be created");
    let local = |text: &str| text.replace("/tmp", &temporary.to_string_lossy());
    run_native(native("bash", repository).args(["-c", &local(row.prepare)]));
    let command = local(&row.command).replacen("git", git(), 1);
    let mut words = command.split(' ');
    let mut measured = native(words.next().expect("a command has a name"), repository);
    measured.args(words);
    let start = Instant::now();
    run_native(&mut measured);
    start.elapsed()
}

fn format_time(time: Duration) -> String {
    let ms = time.as_secs_f64() * 1e3;
    if ms < 10.0 { format!("{ms:.2} ms") } else { format!("{ms:.0} ms") }
}
