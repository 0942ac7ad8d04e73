;; Buffer lists that are too long, overlap, end outside of memory or have an overflowing total length.
(module
  (import "wasi_snapshot_preview1" "fd_read" (func $fd_read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_pread" (func $fd_pread (param i32 i32 i32 i64 i32) (result i32)))
  (import "wasi_snapshot_preview1" "path_open" (func $path_open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $proc_exit (param i32)))
  (memory (export "memory") 300)
  (data (i32.const 16) "/dev/zero")
  (func $answer (param $is i32) (param $want i32) (param $code i32)
    (if (i32.ne (local.get $is) (local.get $want)) (then (call $proc_exit (local.get $code)))))
  (func (export "_start") (local $fd i32) (local $i i32)
    (call $answer (call $path_open (i32.const 3) (i32.const 1) (i32.const 17) (i32.const 8) (i32.const 0)
      (i64.const -1) (i64.const -1) (i32.const 0) (i32.const 0)) (i32.const 0) (i32.const 1))
    (local.set $fd (i32.load (i32.const 0)))
    ;; 1,030 buffers of 2 MiB that all have the same address.
    (loop $more
      (i32.store (i32.add (i32.const 65536) (i32.mul (local.get $i) (i32.const 8))) (i32.const 131072))
      (i32.store (i32.add (i32.const 65540) (i32.mul (local.get $i) (i32.const 8))) (i32.const 2097151))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $more (i32.lt_u (local.get $i) (i32.const 1030))))
    ;; 28 is `inval`, 21 is `fault`.
    (call $answer (call $fd_read (local.get $fd) (i32.const 65536) (i32.const 1025) (i32.const 0)) (i32.const 28) (i32.const 2))
    (call $answer (call $fd_read (local.get $fd) (i32.const 65536) (i32.const -1) (i32.const 0)) (i32.const 28) (i32.const 3))
    (call $answer (call $fd_read (local.get $fd) (i32.const 65536) (i32.const 1024) (i32.const 0)) (i32.const 0) (i32.const 4))
    (call $answer (call $fd_write (i32.const 1) (i32.const 0x7fff_0000) (i32.const 1000) (i32.const 0)) (i32.const 21) (i32.const 5))
    (i32.store (i32.const 65540) (i32.const -1))
    (call $answer (call $fd_read (local.get $fd) (i32.const 65536) (i32.const 1) (i32.const 0)) (i32.const 28) (i32.const 6))
    (i32.store (i32.const 65540) (i32.const 0x7fff_ffff))
    ;; The part within memory may be filled before the end of memory is reached.
    (if (call $fd_read (local.get $fd) (i32.const 65536) (i32.const 1) (i32.const 0)) (then (call $proc_exit (i32.const 7))))
    (if (i32.gt_u (i32.load (i32.const 0)) (i32.const 19_660_800)) (then (call $proc_exit (i32.const 8))))))
