;; Fills memory without end, with one instruction per fill.
(module
  (memory (export "memory") 4000)
  (func (export "_start") (loop $again (memory.fill (i32.const 0) (i32.const 7) (i32.const 262_144_000)) (br $again))))
