;; One function that is longer than a function may be.
(module
  (func (export "_start") @(drop (i64.const 0x7fff_ffff_ffff_ffff))*100000@))
