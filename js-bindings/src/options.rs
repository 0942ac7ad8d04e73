//! Options as JavaScript gives them. `js/options.ts` has checked their types already; what is missing is absent.

use std::time::Duration;

use js_sys::{Array, Object, Reflect, Uint8Array};
use tidebox_core::{Limits, ShellMode};
use tidebox_kernel::fs::MountMode;
use wasm_bindgen::{JsCast, JsValue};

use crate::program::Listed;

/// A property; `undefined` for one that cannot be read.
pub(crate) fn get(object: &JsValue, name: &str) -> JsValue {
    Reflect::get(object, &JsValue::from_str(name)).unwrap_or(JsValue::UNDEFINED)
}

pub(crate) fn text(object: &JsValue, name: &str) -> Option<String> {
    get(object, name).as_string()
}

pub(crate) fn number(object: &JsValue, name: &str) -> Option<f64> {
    get(object, name).as_f64()
}

/// A count. JavaScript's numbers hold up to 2^53 exactly; more, and infinity, mean the most there is.
pub(crate) fn count(object: &JsValue, name: &str) -> Option<u64> {
    number(object, name).map(whole)
}

/// The whole part, 0 for what is negative and for what is no number.
pub(crate) fn whole(number: f64) -> u64 {
    number as u64
}

pub(crate) fn duration(object: &JsValue, name: &str) -> Option<Duration> {
    let milliseconds = number(object, name)?;
    Some(Duration::try_from_secs_f64(milliseconds.max(0.0) / 1e3).unwrap_or(Duration::MAX))
}

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

/// Text as its UTF-8, bytes as they are.
pub(crate) fn bytes(value: &JsValue) -> Vec<u8> {
    match value.as_string() {
        Some(text) => text.into_bytes(),
        None => value.dyn_ref::<Uint8Array>().map(Uint8Array::to_vec).unwrap_or_default(),
    }
}

/// Names and values of an object, in its order.
pub(crate) fn entries(object: &JsValue) -> Vec<(String, JsValue)> {
    let Some(object) = object.dyn_ref::<Object>() else { return Vec::new() };
    Object::entries(object)
        .iter()
        .map(|entry| {
            let entry = Array::from(&entry);
            (entry.get(0).as_string().unwrap_or_default(), entry.get(1))
        })
        .collect()
}

/// The items of an array; none of what is none.
pub(crate) fn list(value: &JsValue) -> Vec<JsValue> {
    value.dyn_ref::<Array>().map(Array::to_vec).unwrap_or_default()
}

/// Names and texts of an object.
pub(crate) fn variables(object: &JsValue) -> Vec<(String, String)> {
    entries(object).into_iter().map(|(name, value)| (name, value.as_string().unwrap_or_default())).collect()
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
