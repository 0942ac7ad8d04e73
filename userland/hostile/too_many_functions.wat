;; A module over the function limit.
(module
  @(func) *200001@
  (func (export "_start")))
