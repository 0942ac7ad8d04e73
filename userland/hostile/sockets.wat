;; Fills the queue of a server, then opens sockets until their limit is reached, and one pair and one connection more.
(module
  (import "tidebox_v1" "sock_open" (func $open (param i32 i32) (result i32)))
  (import "tidebox_v1" "sock_pair" (func $pair (param i32) (result i32)))
  (import "tidebox_v1" "sock_bind" (func $bind (param i32 i32) (result i32)))
  (import "tidebox_v1" "sock_listen" (func $listen (param i32 i32) (result i32)))
  (import "tidebox_v1" "sock_connect" (func $connect (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $proc_exit (param i32)))
  (memory (export "memory") 1)
  ;; 127.0.0.1, port 8000.
  (data (i32.const 16) "\01\00\40\1f\7f\00\00\01")
  (func $check (param $answer i32) (param $exit i32)
    (if (local.get $answer) (then (call $proc_exit (local.get $exit)))))
  (func (export "_start") (local $answer i32) (local $left i32)
    (call $check (call $open (i32.const 1) (i32.const 0)) (i32.const 9))
    (call $check (call $bind (i32.load (i32.const 0)) (i32.const 16)) (i32.const 8))
    (call $check (call $listen (i32.load (i32.const 0)) (i32.const -1)) (i32.const 7))
    (local.set $left (i32.const 128))
    (loop $more
      (call $check (call $open (i32.const 1) (i32.const 0)) (i32.const 6))
      (call $check (call $connect (i32.load (i32.const 0)) (i32.const 16)) (i32.const 5))
      (local.set $left (i32.sub (local.get $left) (i32.const 1)))
      (br_if $more (local.get $left)))
    (loop $more
      (local.set $answer (call $open (i32.const 1) (i32.const 0)))
      (br_if $more (i32.eqz (local.get $answer))))
    ;; 41 is `nfile`.
    (if (i32.ne (local.get $answer) (i32.const 41)) (then (call $proc_exit (i32.const 4))))
    (if (i32.ne (call $pair (i32.const 0)) (i32.const 41)) (then (call $proc_exit (i32.const 3))))))
