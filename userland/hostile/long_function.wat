;; One function over the length limit.
(module
  (func (export "_start") @(drop (i64.const 0x7fff_ffff_ffff_ffff))*100000@))
