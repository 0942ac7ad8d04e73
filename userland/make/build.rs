//! What the linker must reserve.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_FAMILY").as_deref() == Ok("wasm") {
        // Nested variables and chains of targets end with a message, never at the end of this stack.
        println!("cargo::rustc-link-arg-bins=-zstack-size=8388608");
    }
}
