;; Many memories, each below the limit.
(module
  (memory 200)
  (memory 200)
  (memory 200)
  (memory 200)
  (memory 200)
  (memory 200)
  (memory 200)
  (memory 200)
  (func (export "_start")))
