use wasmparser::{ExternalKind, Parser, Payload, TypeRef, Validator, WasmFeatures};

use super::{Exceptions, FEATURES, RewriteLimits, rewrite};

fn module(body: &str) -> Vec<u8> {
    wat::parse_str(format!("(module {body} (func (export \"_start\")))")).expect("the test's module is well-formed")
}

fn rewritten(body: &str) -> Vec<u8> {
    let wasm = rewrite(&module(body), RewriteLimits::default()).expect("the module is accepted");
    Validator::new_with_features(FEATURES).validate_all(&wasm).expect("what was rewritten is valid");
    wasm
}

fn refused(body: &str) -> String {
    rewrite(&module(body), RewriteLimits::default()).expect_err("the module is refused").to_string()
}

/// Returns the operators of the defined functions, in order.
fn functions(wasm: &[u8]) -> Vec<Vec<String>> {
    let payloads = Parser::new(0).parse_all(wasm).map(|payload| payload.expect("valid"));
    let bodies = payloads.filter_map(|payload| match payload {
        Payload::CodeSectionEntry(body) => Some(body),
        _ => None,
    });
    let operators = bodies.map(|body| body.get_operators_reader().expect("valid"));
    operators
        .map(|reader| reader.into_iter().map(|operator| format!("{:?}", operator.expect("valid"))).collect())
        .collect()
}

fn imports(wasm: &[u8]) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for payload in Parser::new(0).parse_all(wasm) {
        if let Payload::ImportSection(section) = payload.expect("valid") {
            for import in section.into_imports() {
                let import = import.expect("valid");
                found.push((import.module.to_owned(), import.name.to_owned()));
            }
        }
    }
    found
}

fn exports(wasm: &[u8]) -> Vec<(String, ExternalKind)> {
    let mut found = Vec::new();
    for payload in Parser::new(0).parse_all(wasm) {
        if let Payload::ExportSection(section) = payload.expect("valid") {
            found.extend(section.into_iter().map(|export| export.expect("valid")).map(|e| (e.name.to_owned(), e.kind)));
        }
    }
    found
}

const CLOSE: &str = "(import \"wasi_snapshot_preview1\" \"fd_close\" (func $close (param i32) (result i32)))";

#[test]
fn loops_are_checked_and_simple_leaf_functions_are_not() {
    let wasm = rewritten("(func (loop $l br $l)) (func (result i32) i32.const 1)");
    let functions = functions(&wasm);
    let of_loop = &functions[0];
    assert!(of_loop[0].starts_with("Loop") && of_loop[1].starts_with("GlobalGet"), "{of_loop:?}");
    assert_eq!(functions[1].len(), 2, "{:?}", functions[1]);
}

#[test]
fn functions_with_calls_are_checked_at_their_entry() {
    let wasm = rewritten("(func $f call $f)");
    assert!(functions(&wasm)[0][0].starts_with("GlobalGet"));
}

#[test]
fn sandbox_calls_go_through_a_wrapper_with_the_pid() {
    let wasm = rewritten(&format!("{CLOSE} (func (drop (call $close (i32.const 9))))"));
    let expected = [("wasi_snapshot_preview1", "fd_close"), ("tidebox_engine", "wait"), ("tidebox_engine", "tick")];
    for ((module, name), found) in expected.iter().zip(imports(&wasm)) {
        assert_eq!((*module, *name), (found.0.as_str(), found.1.as_str()));
    }
    let functions = functions(&wasm);
    // Imports: fd_close, wait, tick, grow. Own functions: the caller, _start. So the wrapper is function 6.
    assert!(functions[0].iter().any(|operator| operator == "Call { function_index: 6 }"), "{:?}", functions[0]);
    assert_eq!(
        functions[2][1..4],
        ["GlobalGet { global_index: 0 }", "LocalGet { local_index: 0 }", "Call { function_index: 0 }"]
    );
}

#[test]
fn imports_in_tables_are_replaced_by_wrappers() {
    let wasm =
        rewritten(&format!("{CLOSE} (table 1 funcref) (elem (i32.const 0) $close) (export \"again\" (func $close))"));
    let wrapper = 5;
    for payload in Parser::new(0).parse_all(&wasm) {
        match payload.expect("valid") {
            Payload::ElementSection(section) => {
                for element in section {
                    let wasmparser::ElementItems::Functions(items) = element.expect("valid").items else { continue };
                    assert!(items.into_iter().all(|function| function.expect("valid") == wrapper));
                }
            }
            Payload::ExportSection(section) => {
                let again =
                    section.into_iter().map(|export| export.expect("valid")).find(|export| export.name == "again");
                assert_eq!(again.map(|export| export.index), Some(wrapper));
            }
            _ => {}
        }
    }
}

#[test]
fn memory_and_tables_get_a_maximum_and_growth_is_checked() {
    let limits = RewriteLimits { memory_bytes: 10 << 16, table_elements: 20, ..RewriteLimits::default() };
    let wasm = module("(memory (export \"memory\") 2 100) (table 3 funcref) (func (drop (memory.grow (i32.const 1))))");
    let wasm = rewrite(&wasm, limits).expect("the module is accepted");
    for payload in Parser::new(0).parse_all(&wasm) {
        match payload.expect("valid") {
            Payload::MemorySection(section) => {
                let maxima: Vec<_> = section.into_iter().map(|memory| memory.expect("valid").maximum).collect();
                assert_eq!(maxima, [Some(10)]);
            }
            Payload::TableSection(section) => {
                let maxima: Vec<_> = section.into_iter().map(|table| table.expect("valid").ty.maximum).collect();
                assert_eq!(maxima, [Some(20)]);
            }
            _ => {}
        }
    }
    let functions = functions(&wasm);
    let grows: Vec<bool> =
        functions.iter().map(|f| f.iter().any(|operator| operator.starts_with("MemoryGrow"))).collect();
    assert_eq!(grows, [false, false, false, true, false], "only the function that asks grows: {functions:?}");
}

#[test]
fn filling_and_copying_memory_counts_by_its_length() {
    for operator in ["memory.fill", "memory.copy"] {
        let body = format!("(func (local i32) local.get 0 local.get 0 local.get 0 {operator})");
        let functions = functions(&rewritten(&format!("(memory 1) {body}")));
        // Functions: those of the engine are 0 to 2, then the module's own, `_start`, `check`, `grow` and `charge`.
        let charged = functions[0].windows(2).any(|pair| {
            pair[0] == "Call { function_index: 7 }"
                && (pair[1].starts_with("MemoryFill") || pair[1].starts_with("MemoryCopy"))
        });
        assert!(charged, "{operator}: {:?}", functions[0]);
        assert!(
            functions.last().expect("the list is not empty").iter().any(|operator| operator == "I32ShrU"),
            "{functions:?}"
        );
    }
}

#[test]
fn forking_modules_export_their_globals() {
    let globals = "(global (mut i32) (i32.const 1)) (global i64 (i64.const 2)) (global (mut i64) (i64.const 3))";
    let names = |wasm: &[u8]| exports(wasm).into_iter().map(|(name, _)| name).collect::<Vec<_>>();
    let forks = rewritten(&format!("{globals} (func (export \"tidebox_fork_child\") (param i32))"));
    assert_eq!(names(&forks), ["tidebox_fork_child", "_start", "tidebox:global:0", "tidebox:global:2"]);
    assert_eq!(names(&rewritten(globals)), ["_start"]);
}

#[test]
fn start_functions_become_exports() {
    let wasm = rewritten("(func $first) (start $first)");
    assert!(exports(&wasm).contains(&("tidebox:start".to_owned(), ExternalKind::Func)));
    let starts = Parser::new(0).parse_all(&wasm).any(|payload| matches!(payload, Ok(Payload::StartSection { .. })));
    assert!(!starts);
}

#[test]
fn custom_sections_are_replaced_by_one() {
    let aware =
        "(import \"tidebox_v1\" \"getids\" (func (param i32) (result i32))) (memory 3) (@custom \"name\" \"x\")";
    let wasm = rewritten(aware);
    let sections = Parser::new(0).parse_all(&wasm).filter_map(|payload| match payload {
        Ok(Payload::CustomSection(section)) => Some((section.name().to_owned(), section.data().to_vec())),
        _ => None,
    });
    assert_eq!(sections.collect::<Vec<_>>(), [("tidebox".to_owned(), vec![2, 1, 3, 0, 0, 0])]);
}

#[test]
fn minimal_modules_are_rewritten() {
    rewritten("");
}

#[test]
fn errors_name_the_unsupported_feature() {
    for (body, words) in [
        ("(import \"env\" \"system\" (func))", "the function env::system"),
        ("(import \"env\" \"memory\" (memory 1))", "the memory env::memory"),
        ("(import \"tidebox_engine\" \"tick\" (func))", "the function tidebox_engine::tick"),
        ("(import \"wasi_snapshot_preview1\" \"x\" (global i32))", "the global wasi_snapshot_preview1::x"),
        ("(table 70000 funcref)", "more than 64000 elements"),
        ("(memory 1 1 shared)", "threads"),
        ("(memory i64 1)", "a memory of 64 bits"),
        ("(memory 1) (memory 1)", "several memories"),
        ("(tag)", "the module uses exceptions, which this JavaScript engine does not have; Node 24.15"),
        (LEGACY, "legacy exceptions"),
        ("(memory i64 1) (tag)", "a memory of 64 bits"),
        (
            "(import \"wasi_snapshot_preview1\" \"fd_write\" (func (param i64) (result i64)))",
            "imports wasi_snapshot_preview1::fd_write with a wrong type",
        ),
    ] {
        let reason = refused(body);
        assert!(reason.contains(words), "{body}: {reason}");
    }
}

const STANDARD: &str = "(tag $t (param i32)) (func (export \"f\") (result i32) \
    (block $caught (result i32) (try_table (catch $t $caught) (loop $again (throw $t (i32.const 7)))) (unreachable)))";
const LEGACY: &str = "(tag $t (param i32)) (func (export \"f\") (result i32) \
    try (result i32) loop i32.const 7 throw $t end unreachable catch $t catch_all rethrow 0 end)";

#[test]
fn exceptions_are_accepted_if_the_engine_supports_them() {
    let both = Exceptions { standard: true, legacy: true };
    for (body, exceptions) in
        [(STANDARD, Exceptions { legacy: false, ..both }), (LEGACY, Exceptions { standard: false, ..both })]
    {
        for exceptions in [exceptions, both] {
            let wasm = rewrite(&module(body), RewriteLimits { exceptions, ..RewriteLimits::default() })
                .expect("it is accepted");
            let features = FEATURES.union(WasmFeatures::EXCEPTIONS).union(WasmFeatures::LEGACY_EXCEPTIONS);
            Validator::new_with_features(features).validate_all(&wasm).expect("what was rewritten is valid");
            let function = &functions(&wasm)[0];
            let at = function.iter().position(|operator| operator.starts_with("Loop")).expect("the loop exists");
            assert!(function[at + 1].starts_with("GlobalGet"), "{function:?}");
        }
    }
    let other = RewriteLimits { exceptions: Exceptions { legacy: false, ..both }, ..RewriteLimits::default() };
    assert!(rewrite(&module(LEGACY), other).is_err());
}

#[test]
fn invalid_commands_are_rejected_with_the_reason() {
    let refused = |wasm: &[u8]| rewrite(wasm, RewriteLimits::default()).expect_err("refused").to_string();
    assert!(refused(b"").starts_with("not a valid WebAssembly module"), "{}", refused(b""));
    assert!(refused(b"\0asm\x01\0\0\0\x01\xff").starts_with("not a valid WebAssembly module"));
    assert!(refused(b"\0asm\x01\0\0\0").contains("exports no _start function"));
    assert!(refused(b"\0asm\x0d\0\x01\0").contains("components cannot run in JavaScript"));
}

/// Prefixes and mutations of a module that uses all rewritten features are rejected or valid. None panics.
#[test]
fn corrupt_modules_never_panic() {
    let whole = module(&format!(
        "{CLOSE} (memory 1) (table 2 funcref) (elem (i32.const 0) $close) (global $g (mut i32) (i32.const 0)) \
         (func $f (loop $l (br_if $l (memory.grow (i32.const 1)))) (global.set $g (i32.const 1))) (start $f) (data (i32.const 0) \"x\")"
    ));
    for at in 0..whole.len() {
        for value in [0, 1, 0x40, 0x7f, 0x80, 0xff] {
            let mut damaged = whole.clone();
            damaged[at] = value;
            if let Ok(wasm) = rewrite(&damaged, RewriteLimits::default()) {
                Validator::new_with_features(FEATURES).validate_all(&wasm).expect("what was rewritten is valid");
            }
        }
        let _ = rewrite(&whole[..at], RewriteLimits::default());
    }
}

#[test]
fn import_types_start_with_the_pid() {
    let wasm = rewritten(CLOSE);
    let mut types = Vec::new();
    let mut of_imports = Vec::new();
    for payload in Parser::new(0).parse_all(&wasm) {
        match payload.expect("valid") {
            Payload::TypeSection(section) => {
                types.extend(section.into_iter_err_on_gc_types().map(|ty| ty.expect("valid").params().len()));
            }
            Payload::ImportSection(section) => {
                for import in section.into_imports() {
                    if let TypeRef::Func(ty) = import.expect("valid").ty {
                        of_imports.push(types[ty as usize]);
                    }
                }
            }
            _ => {}
        }
    }
    // fd_close, wait, tick, grow.
    assert_eq!(of_imports, [2, 2, 1, 3]);
}

#[test]
fn oversized_functions_are_rejected_as_natively() {
    let many = refused(&"(func)".repeat(200_000));
    assert_eq!(many, "the module has 200001 functions, more than 200000");
    let long = refused(&format!("(func {})", "nop ".repeat(1 << 20)));
    assert!(
        long.starts_with("the module cannot be compiled in bounded time: one of its functions has 1024 KiB"),
        "{long}"
    );
}

/// A small pre-initialized program.
fn preinit(body: &str) -> Vec<u8> {
    let host_call = "(import \"host\" \"call\" (func $host_call (param i32 i32 i32 i32) (result i32)))";
    wat::parse_str(format!("(module {host_call} (memory (export \"memory\") 1) {body})"))
        .expect("the module is well-formed")
}

const PREPARED: &str =
    "(func (export \"run\") (result i32) (call $host_call (i32.const 0) (i32.const 8) (i32.const 16) (i32.const 20)))
    (func $room (export \"host_alloc\") (param i32) (result i32) (i32.const 64))
    (data (i32.const 0) \"left out\")";

#[test]
fn preinit_programs_have_initial_pages_and_no_data() {
    let exceptions = Exceptions { standard: true, legacy: false };
    let wasm = super::rewrite_preinit(&preinit(PREPARED), 7, exceptions).expect("it is accepted");
    Validator::new_with_features(FEATURES).validate_all(&wasm).expect("what was rewritten is valid");
    let mut pages = Vec::new();
    for payload in Parser::new(0).parse_all(&wasm) {
        match payload.expect("valid") {
            Payload::MemorySection(memories) => {
                pages.extend(memories.into_iter().map(|memory| memory.expect("valid").initial))
            }
            Payload::DataSection(_) => panic!("its data is put behind it by whoever compiles it"),
            _ => {}
        }
    }
    assert_eq!(pages, [7]);
    let named = |name: &str| ("tidebox_engine".to_owned(), name.to_owned());
    let expected =
        [("host".to_owned(), "call".to_owned()), named("wait"), named("tick"), named("grow"), named("answer")];
    assert_eq!(imports(&wasm)[..5], expected);
}

#[test]
fn preinit_programs_allocate_memory_for_responses() {
    let exceptions = Exceptions { standard: true, legacy: false };
    let wasm = super::rewrite_preinit(&preinit(PREPARED), 1, exceptions).expect("it is accepted");
    let functions = functions(&wasm);
    // Its own two, then the wrapper of `host.call`. Imports are numbered first: `host.call`, `wait`, `tick`, `grow`, `answer`.
    let calls: Vec<&str> =
        functions[2].iter().filter(|operator| operator.starts_with("Call")).map(String::as_str).collect();
    let call = |function: u32| format!("Call {{ function_index: {function} }}");
    assert_eq!(calls, [call(0), call(6), call(4), call(1)], "the kernel, the program's room, the answer, and waiting");
}

#[test]
fn invalid_preinit_programs_are_rejected() {
    let refused = |wasm: &[u8], standard| {
        let exceptions = Exceptions { standard, legacy: false };
        super::rewrite_preinit(wasm, 1, exceptions).expect_err("it is refused").to_string()
    };
    assert!(refused(&preinit(PREPARED), false).contains("exceptions, which this JavaScript engine does not have"));
    assert!(refused(&preinit("(func (export \"host_alloc\"))"), true).contains("exports no run function"));
    assert!(refused(&preinit("(func (export \"run\"))"), true).contains("exports no host_alloc function"));
    let other =
        wat::parse_str("(module (import \"host\" \"other\" (func)) (func (export \"run\")))").expect("well-formed");
    assert!(refused(&other, true).contains("the function host::other"));
    assert!(rewrite(&preinit(PREPARED), RewriteLimits::default()).is_err(), "a command must not import host.call");
}

/// The layout that LLVM's linker writes: stack, data, heap.
const LINKED: &str =
    "(memory (export \"memory\") 3) (global (mut i32) (i32.const 65536)) (data (i32.const 65540) \"data\")";

fn reusable(body: &str) -> Vec<u8> {
    let limits = RewriteLimits { reusable: true, ..RewriteLimits::default() };
    let wasm = rewrite(&module(body), limits).expect("the module is accepted");
    Validator::new_with_features(FEATURES).validate_all(&wasm).expect("what was rewritten is valid");
    wasm
}

fn section(wasm: &[u8]) -> Vec<u8> {
    let sections = Parser::new(0).parse_all(wasm).filter_map(|payload| match payload {
        Ok(Payload::CustomSection(section)) => Some(section.data().to_vec()),
        _ => None,
    });
    sections.last().expect("the module has a section")
}

#[test]
fn reusable_modules_describe_their_memory_and_export_globals() {
    let wasm = reusable(&format!("{LINKED} (global (mut i64) (i64.const 2))"));
    assert_eq!(section(&wasm), [2, 0, 3, 0, 0, 0, 0, 0, 1, 0, 8, 0, 1, 0]);
    let names: Vec<String> = exports(&wasm).into_iter().map(|(name, _)| name).collect();
    let globals = ["counter", "lowest-stack", "memory-size", "0", "1"].map(|name| format!("tidebox:global:{name}"));
    assert_eq!(names, [vec!["memory".to_owned(), "_start".to_owned()], globals.to_vec()].concat());
}

#[test]
fn modules_that_cannot_be_reset_are_not_reusable() {
    let table = "(table 2 funcref)";
    for body in [
        String::new(),
        "(memory 3)".to_owned(),
        "(memory 3) (global i32 (i32.const 65536))".to_owned(),
        "(memory 3) (global (mut i64) (i64.const 65536))".to_owned(),
        format!("{LINKED} (global (mut funcref) (ref.null func))"),
        format!("{LINKED} (global (mut v128) (v128.const i32x4 0 0 0 0))"),
        format!("{LINKED} (data (i32.const 1024) \"below the stack\")"),
        format!("{LINKED} (data $d \"passive\")"),
        format!("{LINKED} (data $d \"x\") (func (data.drop $d))"),
        format!("{LINKED} {table} (func (table.set (i32.const 0) (ref.null func)))"),
        format!("{LINKED} {table} (func (drop (table.grow (ref.null func) (i32.const 1))))"),
    ] {
        let wasm = reusable(&body);
        assert_eq!(section(&wasm).len(), 6, "{body}");
        assert!(!exports(&wasm).iter().any(|(name, _)| name.starts_with("tidebox:global")), "{body}");
    }
}

#[test]
fn the_lowest_stack_pointer_is_kept_where_it_is_lowered() {
    let lower = "(func global.get 0 i32.const 16 i32.sub global.set 0)";
    let raise = "(func global.get 0 i32.const 16 i32.add global.set 0)";
    // The pid is global 0, the module's own is 1, the counter 2, the lowest stack pointer 3.
    let keeps = |body: &str| {
        let functions = functions(&reusable(&format!("{LINKED} {body}")));
        functions[0].iter().any(|operator| operator == "GlobalSet { global_index: 3 }")
    };
    assert!(keeps(lower));
    assert!(!keeps(raise));
    // An addition that lowers.
    assert!(keeps("(func global.get 0 i32.const -16 i32.add global.set 0)"));
}

#[test]
fn the_size_of_a_reused_memory_is_that_of_a_new_one() {
    let functions = functions(&reusable(&format!("{LINKED} (func (result i32) memory.size)")));
    assert_eq!(functions[0], ["GlobalGet { global_index: 4 }", "End"]);
    let grow = functions.iter().find(|f| f.iter().any(|operator| operator.starts_with("MemoryGrow")));
    let grow = grow.expect("memory can grow");
    assert!(grow.iter().any(|operator| operator == "GlobalSet { global_index: 4 }"), "{grow:?}");
}
