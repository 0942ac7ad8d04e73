;; Grows a table without end.
(module
  (import "wasi_snapshot_preview1" "proc_exit" (func $proc_exit (param i32)))
  (memory (export "memory") 1)
  (table 1 funcref)
  (func (export "_start") (local $n i32)
    (loop $more
      (br_if $more (i32.ne (table.grow (ref.null func) (i32.const 1000)) (i32.const -1))))
    (if (i32.gt_u (table.size) (i32.const 64000)) (then (call $proc_exit (i32.const 9))))
    (call $proc_exit (i32.const 7))))
