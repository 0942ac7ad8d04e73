;; A component that opens a file without end.
(component
  (import "wasi:filesystem/types@0.2.12" (instance $types
    (export "descriptor" (type $descriptor (sub resource)))
    (type $codes (enum
      "access" "would-block" "already" "bad-descriptor" "busy" "deadlock" "quota" "exist"
      "file-too-large" "illegal-byte-sequence" "in-progress" "interrupted" "invalid" "io" "is-directory"
      "loop" "too-many-links" "message-size" "name-too-long" "no-device" "no-entry" "no-lock"
      "insufficient-memory" "insufficient-space" "not-directory" "not-empty" "not-recoverable"
      "unsupported" "no-tty" "no-such-device" "overflow" "not-permitted" "pipe" "read-only"
      "invalid-seek" "text-file-busy" "cross-device"))
    (export "error-code" (type $error-code (eq $codes)))
    (type $links (flags "symlink-follow"))
    (export "path-flags" (type $path-flags (eq $links)))
    (type $create (flags "create" "directory" "exclusive" "truncate"))
    (export "open-flags" (type $open-flags (eq $create)))
    (type $modes (flags
      "read" "write" "file-integrity-sync" "data-integrity-sync" "requested-write-sync" "mutate-directory"))
    (export "descriptor-flags" (type $descriptor-flags (eq $modes)))
    (export "[method]descriptor.open-at" (func
      (param "self" (borrow $descriptor)) (param "path-flags" $path-flags) (param "path" string)
      (param "open-flags" $open-flags) (param "flags" $descriptor-flags)
      (result (result (own $descriptor) (error $error-code)))))))
  (alias export $types "descriptor" (type $descriptor))
  (import "wasi:filesystem/preopens@0.2.12" (instance $preopens
    (alias outer 1 $descriptor (type $descriptor))
    (export "get-directories" (func (result (list (tuple (own $descriptor) string)))))))
  (core module $libc
    (memory (export "memory") 2)
    (global $next (mut i32) (i32.const 65536))
    (func (export "realloc") (param i32 i32 i32 i32) (result i32)
      (global.set $next (i32.and (i32.add (global.get $next) (i32.const 15)) (i32.const -16)))
      (global.get $next)
      (global.set $next (i32.add (global.get $next) (local.get 3)))))
  (core instance $libc (instantiate $libc))
  (core func $directories (canon lower (func $preopens "get-directories")
    (memory (core memory $libc "memory")) (realloc (core func $libc "realloc"))))
  (core func $open (canon lower (func $types "[method]descriptor.open-at") (memory (core memory $libc "memory"))))
  (core module $main
    (import "libc" "memory" (memory 2))
    (import "host" "directories" (func $directories (param i32)))
    (import "host" "open" (func $open (param i32 i32 i32 i32 i32 i32 i32)))
    (data (i32.const 1024) "etc/passwd")
    ;; Opens one file until it fails with insufficient-memory (code 22). Any other error is an error.
    (func (export "run") (result i32)
      (call $directories (i32.const 0))
      (loop $more
        (call $open (i32.load (i32.load (i32.const 0))) (i32.const 1) (i32.const 1024) (i32.const 10)
          (i32.const 0) (i32.const 1) (i32.const 16))
        (br_if $more (i32.eqz (i32.load8_u (i32.const 16)))))
      (i32.ne (i32.load8_u (i32.const 20)) (i32.const 22))))
  (core instance $i (instantiate $main
    (with "libc" (instance $libc))
    (with "host" (instance (export "directories" (func $directories)) (export "open" (func $open))))))
  (func $run (result (result)) (canon lift (core func $i "run")))
  (instance (export "wasi:cli/run@0.2.12") (export "run" (func $run))))
