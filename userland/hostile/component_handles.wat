;; A component that uses a resource that it has dropped.
(component
  (import "wasi:io/poll@0.2.12" (instance $poll
    (export "pollable" (type $pollable (sub resource)))
    (export "[method]pollable.ready" (func (param "self" (borrow $pollable)) (result bool)))))
  (alias export $poll "pollable" (type $pollable))
  (import "wasi:clocks/monotonic-clock@0.2.12" (instance $clock
    (alias outer 1 $pollable (type $pollable))
    (export "subscribe-duration" (func (param "when" u64) (result (own $pollable))))))
  (core func $subscribe (canon lower (func $clock "subscribe-duration")))
  (core func $ready (canon lower (func $poll "[method]pollable.ready")))
  (core func $drop (canon resource.drop $pollable))
  (core module $main
    (import "host" "subscribe" (func $subscribe (param i64) (result i32)))
    (import "host" "ready" (func $ready (param i32) (result i32)))
    (import "host" "drop" (func $drop (param i32)))
    (func (export "run") (result i32) (local $one i32)
      (local.set $one (call $subscribe (i64.const 0)))
      (drop (call $ready (local.get $one)))
      (call $drop (local.get $one))
      (call $ready (local.get $one))))
  (core instance $i (instantiate $main (with "host" (instance
    (export "subscribe" (func $subscribe)) (export "ready" (func $ready)) (export "drop" (func $drop))))))
  (func $run (result (result)) (canon lift (core func $i "run")))
  (instance (export "wasi:cli/run@0.2.12") (export "run" (func $run))))
