;; A component that asks for 16 EiB of random bytes in one call.
(component
  (import "wasi:random/random@0.2.12" (instance $random
    (export "get-random-bytes" (func (param "len" u64) (result (list u8))))))
  (core module $libc
    (memory (export "memory") 1)
    (func (export "realloc") (param i32 i32 i32 i32) (result i32) (i32.const 1024)))
  (core instance $libc (instantiate $libc))
  (core func $bytes (canon lower (func $random "get-random-bytes")
    (memory (core memory $libc "memory")) (realloc (core func $libc "realloc"))))
  (core module $main
    (import "host" "bytes" (func $bytes (param i64 i32)))
    (func (export "run") (result i32) (call $bytes (i64.const -1) (i32.const 16)) (i32.const 0)))
  (core instance $i (instantiate $main (with "host" (instance (export "bytes" (func $bytes))))))
  (func $run (result (result)) (canon lift (core func $i "run")))
  (instance (export "wasi:cli/run@0.2.12") (export "run" (func $run))))
