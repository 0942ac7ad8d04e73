;; Copies memory without end, with one instruction per copy.
(module
  (memory (export "memory") 4000)
  (func (export "_start") (loop $again (memory.copy (i32.const 1) (i32.const 0) (i32.const 262_143_999)) (br $again))))
