echo a ;; b
