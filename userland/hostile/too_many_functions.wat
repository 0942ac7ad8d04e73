;; More functions than are compiled.
(module
  @(func) *200001@
  (func (export "_start")))
