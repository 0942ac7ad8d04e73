;; A component that calls the host without end.
(component
  (import "wasi:random/random@0.2.12" (instance $random (export "get-random-u64" (func (result u64)))))
  (core func $number (canon lower (func $random "get-random-u64")))
  (core module $main
    (import "host" "number" (func $number (result i64)))
    (func (export "run") (result i32) (loop $more (drop (call $number)) (br $more)) unreachable))
  (core instance $i (instantiate $main (with "host" (instance (export "number" (func $number))))))
  (func $run (result (result)) (canon lift (core func $i "run")))
  (instance (export "wasi:cli/run@0.2.12") (export "run" (func $run))))
