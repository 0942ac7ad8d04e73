;; A component that allocates without end.
(component
  (core module $main
    (memory 1)
    (func (export "run") (result i32)
      (loop $more (br_if $more (i32.ne (memory.grow (i32.const 16)) (i32.const -1))))
      unreachable))
  (core instance $i (instantiate $main))
  (func $run (result (result)) (canon lift (core func $i "run")))
  (instance (export "wasi:cli/run@0.2.12") (export "run" (func $run))))
