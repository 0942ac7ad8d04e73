;; Has nothing that could be started.
(module
  (func (export "main")))
