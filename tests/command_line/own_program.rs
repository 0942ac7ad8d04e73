//! A custom program, compiled by `rustc` and uploaded.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::run::{host_file, tidebox};

/// Reads standard input, prints its arguments, and reads and writes files.
const SOURCE: &str = r#"
use std::io::Read as _;
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some("upper") => {
            let mut text = String::new();
            std::io::stdin().read_to_string(&mut text)?;
            print!("{}", text.to_uppercase());
        }
        Some("copy") => {
            let text = std::fs::read_to_string(&arguments[1])?;
            std::fs::write(&arguments[2], text + "copied\n")?;
        }
        Some("fail") => std::process::exit(9),
        Some("panic") => panic!("as asked"),
        _ => println!("{arguments:?} {:?}", std::env::var("COLOUR")),
    }
    Ok(())
}
"#;

/// Compiles the program with plain `rustc`, without Tidebox libraries.
fn compiled(dir: &Path) -> PathBuf {
    let (source, module) = (dir.join("tool.rs"), dir.join("tool.wasm"));
    fs::write(&source, SOURCE).expect("the source can be written");
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let status = Command::new(rustc)
        .args(["--edition", "2024", "--target", "wasm32-wasip1", "-O", "-o"])
        .args([&module, &source])
        .status()
        .expect("rustc starts");
    assert!(status.success(), "the program compiles; `cargo xtask setup` installs the target");
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&module, executable).expect("the mode can be set");
    module
}

#[test]
fn an_uploaded_program_has_arguments_pipes_and_files() {
    let dir = tempfile::tempdir().expect("a temporary directory can be created");
    let file = format!("{}:/workspace/tool.wasm", compiled(dir.path()).display());
    let run = |line: &str| tidebox(&["exec", "--file", &file, "--env", "COLOUR=red", line]);

    let ran = run("./tool.wasm a 'b c'");
    assert_eq!(ran.stdout(), "[\"a\", \"b c\"] Ok(\"red\")\n", "{}", ran.stderr());
    assert_eq!(run("printf 'b\\na\\n' | ./tool.wasm upper | sort").stdout(), "A\nB\n");

    let ran = run("echo text >in.txt; ./tool.wasm copy in.txt out.txt; cat out.txt; ls");
    assert_eq!(ran.stdout(), "text\ncopied\nin.txt\nout.txt\ntool.wasm\n", "{}", ran.stderr());
    let ran = run("mkdir d; echo t >d/in; cd d; ../tool.wasm copy in /tmp/out; cat /tmp/out");
    assert_eq!(ran.stdout(), "t\ncopied\n", "{}", ran.stderr());

    assert_eq!(run("./tool.wasm fail; echo $?").stdout(), "9\n");
    let ran = run("./tool.wasm copy missing out; echo $?");
    assert_eq!(ran.stdout(), "1\n");
    assert!(ran.stderr().contains("NotFound") || ran.stderr().contains("No such file"), "{}", ran.stderr());

    let ran = run("./tool.wasm panic; echo $?");
    assert_ne!(ran.stdout(), "0\n");
    assert!(ran.stderr().contains("as asked"), "{}", ran.stderr());
}

#[test]
fn malformed_modules_are_rejected_with_a_message() {
    let dir = tempfile::tempdir().expect("a temporary directory can be created");
    for (name, bytes) in [
        ("magic-only", &b"\0asm\x01\0\0\0"[..]),
        ("truncated", b"\0asm\x01\0\0\0\x01\x7f\x60"),
        ("wrong-version", b"\0asm\x09\0\0\0"),
        ("component", b"\0asm\x0d\0\x01\0"),
        ("text", b"\x7fELF\x02\x01\x01"),
        ("empty-section-bomb", b"\0asm\x01\0\0\0\x0a\xff\xff\xff\xff\x0f"),
    ] {
        let file = host_file(dir.path(), name, bytes, true);
        let ran = tidebox(&["exec", "--file", &format!("{file}:/workspace/tool"), "./tool; echo \"code $?\"; ls"]);
        let stdout = ran.stdout();
        assert!(stdout.ends_with("tool\n") && !stdout.starts_with("code 0"), "{name}: {ran:?}");
        assert!(!ran.stderr.is_empty(), "{name} has no message");
        assert_eq!(ran.code, Some(0), "{name}");
    }
}
