//! The test program, as a module and as a component. The name under which it is started selects its behaviour.

use std::path::Path;
use std::sync::{Arc, LazyLock};

use tidebox::SandboxBuilder;

pub(crate) static MODULE: LazyLock<Arc<[u8]>> = LazyLock::new(|| read("test_tool.wasm"));
pub(crate) static COMPONENT: LazyLock<Arc<[u8]>> = LazyLock::new(|| read("test_tool.component.wasm"));

/// A separate program, for WASI 0.3.
pub(crate) static COMPONENT_P3: LazyLock<Arc<[u8]>> = LazyLock::new(|| read("test_tool_p3.component.wasm"));

fn read(name: &str) -> Arc<[u8]> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("userland/dist").join(name);
    let bytes = std::fs::read(&path);
    bytes.unwrap_or_else(|error| panic!("{}: {error}\nrun `cargo xtask userland`", path.display())).into()
}

/// Creates a sandbox with the program under all names that it handles.
pub(crate) fn builder(program: &Arc<[u8]>) -> SandboxBuilder {
    let names = [
        "tell", "copy", "flood", "nap", "spin", "hog", "deep", "abort", "leave", "count", "files", "list", "show",
        "network", "random",
    ];
    let builder = tidebox::sandbox().expect("the engine starts");
    names.iter().fold(builder, |builder, name| builder.tool(*name, Arc::clone(program)))
}
