;; Reads zeros into all of memory without end.
(module
  (import "wasi_snapshot_preview1" "fd_read" (func $fd_read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "path_open" (func $path_open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
  (memory (export "memory") 4000)
  (data (i32.const 16) "dev/zero")
  (func (export "_start")
    (drop (call $path_open (i32.const 3) (i32.const 1) (i32.const 16) (i32.const 8) (i32.const 0)
      (i64.const -1) (i64.const -1) (i32.const 0) (i32.const 0)))
    (i32.store (i32.const 64) (i32.const 4096))
    (i32.store (i32.const 68) (i32.const 262_000_000))
    (loop $again (drop (call $fd_read (i32.load (i32.const 0)) (i32.const 64) (i32.const 1) (i32.const 72))) (br $again))))
