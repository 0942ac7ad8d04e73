;; Imports a memory from the host.
(module
  (import "wasi_snapshot_preview1" "memory" (memory 1))
  (func (export "_start")))
