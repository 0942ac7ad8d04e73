;; Starts child processes without waiting for their exit status, until the process limit is reached.
(module
  (import "tidebox_v1" "spawn" (func $spawn (param i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "poll_oneoff" (func $poll_oneoff (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $proc_exit (param i32)))
  (memory (export "memory") 1)
  (data (i32.const 1024) "\01\00\00\00\09\00\00\00/bin/true\01\00\00\00\04\00\00\00true\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00")
  (func $nap
    (i32.store (i32.const 16) (i32.const 1))
    (i64.store (i32.const 24) (i64.const 20_000_000))
    (drop (call $poll_oneoff (i32.const 0) (i32.const 64) (i32.const 1) (i32.const 128))))
  (func (export "_start") (local $started i32) (local $answer i32)
    (loop $more
      (local.set $answer (call $spawn (i32.const 1024) (i32.const 53) (i32.const 512)))
      (if (i32.eqz (local.get $answer)) (then
        (call $nap)
        (local.set $started (i32.add (local.get $started) (i32.const 1)))
        (br_if $more (i32.lt_u (local.get $started) (i32.const 100))))))
    ;; 6 is `again`.
    (if (i32.ne (local.get $answer) (i32.const 6)) (then (call $proc_exit (i32.const 9))))
    (call $proc_exit (local.get $started))))
