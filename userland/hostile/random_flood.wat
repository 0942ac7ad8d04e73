;; Fills all of memory with random bytes without end.
(module
  (import "wasi_snapshot_preview1" "random_get" (func $random_get (param i32 i32) (result i32)))
  (memory (export "memory") 4000)
  (func (export "_start") (loop $again (drop (call $random_get (i32.const 0) (i32.const 262_144_000))) (br $again))))
