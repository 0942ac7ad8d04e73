;; Calls itself without end. Each depth resolves paths, lists a directory and reads a file that the kernel generates.
;; Each frame is large, because its values are used after the calls.
(module
  (import "wasi_snapshot_preview1" "path_filestat_get" (func $stat (param i32 i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "path_readlink" (func $readlink (param i32 i32 i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_readdir" (func $readdir (param i32 i32 i32 i64 i32) (result i32)))
  (import "wasi_snapshot_preview1" "path_open" (func $open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_close" (func $close (param i32) (result i32)))
  (memory (export "memory") 2)
  (data (i32.const 100) "@proc/self/../../*10@proc/self/status")
  (data (i32.const 8000) "proc/self/exe")
  (func $down (param $number i64) (result i64)
    @local.get $number i64.const 6364136223846793005 i64.mul i64.const 1 i64.add local.tee $number *100@
    (drop (call $stat (i32.const 3) (i32.const 1) (i32.const 100) (i32.const 176) (i32.const 70000)))
    (drop (call $readlink (i32.const 3) (i32.const 8000) (i32.const 13) (i32.const 70000) (i32.const 4096) (i32.const 90000)))
    (drop (call $readdir (i32.const 3) (i32.const 70000) (i32.const 4096) (i64.const 0) (i32.const 90000)))
    (if (i32.eqz (call $open (i32.const 3) (i32.const 1) (i32.const 100) (i32.const 176) (i32.const 0) (i64.const 2) (i64.const 0)
          (i32.const 0) (i32.const 90000)))
      (then (drop (call $close (i32.load (i32.const 90000))))))
    (call $down (local.get $number))
    @i64.add *100@)
  (func (export "_start") (drop (call $down (i64.const 1)))))
