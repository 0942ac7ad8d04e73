;; A function that calls itself.
(module
  (func $down (export "_start") (call $down)))
