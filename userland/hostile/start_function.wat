;; An endless loop in the start function, which runs during instantiation.
(module
  (func $loop (loop $again (br $again)))
  (start $loop)
  (func (export "_start")))
