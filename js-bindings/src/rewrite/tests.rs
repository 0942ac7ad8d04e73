use wasmparser::{ExternalKind, Parser, Payload, TypeRef, Validator, WasmFeatures};

use super::{Bounds, Exceptions, FEATURES, rewrite};

fn module(body: &str) -> Vec<u8> {
    wat::parse_str(format!("(module {body} (func (export \"_start\")))")).expect("the test's module is well-formed")
}

fn rewritten(body: &str) -> Vec<u8> {
    let wasm = rewrite(&module(body), Bounds::default()).expect("the module is accepted");
    Validator::new_with_features(FEATURES).validate_all(&wasm).expect("what was rewritten is valid");
    wasm
}

fn refused(body: &str) -> String {
    rewrite(&module(body), Bounds::default()).expect_err("the module is refused").to_string()
}

/// The operators of the functions that a module defines, in order.
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
fn a_loop_is_checked_at_its_header_and_a_plain_leaf_is_not() {
    let wasm = rewritten("(func (loop $l br $l)) (func (result i32) i32.const 1)");
    let functions = functions(&wasm);
    let of_loop = &functions[0];
    assert!(of_loop[0].starts_with("Loop") && of_loop[1].starts_with("GlobalGet"), "{of_loop:?}");
    assert_eq!(functions[1].len(), 2, "{:?}", functions[1]);
}

#[test]
fn a_function_that_calls_is_checked_at_its_entry() {
    let wasm = rewritten("(func $f call $f)");
    assert!(functions(&wasm)[0][0].starts_with("GlobalGet"));
}

#[test]
fn a_call_of_the_sandbox_goes_to_a_wrapper_that_passes_the_process_first() {
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
fn an_import_in_a_table_is_its_wrapper_too() {
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
fn memory_and_tables_get_the_maximum_and_growth_asks_first() {
    let bounds = Bounds { memory_bytes: 10 << 16, table_elements: 20, ..Bounds::default() };
    let wasm = module("(memory (export \"memory\") 2 100) (table 3 funcref) (func (drop (memory.grow (i32.const 1))))");
    let wasm = rewrite(&wasm, bounds).expect("the module is accepted");
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
        // Functions: those of the engine are 0 to 2, then the own one, `_start`, the check, growth and the charge.
        let charged = functions[0].windows(2).any(|pair| {
            pair[0] == "Call { function_index: 7 }"
                && (pair[1].starts_with("MemoryFill") || pair[1].starts_with("MemoryCopy"))
        });
        assert!(charged, "{operator}: {:?}", functions[0]);
        assert!(
            functions.last().expect("there are some").iter().any(|operator| operator == "I32ShrU"),
            "{functions:?}"
        );
    }
}

#[test]
fn a_module_that_forks_exports_what_its_child_needs() {
    let globals = "(global (mut i32) (i32.const 1)) (global i64 (i64.const 2)) (global (mut i64) (i64.const 3))";
    let names = |wasm: &[u8]| exports(wasm).into_iter().map(|(name, _)| name).collect::<Vec<_>>();
    let forks = rewritten(&format!("{globals} (func (export \"tidebox_fork_child\") (param i32))"));
    assert_eq!(names(&forks), ["tidebox_fork_child", "_start", "tidebox:global:0", "tidebox:global:2"]);
    assert_eq!(names(&rewritten(globals)), ["_start"]);
}

#[test]
fn a_start_function_waits_until_the_host_knows_the_memory() {
    let wasm = rewritten("(func $first) (start $first)");
    assert!(exports(&wasm).contains(&("tidebox:start".to_owned(), ExternalKind::Func)));
    let starts = Parser::new(0).parse_all(&wasm).any(|payload| matches!(payload, Ok(Payload::StartSection { .. })));
    assert!(!starts);
}

#[test]
fn what_the_host_must_know_is_in_a_section_and_other_custom_sections_are_gone() {
    let aware =
        "(import \"tidebox_v1\" \"getids\" (func (param i32) (result i32))) (memory 3) (@custom \"name\" \"x\")";
    let wasm = rewritten(aware);
    let sections = Parser::new(0).parse_all(&wasm).filter_map(|payload| match payload {
        Ok(Payload::CustomSection(section)) => Some((section.name().to_owned(), section.data().to_vec())),
        _ => None,
    });
    assert_eq!(sections.collect::<Vec<_>>(), [("tidebox".to_owned(), vec![1, 1, 3, 0, 0, 0])]);
}

#[test]
fn a_module_without_types_globals_or_memory_is_rewritten_too() {
    rewritten("");
}

#[test]
fn what_this_sandbox_does_not_have_is_named() {
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
        (LEGACY, "exceptions of the kind that was given up"),
        ("(memory i64 1) (tag)", "a memory of 64 bits"),
        (
            "(import \"wasi_snapshot_preview1\" \"fd_write\" (func (param i64) (result i64)))",
            "imports wasi_snapshot_preview1::fd_write with a type that it does not have",
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
fn exceptions_pass_where_the_engine_has_them_and_loops_in_them_are_checked() {
    let both = Exceptions { standard: true, legacy: true };
    for (body, exceptions) in
        [(STANDARD, Exceptions { legacy: false, ..both }), (LEGACY, Exceptions { standard: false, ..both })]
    {
        for exceptions in [exceptions, both] {
            let wasm = rewrite(&module(body), Bounds { exceptions, ..Bounds::default() }).expect("it is accepted");
            let features = FEATURES.union(WasmFeatures::EXCEPTIONS).union(WasmFeatures::LEGACY_EXCEPTIONS);
            Validator::new_with_features(features).validate_all(&wasm).expect("what was rewritten is valid");
            let function = &functions(&wasm)[0];
            let at = function.iter().position(|operator| operator.starts_with("Loop")).expect("the loop is there");
            assert!(function[at + 1].starts_with("GlobalGet"), "{function:?}");
        }
    }
    let other = Bounds { exceptions: Exceptions { legacy: false, ..both }, ..Bounds::default() };
    assert!(rewrite(&module(LEGACY), other).is_err());
}

#[test]
fn bytes_that_are_no_command_are_refused_with_the_reason() {
    let refused = |wasm: &[u8]| rewrite(wasm, Bounds::default()).expect_err("refused").to_string();
    assert!(refused(b"").starts_with("not a valid WebAssembly module"), "{}", refused(b""));
    assert!(refused(b"\0asm\x01\0\0\0\x01\xff").starts_with("not a valid WebAssembly module"));
    assert!(refused(b"\0asm\x01\0\0\0").contains("exports no _start function"));
    assert!(refused(b"\0asm\x0d\0\x01\0").contains("components cannot run in JavaScript"));
}

/// Every prefix and many damaged copies of a module that uses all that is rewritten are refused or valid, and none panics.
#[test]
fn damaged_modules_never_panic() {
    let whole = module(&format!(
        "{CLOSE} (memory 1) (table 2 funcref) (elem (i32.const 0) $close) (global $g (mut i32) (i32.const 0)) \
         (func $f (loop $l (br_if $l (memory.grow (i32.const 1)))) (global.set $g (i32.const 1))) (start $f) (data (i32.const 0) \"x\")"
    ));
    for at in 0..whole.len() {
        for value in [0, 1, 0x40, 0x7f, 0x80, 0xff] {
            let mut damaged = whole.clone();
            damaged[at] = value;
            if let Ok(wasm) = rewrite(&damaged, Bounds::default()) {
                Validator::new_with_features(FEATURES).validate_all(&wasm).expect("what was rewritten is valid");
            }
        }
        let _ = rewrite(&whole[..at], Bounds::default());
    }
}

#[test]
fn types_of_imports_begin_with_the_process() {
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
fn what_no_engine_compiles_in_bounded_time_is_refused_as_natively() {
    let many = refused(&"(func)".repeat(200_000));
    assert_eq!(many, "the module has 200001 functions, more than 200000");
    let long = refused(&format!("(func {})", "nop ".repeat(1 << 20)));
    assert!(
        long.starts_with("the module cannot be compiled in bounded time: one of its functions has 1024 KiB"),
        "{long}"
    );
}

/// A prepared program of a few lines.
fn prepared(body: &str) -> Vec<u8> {
    let door = "(import \"host\" \"call\" (func $door (param i32 i32 i32 i32) (result i32)))";
    wat::parse_str(format!("(module {door} (memory (export \"memory\") 1) {body})")).expect("the module is well-formed")
}

const PREPARED: &str =
    "(func (export \"run\") (result i32) (call $door (i32.const 0) (i32.const 8) (i32.const 16) (i32.const 20)))
    (func $room (export \"host_alloc\") (param i32) (result i32) (i32.const 64))
    (data (i32.const 0) \"left out\")";

#[test]
fn a_prepared_program_begins_with_its_pages_and_without_its_data() {
    let exceptions = Exceptions { standard: true, legacy: false };
    let wasm = super::rewrite_prepared(&prepared(PREPARED), 7, exceptions).expect("it is accepted");
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
fn a_prepared_program_makes_room_for_what_its_door_answers() {
    let exceptions = Exceptions { standard: true, legacy: false };
    let wasm = super::rewrite_prepared(&prepared(PREPARED), 1, exceptions).expect("it is accepted");
    let functions = functions(&wasm);
    // Its own two, then the wrapper of the door; imports are numbered before them: the door, `wait`, `tick`, `grow`, `answer`.
    let calls: Vec<&str> =
        functions[2].iter().filter(|operator| operator.starts_with("Call")).map(String::as_str).collect();
    let call = |function: u32| format!("Call {{ function_index: {function} }}");
    assert_eq!(calls, [call(0), call(6), call(4), call(1)], "the kernel, the program's room, the answer, and waiting");
}

#[test]
fn what_is_no_prepared_program_is_refused() {
    let refused = |wasm: &[u8], standard| {
        let exceptions = Exceptions { standard, legacy: false };
        super::rewrite_prepared(wasm, 1, exceptions).expect_err("it is refused").to_string()
    };
    assert!(refused(&prepared(PREPARED), false).contains("exceptions, which this JavaScript engine does not have"));
    assert!(refused(&prepared("(func (export \"host_alloc\"))"), true).contains("exports no run function"));
    assert!(refused(&prepared("(func (export \"run\"))"), true).contains("exports no host_alloc function"));
    let other =
        wat::parse_str("(module (import \"host\" \"other\" (func)) (func (export \"run\")))").expect("well-formed");
    assert!(refused(&other, true).contains("the function host::other"));
    assert!(rewrite(&prepared(PREPARED), Bounds::default()).is_err(), "a command has no such door");
}
