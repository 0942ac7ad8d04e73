;; One function of a million instructions whose values all depend on each other.
(module
  (func (export "_start") (local i64 i64 i64 i64)
    @(local.set 0 (i64.add (i64.mul (local.get 1) (local.get 2)) (i64.rotl (local.get 3) (local.get 0)))) (local.set 1 (i64.xor (local.get 0) (local.get 2))) (if (i64.eqz (local.get 1)) (then (local.set 2 (i64.sub (local.get 3) (local.get 1))))) *20000@))
