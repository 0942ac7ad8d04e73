;; Wants four GiB to begin with.
(module
  (memory (export "memory") 65536)
  (func (export "_start")))
