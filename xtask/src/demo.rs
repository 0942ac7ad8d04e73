//! A short tour of the sandbox, by the command that a user types.

use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::project::Project;
use crate::setup;
use crate::step::Progress;

/// One step of the tour.
struct DemoStep {
    /// Title, in one line.
    shows: &'static str,
    /// Options of `tidebox exec` before the command.
    options: &'static [&'static str],
    /// The command line that the sandbox runs.
    command: &'static str,
    /// Expected exit code. The tour stops at any other one.
    exit_code: i32,
}

const DEMO_STEPS: &[DemoStep] = &[
    DemoStep {
        shows: "A pipeline of real programs, each a WebAssembly process with its own memory",
        options: &[],
        command: r#"printf "b\na\nc\n" | sort | tee sorted.txt | wc -l; cat sorted.txt"#,
        exit_code: 0,
    },
    DemoStep {
        shows: "Shell scripts as agents write them",
        options: &[],
        command: r#"for i in $(seq 1 5); do echo "$((i*i))"; done | grep -v 4 | sed "s/^/n=/" | sort -r"#,
        exit_code: 0,
    },
    DemoStep {
        shows: "A writer whose reader has gone ends at once, as on any Unix",
        options: &[],
        command: "yes | head -3",
        exit_code: 0,
    },
    DemoStep {
        shows: "Nothing of the host is inside: no files, no environment",
        options: &[],
        command: "cat /etc/passwd; env | sort; ls /",
        exit_code: 0,
    },
    DemoStep {
        shows: "An endless loop meets its deadline; what it printed before is kept",
        options: &["--timeout", "1"],
        command: "echo started; while :; do :; done",
        exit_code: 124,
    },
    DemoStep {
        shows: "The result as JSON, with what stopped the command and how much memory it took",
        options: &["--json"],
        command: "echo out; echo err >&2; exit 3",
        exit_code: 3,
    },
];

/// Prepares what is missing, then takes the tour.
pub(crate) fn demo(project: &Project, progress: &mut Progress) -> Result<()> {
    setup::setup(project, progress)?;
    println!();
    for stop in DEMO_STEPS {
        take(project, stop)?;
    }
    println!("Your turn: {} shell", project.tidebox().display());
    Ok(())
}

fn take(project: &Project, stop: &DemoStep) -> Result<()> {
    let options: String = stop.options.iter().map(|option| format!("{option} ")).collect();
    println!("# {}", stop.shows);
    println!("$ tidebox exec {options}{}", quoted(stop.command));
    std::io::stdout().flush().context("cannot write to stdout")?;
    let before = Instant::now();
    let status = Command::new(project.tidebox())
        .arg("exec")
        .args(stop.options)
        .arg(stop.command)
        .stdin(Stdio::null())
        .status()
        .context("cannot start tidebox; run `cargo xtask setup`")?;
    let elapsed = before.elapsed();
    if status.code() != Some(stop.exit_code) {
        bail!(
            "this command should have ended with exit code {} and ended with {status}; `cargo xtask test` finds out more",
            stop.exit_code
        );
    }
    println!("# exit code {}, {} ms in all\n", stop.exit_code, elapsed.as_millis());
    Ok(())
}

/// Quotes a word for a shell.
fn quoted(command: &str) -> String {
    format!("'{}'", command.replace('\'', r"'\''"))
}
