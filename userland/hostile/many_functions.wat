;; A module with 200,001 functions.
(module
  @(func) *200000@
  (func (export "_start")))
