;; A module without _start.
(module
  (func (export "main")))
