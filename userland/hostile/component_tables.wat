;; A component that grows a table without end. It fails if the table has more than 64,000 elements.
(component
  (core module $main
    (table 1 funcref)
    (func (export "run") (result i32)
      (loop $more (br_if $more (i32.ne (table.grow (ref.null func) (i32.const 1000)) (i32.const -1))))
      (i32.gt_u (table.size) (i32.const 64000))))
  (core instance $i (instantiate $main))
  (func $run (result (result)) (canon lift (core func $i "run")))
  (instance (export "wasi:cli/run@0.2.12") (export "run" (func $run))))
