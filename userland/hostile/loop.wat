;; Computes for ever and calls nobody.
(module
  (func (export "_start") (loop $again (br $again))))
