;; An endless loop without calls.
(module
  (func (export "_start") (loop $again (br $again))))
