//! Stack size for the linker.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_FAMILY").as_deref() == Ok("wasm") {
        // Deeply nested variables and target chains must hit make's limits, never the end of this stack.
        println!("cargo::rustc-link-arg-bins=-zstack-size=8388608");
    }
}
