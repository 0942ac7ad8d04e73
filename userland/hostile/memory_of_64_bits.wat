;; Grows a 64-bit memory beyond the limit.
(module
  (import "wasi_snapshot_preview1" "proc_exit" (func $proc_exit (param i32)))
  (memory (export "memory") i64 1)
  (func (export "_start")
    (if (i64.ne (memory.grow (i64.const 0xffff_ffff_ffff)) (i64.const -1)) (then (call $proc_exit (i32.const 9))))
    (if (i64.ne (memory.grow (i64.const 100_000)) (i64.const -1)) (then (call $proc_exit (i32.const 9))))
    unreachable))
