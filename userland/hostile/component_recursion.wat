;; A component that recurses without end.
(component
  (core module $main (func $down (export "run") (result i32) (i32.add (call $down) (i32.const 1))))
  (core instance $i (instantiate $main))
  (func $run (result (result)) (canon lift (core func $i "run")))
  (instance (export "wasi:cli/run@0.2.12") (export "run" (func $run))))
