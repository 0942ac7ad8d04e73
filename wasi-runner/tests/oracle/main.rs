//! Our preview1 against wasmtime-wasi's: the same guest, the same tree, and the same answers to every call.

mod theirs;
mod tree;

use std::path::Path;

use tree::Tree;

/// One way to start the probe.
#[derive(Clone, Debug)]
pub(crate) struct Call(Vec<String>);

impl Call {
    fn new(words: &str) -> Self {
        Self(words.split(' ').map(str::to_owned).collect())
    }

    fn arguments(&self) -> Vec<String> {
        let name = "probe".to_owned();
        std::iter::once(name).chain(self.0.iter().cloned()).collect()
    }

    fn environment(&self) -> Vec<(String, String)> {
        [("HOME", "/"), ("EMPTY", ""), ("TEXT", "two words = \u{fc}")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .to_vec()
    }

    fn input(&self) -> &'static [u8] {
        b"a line of input\nand another\n"
    }
}

/// How the probe ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Exit(i32),
    Trap(String),
}

/// What came of one start.
#[derive(Debug)]
pub(crate) struct Run {
    text: String,
    end: End,
    tree: Tree,
}

fn probe() -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../userland/dist/probe.wasm");
    std::fs::read(&path).unwrap_or_else(|error| {
        panic!("{}: {error}\nthe guest programs are not built; run `cargo xtask userland`", path.display())
    })
}

#[test]
fn dump() {
    let theirs = theirs::Theirs::new(&probe());
    let list = theirs.run(&Call::new("3 list"));
    std::fs::create_dir_all("/tmp/oracle-dump").unwrap();
    for name in list.text.lines() {
        let run = theirs.run(&Call::new(&format!("3 {name}")));
        let text = format!("{}\n{:?}\n", run.text, run.end);
        std::fs::write(format!("/tmp/oracle-dump/{name}"), text).unwrap();
    }
    let t = std::time::Instant::now();
    for seed in 0..200 {
        let run = theirs.run(&Call::new(&format!("3 random {seed} 200")));
        std::fs::write(format!("/tmp/oracle-dump/random {seed}"), format!("{}{:?}\n", run.text, run.end)).unwrap();
    }
    eprintln!("{:?}", t.elapsed());
}
