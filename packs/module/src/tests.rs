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
fn data_is_taken_out_and_a_named_function_becomes_an_export() {
    let wasm = wat::parse_str(
        r#"(module
            (memory (export "memory") 2)
            (func $hidden (result i32) (i32.load (i32.const 70000)))
            (func $seen (export "seen"))
            (data (i32.const 70000) "abcd"))"#,
    )
    .unwrap();
    let parts = take_apart(&wasm, &["hidden", "absent"]).unwrap();
    assert_eq!((parts.memory_bytes, parts.data), (131_072, vec![(70_000, b"abcd".as_slice())]));
    wasmparser::Validator::new().validate_all(&parts.module).unwrap();
    assert_eq!(exports(&parts.module), ["memory", "seen", "hidden"]);
}

#[test]
fn a_module_whose_memory_cannot_be_told_is_refused() {
    for (wat, why) in [
        (r#"(module (memory 1) (data "passive") (func (data.drop 0)))"#, "it takes data while it runs"),
        ("(module (memory 1) (memory 1))", "it has not exactly one memory of 32 bits"),
        (r#"(module (memory 1) (data (i32.const 65535) "ab"))"#, "data lies outside the memory"),
    ] {
        let error = take_apart(&wat::parse_str(wat).unwrap(), &[]).unwrap_err();
        assert!(error.contains(why), "{error}");
    }
    assert!(take_apart(b"\0asm", &[]).is_err());
}
