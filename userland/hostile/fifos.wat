;; Creates and opens named pipes until the descriptor limit is reached.
(module
  (import "tidebox_v1" "mkfifo" (func $mkfifo (param i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $proc_exit (param i32)))
  (import "wasi_snapshot_preview1" "path_open"
    (func $path_open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 16) "workspace/f00000")
  (func $count (local $at i32) (local $digit i32)
    (local.set $at (i32.const 31))
    (loop $carry
      (local.set $digit (i32.add (i32.load8_u (local.get $at)) (i32.const 1)))
      (i32.store8 (local.get $at) (select (i32.const 48) (local.get $digit) (i32.eq (local.get $digit) (i32.const 58))))
      (local.set $at (i32.sub (local.get $at) (i32.const 1)))
      (br_if $carry (i32.eq (local.get $digit) (i32.const 58)))))
  (func (export "_start") (local $answer i32)
    (loop $more
      (call $count)
      (if (call $mkfifo (i32.const 26) (i32.const 6) (i32.const 0x1ff)) (then (call $proc_exit (i32.const 9))))
      (local.set $answer
        (call $path_open (i32.const 3) (i32.const 1) (i32.const 16) (i32.const 16) (i32.const 0)
          (i64.const 66) (i64.const 0) (i32.const 0) (i32.const 0)))
      (br_if $more (i32.eqz (local.get $answer))))
    ;; 33 is `mfile`, 41 is `nfile`.
    (if (i32.and (i32.ne (local.get $answer) (i32.const 33)) (i32.ne (local.get $answer) (i32.const 41)))
      (then (call $proc_exit (i32.const 8))))))
