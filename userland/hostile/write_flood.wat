;; Writes 2 GiB per call to standard output without end, with 1,024 buffers at the same address.
(module
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 4000)
  (func (export "_start") (local $i i32)
    (loop $more
      (i32.store (i32.add (i32.const 65536) (i32.mul (local.get $i) (i32.const 8))) (i32.const 131072))
      (i32.store (i32.add (i32.const 65540) (i32.mul (local.get $i) (i32.const 8))) (i32.const 2097151))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $more (i32.lt_u (local.get $i) (i32.const 1024))))
    (loop $again (drop (call $fd_write (i32.const 1) (i32.const 65536) (i32.const 1024) (i32.const 72))) (br $again))))
