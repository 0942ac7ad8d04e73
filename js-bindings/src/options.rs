//! Reads options from JavaScript. `js/options.ts` has checked their types; missing ones are `undefined`.

use js_sys::Array;
use tidebox_core::{Limits, ShellMode};
pub(crate) use tidebox_js_values::value::{bytes, count, duration, entries, get, list, text, to_integer, variables};
use tidebox_kernel::fs::MountMode;
use wasm_bindgen::JsValue;

use crate::program::PackageProgram;

pub(crate) fn shell_mode(mode: &str) -> ShellMode {
    if mode == "persistent" { ShellMode::Persistent } else { ShellMode::Fresh }
}

pub(crate) fn mount_mode(mode: &str) -> MountMode {
    match mode {
        "readWrite" => MountMode::ReadWrite,
        "copyOnWrite" => MountMode::CopyOnWrite,
        _ => MountMode::ReadOnly,
    }
}

/// Reads the list of programs of the package.
pub(crate) fn programs(list: &JsValue) -> Vec<PackageProgram> {
    Array::from(list)
        .iter()
        .map(|program| PackageProgram {
            file: text(&program, "file").unwrap_or_default(),
            bytes: count(&program, "bytes").and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(0),
            digest: text(&program, "sha256").unwrap_or_default(),
            commands: Array::from(&get(&program, "commands")).iter().filter_map(|name| name.as_string()).collect(),
        })
        .collect()
}

/// Reads limits. Missing ones have their defaults.
pub(crate) fn limits(given: &JsValue) -> Limits {
    let mut limits = Limits::default();
    if let Some(time) = duration(given, "wallTimeMs") {
        limits.wall_time = time;
    }
    limits.cpu_time = duration(given, "cpuTimeMs");
    if let Some(time) = duration(given, "backgroundTimeMs") {
        limits.background_time = time;
    }
    let wide: [(&str, &mut u64); 10] = [
        ("processMemoryBytes", &mut limits.process_memory_bytes),
        ("sandboxMemoryBytes", &mut limits.sandbox_memory_bytes),
        ("outputBytes", &mut limits.output_bytes),
        ("fileBytes", &mut limits.file_bytes),
        ("singleFileBytes", &mut limits.single_file_bytes),
        ("inodes", &mut limits.inodes),
        ("moduleBytes", &mut limits.module_bytes),
        ("shellStateBytes", &mut limits.shell_state_bytes),
        ("backgroundOutputBytes", &mut limits.background_output_bytes),
        ("backgroundMemoryBytes", &mut limits.background_memory_bytes),
    ];
    for (name, limit) in wide {
        if let Some(value) = count(given, name) {
            *limit = value;
        }
    }
    let narrow: [(&str, &mut u32); 10] = [
        ("processes", &mut limits.processes),
        ("descriptors", &mut limits.descriptors),
        ("pipeBytes", &mut limits.pipe_bytes),
        ("sockets", &mut limits.sockets),
        ("pathBytes", &mut limits.path_bytes),
        ("symlinkDepth", &mut limits.symlink_depth),
        ("argumentBytes", &mut limits.argument_bytes),
        ("nesting", &mut limits.nesting),
        ("backgroundProcesses", &mut limits.background_processes),
        ("backgroundCpuPercent", &mut limits.background_cpu_percent),
    ];
    for (name, limit) in narrow {
        if let Some(value) = count(given, name) {
            *limit = u32::try_from(value).unwrap_or(u32::MAX);
        }
    }
    if crate::engine::suspends() {
        limits.nesting = limits.nesting.min(SUSPENDED_NESTING);
    }
    limits
}

/// Maximum of [`Limits::nesting`] if guests have their own stacks. V8 limits them to 984 KiB, a third of the native engine; the
/// shell reports deeper nesting with an error message before the stack overflows.
const SUSPENDED_NESTING: u32 = 320;
