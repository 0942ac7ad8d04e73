;; A component that passes a list beyond its memory to the host.
(component
  (import "wasi:io/error@0.2.12" (instance $failure (export "error" (type (sub resource)))))
  (alias export $failure "error" (type $error))
  (import "wasi:io/streams@0.2.12" (instance $streams
    (export "output-stream" (type $output (sub resource)))
    (alias outer 1 $error (type $error))
    (type $why (variant (case "last-operation-failed" (own $error)) (case "closed")))
    (export "stream-error" (type $stream-error (eq $why)))
    (export "[method]output-stream.blocking-write-and-flush"
      (func (param "self" (borrow $output)) (param "contents" (list u8)) (result (result (error $stream-error)))))))
  (alias export $streams "output-stream" (type $output))
  (import "wasi:cli/stdout@0.2.12" (instance $stdout
    (alias outer 1 $output (type $output))
    (export "get-stdout" (func (result (own $output))))))
  (core module $libc (memory (export "memory") 1))
  (core instance $libc (instantiate $libc))
  (core func $stdout (canon lower (func $stdout "get-stdout")))
  (core func $write (canon lower (func $streams "[method]output-stream.blocking-write-and-flush")
    (memory (core memory $libc "memory"))))
  (core module $main
    (import "host" "stdout" (func $stdout (result i32)))
    (import "host" "write" (func $write (param i32 i32 i32 i32)))
    (func (export "run") (result i32) (local $out i32)
      (local.set $out (call $stdout))
      (call $write (local.get $out) (i32.const 0xfffffff0) (i32.const 0x7fffffff) (i32.const 0))
      (i32.const 0)))
  (core instance $i (instantiate $main (with "host" (instance
    (export "stdout" (func $stdout)) (export "write" (func $write))))))
  (func $run (result (result)) (canon lift (core func $i "run")))
  (instance (export "wasi:cli/run@0.2.12") (export "run" (func $run))))
