;; Imports a call with another type than it has.
(module
  (import "wasi_snapshot_preview1" "fd_write" (func (param i64) (result i64)))
  (func (export "_start")))
