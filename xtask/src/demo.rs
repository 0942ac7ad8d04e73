//! A short tour of the sandbox, with the command `tidebox`.

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
    title: &'static str,
    /// Options of `tidebox exec` before the command.
    options: &'static [&'static str],
    /// The command line that the sandbox runs.
    command: &'static str,
    /// Expected exit code. The tour stops at any other one.
    exit_code: i32,
}

const DEMO_STEPS: &[DemoStep] = &[
    DemoStep {
        title: "A pipeline of real programs, each a WebAssembly process with its own memory",
        options: &[],
        command: r#"printf "b\na\nc\n" | sort | tee sorted.txt | wc -l; cat sorted.txt"#,
        exit_code: 0,
    },
    DemoStep {
        title: "Shell scripts as agents write them",
        options: &[],
        command: r#"for i in $(seq 1 5); do echo "$((i*i))"; done | grep -v 4 | sed "s/^/n=/" | sort -r"#,
        exit_code: 0,
    },
    DemoStep {
        title: "A writer is ended by SIGPIPE when its reader has exited",
        options: &[],
        command: "yes | head -3",
        exit_code: 0,
    },
    DemoStep {
        title: "The sandbox contains no files and no environment of the host",
        options: &[],
        command: "cat /etc/passwd; env | sort; ls /",
        exit_code: 0,
    },
    DemoStep {
        title: "An endless loop reaches its timeout; its output until then is returned",
        options: &["--timeout", "1"],
        command: "echo started; while :; do :; done",
        exit_code: 124,
    },
    DemoStep {
        title: "The result as JSON, with stop reason and peak memory",
        options: &["--json"],
        command: "echo out; echo err >&2; exit 3",
        exit_code: 3,
    },
];

/// Runs the setup, then the tour.
pub(crate) fn demo(project: &Project, progress: &mut Progress) -> Result<()> {
    setup::setup(project, progress)?;
    println!();
    for step in DEMO_STEPS {
        run_step(project, step)?;
    }
    println!("Try it: {} shell", project.tidebox().display());
    Ok(())
}

fn run_step(project: &Project, step: &DemoStep) -> Result<()> {
    let options: String = step.options.iter().map(|option| format!("{option} ")).collect();
    println!("# {}", step.title);
    println!("$ tidebox exec {options}{}", quote(step.command));
    std::io::stdout().flush().context("cannot write to stdout")?;
    let before = Instant::now();
    let status = Command::new(project.tidebox())
        .arg("exec")
        .args(step.options)
        .arg(step.command)
        .stdin(Stdio::null())
        .status()
        .context("cannot start tidebox; run `cargo xtask setup`")?;
    let elapsed = before.elapsed();
    if status.code() != Some(step.exit_code) {
        bail!("the command exited with {status} instead of exit code {}; run `cargo xtask test`", step.exit_code);
    }
    println!("# exit code {}, {} ms in total\n", step.exit_code, elapsed.as_millis());
    Ok(())
}

/// Quotes an argument for a shell.
fn quote(command: &str) -> String {
    format!("'{}'", command.replace('\'', r"'\''"))
}
