;; A component that computes without end.
(component
  (core module $main (func (export "run") (result i32) (loop $more (br $more)) unreachable))
  (core instance $i (instantiate $main))
  (func $run (result (result)) (canon lift (core func $i "run")))
  (instance (export "wasi:cli/run@0.2.12") (export "run" (func $run))))
