//! Adds a custom program to a sandbox: a WebAssembly module works like any other command.

use tidebox::{ExecuteRequest, SandboxBackend};

/// Converts to upper case. A real program is the `.wasm` file of `cargo build --target wasm32-wasip1` or of any
/// other toolchain for WASI.
const SHOUT: &str = r#"(module
  (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "_start") (local $at i32) (local $byte i32)
    (loop $more
      (i32.store (i32.const 0) (i32.const 64))
      (i32.store (i32.const 4) (i32.const 4096))
      (if (call $read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 4)) (then (return)))
      (if (i32.eqz (i32.load (i32.const 4))) (then (return)))
      (local.set $at (i32.const 64))
      (loop $next
        (local.set $byte (i32.load8_u (local.get $at)))
        (if (i32.lt_u (i32.sub (local.get $byte) (i32.const 97)) (i32.const 26))
          (then (i32.store8 (local.get $at) (i32.sub (local.get $byte) (i32.const 32)))))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        (br_if $next (i32.lt_u (local.get $at) (i32.add (i32.const 64) (i32.load (i32.const 4))))))
      (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))
      (br $more))))"#;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let sandbox = tidebox::sandbox()?.tool("shout", wat::parse_str(SHOUT)?).build()?;

    let response = sandbox.execute(ExecuteRequest::new("printf 'tide\\nbox\\n' | shout | sort")).await?;
    assert_eq!(response.stdout_text(), "BOX\nTIDE\n");

    let response = sandbox.execute(ExecuteRequest::new("which shout; ls -l /usr/local/bin | tail -1")).await?;
    assert!(response.stdout_text().starts_with("/usr/local/bin/shout\n-rwxr-xr-x"), "{}", response.output_text());
    Ok(())
}
