//! How much stack the linker reserves.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_FAMILY").as_deref() == Ok("wasm") {
        // Deeply nested expressions end with a message of the compiler, never at the end of this stack.
        println!("cargo::rustc-link-arg-bins=-zstack-size=4194304");
    }
}
