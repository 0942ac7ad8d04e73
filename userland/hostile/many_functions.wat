;; More functions than any program has.
(module
  @(func) *200000@
  (func (export "_start")))
