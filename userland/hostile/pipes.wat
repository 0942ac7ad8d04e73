;; Creates pipes until the descriptor limit is reached, then duplicates and renumbers descriptors.
(module
  (import "tidebox_v1" "pipe" (func $pipe (param i32) (result i32)))
  (import "tidebox_v1" "dup" (func $dup (param i32 i32 i32) (result i32)))
  (import "tidebox_v1" "dup_to" (func $dup_to (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $proc_exit (param i32)))
  (import "wasi_snapshot_preview1" "fd_renumber" (func $fd_renumber (param i32 i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "_start") (local $answer i32)
    (loop $more
      (local.set $answer (call $pipe (i32.const 0)))
      (br_if $more (i32.eqz (local.get $answer))))
    ;; 33 is `mfile`, 41 is `nfile`.
    (if (i32.and (i32.ne (local.get $answer) (i32.const 33)) (i32.ne (local.get $answer) (i32.const 41)))
      (then (call $proc_exit (i32.const 9))))
    (if (i32.eqz (call $dup (i32.const 1) (i32.const 3) (i32.const 0)))
      (then (if (i32.eqz (call $dup (i32.const 1) (i32.const 3) (i32.const 0))) (then (call $proc_exit (i32.const 8))))))
    (if (i32.eqz (call $dup_to (i32.const 1) (i32.const 1_000_000))) (then (call $proc_exit (i32.const 7))))
    (if (i32.eqz (call $fd_renumber (i32.const 1) (i32.const -1))) (then (call $proc_exit (i32.const 6))))))
