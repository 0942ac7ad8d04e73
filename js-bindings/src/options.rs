//! Options as JavaScript gives them. `js/options.ts` has checked their types already; what is missing is absent.

use js_sys::Array;
use tidebox_core::{Limits, ShellMode};
pub(crate) use tidebox_js_shapes::value::{bytes, count, duration, entries, get, list, text, variables, whole};
use tidebox_kernel::fs::MountMode;
use wasm_bindgen::JsValue;

use crate::program::Listed;

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

/// The list of programs that comes with the package.
pub(crate) fn programs(list: &JsValue) -> Vec<Listed> {
    Array::from(list)
        .iter()
        .map(|program| Listed {
            file: text(&program, "file").unwrap_or_default(),
            bytes: count(&program, "bytes").and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(0),
            digest: text(&program, "sha256").unwrap_or_default(),
            commands: Array::from(&get(&program, "commands")).iter().filter_map(|name| name.as_string()).collect(),
        })
        .collect()
}

/// The defaults, and what is said otherwise.
pub(crate) fn limits(given: &JsValue) -> Limits {
    let mut limits = Limits::default();
    if let Some(time) = duration(given, "wallTimeMs") {
        limits.wall_time = time;
    }
    let wide: [(&str, &mut u64); 8] = [
        ("processMemoryBytes", &mut limits.process_memory_bytes),
        ("sandboxMemoryBytes", &mut limits.sandbox_memory_bytes),
        ("outputBytes", &mut limits.output_bytes),
        ("fileBytes", &mut limits.file_bytes),
        ("singleFileBytes", &mut limits.single_file_bytes),
        ("inodes", &mut limits.inodes),
        ("moduleBytes", &mut limits.module_bytes),
        ("shellStateBytes", &mut limits.shell_state_bytes),
    ];
    for (name, limit) in wide {
        if let Some(value) = count(given, name) {
            *limit = value;
        }
    }
    let narrow: [(&str, &mut u32); 7] = [
        ("processes", &mut limits.processes),
        ("descriptors", &mut limits.descriptors),
        ("pipeBytes", &mut limits.pipe_bytes),
        ("pathBytes", &mut limits.path_bytes),
        ("symlinkDepth", &mut limits.symlink_depth),
        ("argumentBytes", &mut limits.argument_bytes),
        ("nesting", &mut limits.nesting),
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

/// Most of [`Limits::nesting`] where guests have stacks of their own. V8 gives them 984 KiB, a third of what the native engine does; the
/// shell ends what nests deeper by a message, where it would end by an overflow.
const SUSPENDED_NESTING: u32 = 320;
