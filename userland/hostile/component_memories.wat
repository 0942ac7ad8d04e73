;; A component whose forty instances have a memory of 1 MiB each.
(component
  (core module $part (memory 16))
  @(core instance (instantiate $part)) *40@
  (core module $main (func (export "run") (result i32) (i32.const 0)))
  (core instance $i (instantiate $main))
  (func $run (result (result)) (canon lift (core func $i "run")))
  (instance (export "wasi:cli/run@0.2.12") (export "run" (func $run))))
