;; A component with more core instances than a process may have.
(component
  (core module $part (func))
  @(core instance (instantiate $part)) *500@
  (core module $main (func (export "run") (result i32) (i32.const 0)))
  (core instance $i (instantiate $main))
  (func $run (result (result)) (canon lift (core func $i "run")))
  (instance (export "wasi:cli/run@0.2.12") (export "run" (func $run))))
