;; Reads a directory into buffers smaller than an entry, and from positions without an entry.
(module
  (import "wasi_snapshot_preview1" "fd_readdir" (func $fd_readdir (param i32 i32 i32 i64 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $proc_exit (param i32)))
  (memory (export "memory") 2)
  (func (export "_start") (local $room i32) (local $at i64)
    (loop $rooms
      (local.set $at (i64.const 0))
      (loop $positions
        (if (call $fd_readdir (i32.const 3) (i32.const 4096) (local.get $room) (local.get $at) (i32.const 0)) (then (call $proc_exit (i32.const 1))))
        (if (i32.gt_u (i32.load (i32.const 0)) (local.get $room)) (then (call $proc_exit (i32.const 2))))
        (local.set $at (i64.add (i64.mul (local.get $at) (i64.const 3)) (i64.const 1)))
        (br_if $positions (i64.ge_s (local.get $at) (i64.const 0))))
      (local.set $room (i32.add (local.get $room) (i32.const 1)))
      (br_if $rooms (i32.lt_u (local.get $room) (i32.const 100))))
    (if (i32.ne (call $fd_readdir (i32.const 3) (i32.const -16) (i32.const 4096) (i64.const 0) (i32.const 0)) (i32.const 21)) (then (call $proc_exit (i32.const 3))))
    (if (i32.ne (call $fd_readdir (i32.const 1) (i32.const 0) (i32.const 4096) (i64.const 0) (i32.const 0)) (i32.const 54)) (then (call $proc_exit (i32.const 4))))))
