;; Imports a function that does not exist.
(module
  (import "env" "system" (func (param i32) (result i32)))
  (func (export "_start")))
