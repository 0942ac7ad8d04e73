;; Many functions with many locals.
(module
  (func (local @i64 *5000@))
  @(func (param i64 i64) (result i64) (local i64 i64 i64 i64 v128 v128 v128) (i64.add (local.get 0) (local.get 1))) *3000@
  (func (export "_start")))
