//! Linker options for a guest that forks.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_FAMILY").as_deref() == Ok("wasm") {
        // The kernel copies the stack pointer into a forked child and enters the child through this function.
        println!("cargo::rustc-link-arg-bins=--export=__stack_pointer");
        println!("cargo::rustc-link-arg-bins=--export=tidebox_fork_child");
        // Deep recursion of a script ends with a message of the evaluator, never at the end of this stack. At 8 MiB the end of
        // the stack, the data and the start of the heap share one page table, so that the engine resets only one when it
        // prepares the memory for the next process.
        println!("cargo::rustc-link-arg-bins=-zstack-size=8454144");
    }
}
