;; Polls more subscriptions than the limit.
(module
  (import "wasi_snapshot_preview1" "poll_oneoff" (func $poll_oneoff (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $proc_exit (param i32)))
  (memory (export "memory") 1000)
  (func (export "_start") (local $count i32)
    (local.set $count (i32.const 1_000_000))
    (loop $more
      ;; 28 is `inval`.
      (if (i32.ne (call $poll_oneoff (i32.const 0) (i32.const 60_000_000) (local.get $count) (i32.const 64)) (i32.const 28))
        (then (call $proc_exit (i32.const 9))))
      (local.set $count (i32.add (local.get $count) (i32.const 1_000_000)))
      (br_if $more (i32.lt_s (local.get $count) (i32.const 2_000_000_000))))
    (if (i32.ne (call $poll_oneoff (i32.const 0) (i32.const 64) (i32.const -1) (i32.const 0)) (i32.const 28)) (then (call $proc_exit (i32.const 8))))
    (if (i32.ne (call $poll_oneoff (i32.const 0) (i32.const 64) (i32.const 0) (i32.const 0)) (i32.const 28)) (then (call $proc_exit (i32.const 7))))))
