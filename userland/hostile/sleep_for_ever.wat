;; Sleeps until the largest timestamp.
(module
  (import "wasi_snapshot_preview1" "poll_oneoff" (func $poll_oneoff (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "_start")
    (i32.store (i32.const 16) (i32.const 1))
    (i64.store (i32.const 24) (i64.const -1))
    (loop $again (drop (call $poll_oneoff (i32.const 0) (i32.const 64) (i32.const 1) (i32.const 128))) (br $again))))
