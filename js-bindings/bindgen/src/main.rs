//! Generates the JavaScript of a module built with wasm-bindgen: `tidebox-bindgen MODULE DIRECTORY NAME`.
//!
//! Uses the library instead of the command line tool, whose dependencies include an HTTP server for tests.

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [module, dir, name] = arguments.as_slice() else {
        eprintln!("usage: tidebox-bindgen MODULE FOLDER NAME");
        return ExitCode::from(2);
    };
    let mut bindgen = wasm_bindgen_cli_support::Bindgen::new();
    let written = bindgen.input_path(module).web(true).and_then(|bindgen| {
        bindgen
            .typescript(true)
            .omit_default_module_path(true)
            .remove_name_section(true)
            .remove_producers_section(true)
            .out_name(name)
            .generate(dir)
    });
    if let Err(error) = written {
        eprintln!("tidebox-bindgen: {module}: {error:#}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
