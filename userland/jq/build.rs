//! Stack size for the linker.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_FAMILY").as_deref() == Ok("wasm") {
        // Deep recursion of a program must hit the limit in `depth.rs`, never the end of this stack.
        println!("cargo::rustc-link-arg-bins=-zstack-size=16777216");
    }
}
