;; A component that imports the HTTP client of WASI.
(component
  (import "wasi:http/outgoing-handler@0.2.12" (instance $http (export "handle" (func (result u32)))))
  (core func $handle (canon lower (func $http "handle")))
  (core module $main
    (import "host" "handle" (func $handle (result i32)))
    (func (export "run") (result i32) (call $handle)))
  (core instance $i (instantiate $main (with "host" (instance (export "handle" (func $handle))))))
  (func $run (result (result)) (canon lift (core func $i "run")))
  (instance (export "wasi:cli/run@0.2.12") (export "run" (func $run))))
