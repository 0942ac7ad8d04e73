//! Our preview1 against wasmtime-wasi's: the same guest, the same tree, and the same answers to every call.

mod difference;
mod ours;
mod theirs;
mod tree;

use std::path::Path;
use std::sync::LazyLock;

use ours::Ours;
use theirs::Theirs;
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

/// Both implementations, each with the probe compiled once.
static BOTH: LazyLock<(Theirs, Ours)> = LazyLock::new(|| {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../userland/dist/probe.wasm");
    let probe = std::fs::read(&path).unwrap_or_else(|error| {
        panic!("{}: {error}\nthe guest programs are not built; run `cargo xtask userland`", path.display())
    });
    (Theirs::new(&probe), Ours::new(&probe))
});

#[test]
fn dump() {
    let (theirs, ours) = &*BOTH;
    let list = theirs.run(&Call::new("3 list"));
    for fd in ["3", "4"] {
        let mut runs: Vec<String> = list.text.lines().map(|name| format!("{fd} {name}")).collect();
        runs.extend((0..200).map(|seed| format!("{fd} random {seed} 200")));
        for (who, dir) in [(0, "/tmp/oracle-dump/theirs"), (1, "/tmp/oracle-dump/ours")] {
            std::fs::create_dir_all(dir).unwrap();
            let t = std::time::Instant::now();
            for name in &runs {
                let call = Call::new(name);
                let run = if who == 0 { theirs.run(&call) } else { ours.run(&call) };
                let tree: Vec<String> = run
                    .tree
                    .iter()
                    .map(|(p, n)| {
                        format!(
                            "tree {p} {}",
                            match n {
                                tree::Node::Dir => "dir".to_owned(),
                                tree::Node::Link(t) => format!("-> {}", t.escape_ascii()),
                                tree::Node::File(b) => format!("{} {}", b.len(), b[..b.len().min(40)].escape_ascii()),
                            }
                        )
                    })
                    .collect();
                let text = format!("{}\n{}\n{:?}\n", run.text, tree.join("\n"), run.end);
                std::fs::write(format!("{dir}/{name}"), text).unwrap();
            }
            eprintln!("{dir} {:?}", t.elapsed());
        }
    }
}
