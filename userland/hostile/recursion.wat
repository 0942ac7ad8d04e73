;; Calls itself for ever.
(module
  (func $down (export "_start") (call $down)))
