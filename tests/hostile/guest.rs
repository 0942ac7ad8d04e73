//! The directory `userland/hostile`: its table, and the guests in the form in which a sandbox runs them: commands of the
//! shell (`.sh`), modules and components as text (`.wat`), and Python programs (`.py`).

#![allow(dead_code, reason = "the benchmark of deadlines reads the same table, and less of it")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use tidebox::{ExecuteRequest, Limits, StopReason, Upload};

/// The table of all guests: `userland/hostile/guests.json`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Table {
    /// The security boundaries that guests attack, each with its guarantee.
    pub(crate) boundaries: BTreeMap<String, String>,
    pub(crate) guests: Vec<Guest>,
}

/// A guest, the limits and boundaries that it attacks, and its expected outcome.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Guest {
    /// The file: a script, a module or component as text, or a Python program.
    pub(crate) file: String,
    /// The guarantee that stops it. The name of its test.
    pub(crate) promise: String,
    /// Fields of `Limits` that it attacks.
    #[serde(default)]
    pub(crate) limits: Vec<String>,
    /// Boundaries that it attacks.
    #[serde(default)]
    pub(crate) boundaries: Vec<String>,
    /// Limits of its sandbox that differ from the defaults.
    #[serde(default)]
    pub(crate) with: BTreeMap<String, u64>,
    /// The command that runs a module or Python program, by default `./guest` or `python3 guest.py`.
    pub(crate) run: Option<String>,
    /// True if the command uses the sandbox's shell session.
    #[serde(default)]
    pub(crate) session: bool,
    /// Accepted exit codes. More than one if it is random which limit is reached first.
    pub(crate) exit: Vec<i32>,
    /// The stop reason of the response. `None`: none, or that of one of `limits` if the guest fails.
    pub(crate) stopped_by: Option<String>,
    /// Action at the output limit, by default `head`.
    #[serde(default)]
    pub(crate) output_overflow: Option<String>,
    /// Texts that standard error contains.
    #[serde(default)]
    pub(crate) stderr: Vec<String>,
    /// The complete standard output, if it is always the same.
    pub(crate) stdout: Option<String>,
    /// True if output over the limit was dropped.
    #[serde(default)]
    pub(crate) truncated: bool,
    /// Reason for not running it in JavaScript engines, whose tests use the same table.
    #[serde(default)]
    pub(crate) not_in_javascript: Option<String>,
}

pub(crate) fn guests_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("userland/hostile")
}

impl Table {
    pub(crate) fn read() -> Self {
        let text = fs::read_to_string(guests_dir().join("guests.json")).expect("the table of hostile guests exists");
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("userland/hostile/guests.json: {error}"))
    }
}

impl Guest {
    /// Returns whether it is a component instead of a module.
    pub(crate) fn is_component(&self) -> bool {
        self.file.starts_with("component_")
    }

    /// Returns whether it needs the pack `python`.
    pub(crate) fn needs_python(&self) -> bool {
        self.file.ends_with(".py")
    }

    /// Returns the file to upload before the command runs, if there is one.
    pub(crate) fn upload(&self) -> Option<Upload> {
        if self.file.ends_with(".wat") {
            Some(Upload::new("/workspace/guest", self.module()))
        } else if self.needs_python() {
            Some(Upload::new("/workspace/guest.py", self.text()))
        } else {
            None
        }
    }

    /// Returns the command that runs it.
    pub(crate) fn command(&self) -> String {
        if self.file.ends_with(".wat") {
            // Commands may remove the execute bit of an upload.
            format!("chmod +x guest; {}", self.run.as_deref().unwrap_or("./guest"))
        } else if self.needs_python() {
            self.run.clone().unwrap_or_else(|| "python3 guest.py".to_owned())
        } else {
            self.text()
        }
    }

    /// Returns its file with all repetitions expanded.
    pub(crate) fn text(&self) -> String {
        let text = fs::read_to_string(guests_dir().join(&self.file)).expect("the guest's file exists");
        written_out(&text)
    }

    /// Returns the module or component as bytes.
    fn module(&self) -> Vec<u8> {
        let broken = |error| panic!("userland/hostile/{}: {error}", self.file);
        wat::parse_str(self.text()).unwrap_or_else(broken)
    }

    /// Returns whether a response with this exit code may have this stop reason.
    pub(crate) fn accepts_stop(&self, exit_code: Option<i32>, stopped_by: Option<StopReason>) -> bool {
        let name = stopped_by.map(StopReason::as_str);
        match (&self.stopped_by, exit_code) {
            (Some(expected), _) => name == Some(expected.as_str()),
            // If the exit code is random, the stop reason must match it.
            (None, Some(124)) => name == Some("timeout"),
            (None, Some(0)) => name.is_none(),
            (None, _) => name.is_none_or(|name| self.limits.iter().any(|limit| stop_reason_of(limit) == Some(name))),
        }
    }

    /// Returns the request that runs it.
    pub(crate) fn request(&self) -> ExecuteRequest {
        let action = self.output_overflow.as_deref().unwrap_or_default();
        ExecuteRequest::new(self.command()).with_output_overflow(action.parse().unwrap_or_default())
    }

    pub(crate) fn limits(&self) -> Limits {
        let mut limits = Limits::default();
        // The load of the host must not affect how a guest ends.
        limits.wall_time = std::time::Duration::from_secs(120);
        for (name, value) in &self.with {
            set(&mut limits, name, *value);
        }
        limits
    }
}

/// Returns the stop reason of a command that failed after it reached a limit.
fn stop_reason_of(limit: &str) -> Option<&'static str> {
    Some(match limit {
        "process_memory_bytes" | "sandbox_memory_bytes" => "memory",
        "file_bytes" | "single_file_bytes" => "files",
        "inodes" => "inodes",
        "descriptors" | "pipe_bytes" => "descriptors",
        "processes" | "argument_bytes" => "processes",
        "nesting" => "nesting",
        _ => return None,
    })
}

/// Sets a limit by its name. Times are in milliseconds.
fn set(limits: &mut Limits, name: &str, value: u64) {
    let small = || u32::try_from(value).expect("a limit of 32 bits");
    match name {
        "wall_time" => limits.wall_time = std::time::Duration::from_millis(value),
        "cpu_time" => limits.cpu_time = Some(std::time::Duration::from_millis(value)),
        "process_memory_bytes" => limits.process_memory_bytes = value,
        "sandbox_memory_bytes" => limits.sandbox_memory_bytes = value,
        "processes" => limits.processes = small(),
        "descriptors" => limits.descriptors = small(),
        "pipe_bytes" => limits.pipe_bytes = small(),
        "sockets" => limits.sockets = small(),
        "output_bytes" => limits.output_bytes = value,
        "file_bytes" => limits.file_bytes = value,
        "single_file_bytes" => limits.single_file_bytes = value,
        "inodes" => limits.inodes = value,
        "path_bytes" => limits.path_bytes = small(),
        "symlink_depth" => limits.symlink_depth = small(),
        "argument_bytes" => limits.argument_bytes = small(),
        "module_bytes" => limits.module_bytes = value,
        "nesting" => limits.nesting = small(),
        "shell_state_bytes" => limits.shell_state_bytes = value,
        other => panic!("unknown limit {other}"),
    }
}

/// Expands repetitions: `@TEXT*1000@` represents TEXT 1000 times. Other text, and an `@` that starts no repetition, is
/// unchanged.
pub(crate) fn written_out(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('@') {
        out.push_str(before);
        let chunk = after.split_once('@').and_then(|(chunk, behind)| {
            let (repeated, times) = chunk.rsplit_once('*')?;
            Some((repeated, times.parse::<usize>().ok()?, behind))
        });
        match chunk {
            Some((repeated, times, behind)) => {
                out.push_str(&repeated.repeat(times));
                rest = behind;
            }
            None => {
                out.push('@');
                rest = after;
            }
        }
    }
    out + rest
}
