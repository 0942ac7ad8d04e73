;; Loops before it has begun: in the function that instantiating runs.
(module
  (func $loop (loop $again (br $again)))
  (start $loop)
  (func (export "_start")))
