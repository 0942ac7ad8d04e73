;; Reads 2 GiB per call without end, with 1,024 buffers at the same address.
(module
  (import "wasi_snapshot_preview1" "fd_read" (func $fd_read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "path_open" (func $path_open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
  (memory (export "memory") 300)
  (data (i32.const 16) "dev/urandom")
  (func (export "_start") (local $i i32)
    (drop (call $path_open (i32.const 3) (i32.const 1) (i32.const 16) (i32.const 11) (i32.const 0)
      (i64.const -1) (i64.const -1) (i32.const 0) (i32.const 0)))
    (loop $more
      (i32.store (i32.add (i32.const 65536) (i32.mul (local.get $i) (i32.const 8))) (i32.const 131072))
      (i32.store (i32.add (i32.const 65540) (i32.mul (local.get $i) (i32.const 8))) (i32.const 2097151))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $more (i32.lt_u (local.get $i) (i32.const 1024))))
    (loop $again (drop (call $fd_read (i32.load (i32.const 0)) (i32.const 65536) (i32.const 1024) (i32.const 72))) (br $again))))
