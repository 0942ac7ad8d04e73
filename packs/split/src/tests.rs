use super::*;

fn exports(wasm: &[u8]) -> Vec<String> {
    let sections = Parser::new(0).parse_all(wasm).map(Result::unwrap);
    let exports = sections.filter_map(|payload| match payload {
        Payload::ExportSection(exports) => Some(exports),
        _ => None,
    });
    exports.flatten().map(|export| export.unwrap().name.to_owned()).collect()
}

#[test]
fn data_is_removed_and_a_named_function_is_exported() {
    let wasm = wat::parse_str(
        r#"(module
            (memory (export "memory") 2)
            (func $hidden (result i32) (i32.load (i32.const 70000)))
            (func $seen (export "seen"))
            (data (i32.const 70000) "abcd"))"#,
    )
    .unwrap();
    let parts = split_module(&wasm, &["hidden", "absent"]).unwrap();
    assert_eq!((parts.memory_bytes, parts.data), (131_072, vec![(70_000, b"abcd".as_slice().into())]));
    wasmparser::Validator::new().validate_all(&parts.module).unwrap();
    assert_eq!(exports(&parts.module), ["memory", "seen", "hidden"]);
}

#[test]
fn a_module_with_unknown_initial_memory_is_rejected() {
    for (wat, why) in [
        (r#"(module (memory 1) (data "passive") (func (data.drop 0)))"#, "it uses passive data segments"),
        ("(module (memory 1) (memory 1))", "it does not have exactly one 32-bit memory"),
        (r#"(module (memory 1) (data (i32.const 65535) "ab"))"#, "a data segment lies outside the initial memory"),
    ] {
        let error = split_module(&wat::parse_str(wat).unwrap(), &[]).unwrap_err();
        assert!(error.contains(why), "{error}");
    }
    assert!(split_module(b"\0asm", &[]).is_err());
}

/// The functions of the interpreter that create exceptions from error numbers, reduced to the handling of numbers.
const EXCEPTIONS: &str = r#"(module
    (import "env" "shown" (func $shown (param i32 i32)))
    (memory (export "memory") 1)
    (func $Py_BuildValue (param i32 i32) (result i32)
        (call $shown (local.get 0) (i32.load (local.get 1))) (i32.const 5))
    (func $PyErr_SetFromErrnoWithFilenameObjects (export "raise") (param i32) (result i32)
        (i32.store (i32.const 16) (local.get 0))
        (call $Py_BuildValue (i32.const 7) (i32.const 16)))
    (func $_PyIO_trap_eintr (export "is_interrupt") (param i32) (result i32)
        (i32.eq (local.get 0) (i32.const 27)))
    (func $PyLong_FromLong (param i32) (result i32) (local.get 0))
    (func $errno_exec (export "noted") (result i32) (call $PyLong_FromLong (i32.const 44)))
    (func (export "other") (param i32) (result i32)
        (i32.store (i32.const 16) (local.get 0))
        (i32.add (call $Py_BuildValue (i32.const 27) (i32.const 16)) (i32.const 27))))"#;

/// Returns the instructions of the module's functions, one list each.
fn instructions(wasm: &[u8]) -> Vec<Vec<String>> {
    let sections = Parser::new(0).parse_all(wasm).map(Result::unwrap);
    let bodies = sections.filter_map(|payload| match payload {
        Payload::CodeSectionEntry(body) => Some(body),
        _ => None,
    });
    bodies
        .map(|body| body.get_operators_reader().unwrap().into_iter().map(|op| format!("{:?}", op.unwrap())).collect())
        .collect()
}

#[test]
fn numbers_are_translated_only_where_exceptions_are_created() {
    let wasm = wat::parse_str(EXCEPTIONS).unwrap();
    let module = split_module(&wasm, &[]).unwrap().module;
    wasmparser::Validator::new().validate_all(&module).unwrap();
    let (before, after) = (instructions(&wasm), instructions(&module));
    assert_eq!((before.len(), after.len()), (6, 8));
    assert_eq!((&before[0], &before[5]), (&after[0], &after[5]));
    // The import is function 0, so the added ones are number 7 and 8.
    assert!(before[1].contains(&"Call { function_index: 1 }".to_owned()));
    assert!(after[1].contains(&"Call { function_index: 7 }".to_owned()), "{:?}", after[1]);
    assert!(after[2].contains(&"I32Const { value: 4 }".to_owned()), "{:?}", after[2]);
    assert!(after[4].contains(&"Call { function_index: 8 }".to_owned()), "{:?}", after[4]);
    assert_eq!(after[7][after[7].len() - 2], "Call { function_index: 4 }");
    assert_eq!(after[6].iter().filter(|op| op.starts_with("I32Store")).count(), 77);
    assert_eq!(
        after[6][after[6].len() - 4..],
        ["LocalGet { local_index: 0 }", "LocalGet { local_index: 1 }", "Call { function_index: 1 }", "End"]
    );
}
