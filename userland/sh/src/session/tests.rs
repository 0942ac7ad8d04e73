use std::collections::BTreeMap;

use super::state::{State, StoredFunction};
use crate::function::Function;
use crate::ir::Bytes;
use crate::jobs::StoredJob;
use crate::vars::{Assoc, Value, Var};

/// Numbers that look random and are the same at every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        // The constants are Knuth's.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    fn below(&mut self, n: u64) -> u64 {
        self.roll() % n
    }

    /// Arbitrary bytes, sometimes too many for a length of one byte.
    fn bytes(&mut self) -> Bytes {
        let len = match self.below(20) {
            0 => 300,
            1 => 20_000,
            n => n,
        };
        (0..len).map(|_| (self.roll() & 0xff) as u8).collect()
    }

    fn name(&mut self) -> Bytes {
        format!("v_{}", self.roll()).into_bytes()
    }

    fn many<T>(&mut self, mut each: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..self.below(6)).map(|_| each(self)).collect()
    }

    fn var(&mut self) -> Var {
        let value = match self.below(4) {
            0 => Value::Unset,
            1 => Value::Text(self.bytes()),
            2 => Value::Indexed(BTreeMap::from_iter(self.many(|d| (d.roll() << (d.below(31)), d.bytes())))),
            _ => {
                let mut map = Assoc::default();
                for (key, value) in self.many(|d| (d.bytes(), d.bytes())) {
                    map.insert(key, value);
                }
                Value::Assoc(map)
            }
        };
        Var { value, flags: self.below(128) as u16 }
    }

    fn state(&mut self) -> State {
        State {
            dir: self.many(Self::bytes).pop(),
            removed: self.many(Self::bytes),
            variables: self.many(|d| (d.name(), d.var())),
            removed_functions: self.many(Self::bytes),
            functions: self.many(|d| StoredFunction {
                name: d.bytes(),
                text: d.bytes(),
                source: d.bytes(),
                line: d.roll() as u32,
                extglob: d.below(2) == 0,
                exported: d.below(2) == 0,
            }),
            aliases: self.many(|d| (d.bytes(), d.bytes())),
            dir_stack: self.many(Self::bytes),
            jobs: self.many(|d| StoredJob {
                number: d.roll() as u32 >> 1,
                pids: d.many(|d| d.roll() as u32),
                text: d.bytes(),
                grouped: d.below(2) == 0,
            }),
        }
    }
}

/// Arrays are equal when the same keys and values come out in the same order.
fn format_state(state: &State) -> String {
    let var = |var: &Var| match &var.value {
        Value::Assoc(map) => format!("{} {:?}", var.flags, map.entries()),
        _ => format!("{var:?}"),
    };
    let variables: Vec<_> = state.variables.iter().map(|(name, value)| (name, var(value))).collect();
    format!("{variables:?} {:?}", State { variables: Vec::new(), ..state.clone() })
}

#[test]
fn every_state_comes_back_as_it_was() {
    for seed in 0..500 {
        let state = Dice(seed).state();
        let decoded = State::decode(&state.encode()).expect("what was written can be read");
        assert_eq!(format_state(&decoded), format_state(&state), "seed {seed}");
    }
}

#[test]
fn unchanged_session_is_stored_as_no_bytes() {
    assert!(State::default().encode().is_empty());
    assert_eq!(State::decode(b""), Some(State::default()));
}

#[test]
fn damaged_state_never_panics() {
    for seed in 0..300 {
        let mut dice = Dice(seed);
        let good = dice.state().encode();
        for len in 0..good.len().min(600) {
            let cut = State::decode(good.get(..len).unwrap_or_default());
            assert!(len == 0 || cut.is_none(), "seed {seed} cut at {len}");
        }
        for _ in 0..50 {
            let mut bad = good.clone();
            let at = dice.below(bad.len().max(1) as u64) as usize;
            if let Some(byte) = bad.get_mut(at) {
                *byte = dice.roll() as u8;
            }
            // The test only checks that it returns.
            let _ = State::decode(&bad);
        }
    }
}

#[test]
fn a_count_that_lies_costs_no_memory() {
    // No directory, then a count of removed names that exceeds the data.
    let lie = [b"tbsh\x01\x00".as_slice(), &[0xff; 9], &[0x01]].concat();
    assert_eq!(State::decode(&lie), None);
    assert_eq!(State::decode(&[b"tbsh\x01\x01".as_slice(), &[0xff; 9], &[0x01], b"/"].concat()), None);
}

#[test]
fn associative_arrays_keep_bash_order() {
    let mut map = Assoc::default();
    for n in 0..3000 {
        map.insert(format!("key{n}").into_bytes(), n.to_string().into_bytes());
    }
    map.remove(b"key7");
    map.insert(b"key7".to_vec(), b"again".to_vec());
    let var = Var { value: Value::Assoc(map.clone()), flags: 0 };
    let state = State { variables: vec![(b"m".to_vec(), var)], ..State::default() };
    let decoded = State::decode(&state.encode()).expect("what was written can be read");
    let Some((_, Var { value: Value::Assoc(back), .. })) = decoded.variables.first() else { panic!("no array") };
    assert_eq!(back.entries(), map.entries());
}

#[test]
fn a_hundred_variables_take_little_more_than_their_text() {
    let variables = (0..100).map(|n| {
        let value = Value::Text(format!("value {n}").into_bytes());
        (format!("variable_{n}").into_bytes(), Var { value, flags: 1 })
    });
    let state = State { variables: variables.collect(), ..State::default() };
    let text: usize = (0..100).map(|n| format!("variable_{n}value {n}").len()).sum();
    assert!(state.encode().len() < text + 500, "{} bytes for {text} of text", state.encode().len());
}

/// The function that `script` defines last.
fn function(script: &str) -> std::rc::Rc<Function> {
    let mut shell = crate::state::Shell::new(b"bash".to_vec());
    shell.run_text(script.as_bytes(), 1).expect("the script runs");
    std::rc::Rc::clone(shell.functions.by_name.get(b"f".as_slice()).expect("f is defined"))
}

#[test]
fn functions_survive_parsing_their_text() {
    for script in [
        "f() { echo a; }",
        "f () ( echo sub ) >&2",
        "function f { echo \"$1\" | cat; }",
        "f() {\n  for i in 1 2; do\n    echo $i # why\n  done\n}",
        "f() { cat <<EOF; }\nbody $1\nEOF\necho after",
        "f() { cat <<A; cat <<-'B'; }; echo same line\none\nA\n\ttwo\n\tB",
        "f() {\ncat <<EOF\nbody $(echo x)\nEOF\n}",
        "cat <<A >/dev/null; f() { echo between; }\nforeign\nA",
        "cat <<A >/dev/null; f() {\nforeign\nA\necho within\n}",
        "shopt -s extglob\nf() { case $1 in !(*.txt)) echo no;; esac; }",
        "f() { [[ ( a == b || c == c ) && ! ( d == d && e == f ) ]]; }",
        "f() { f() { echo inner; }; f; }",
        "shopt -s expand_aliases; alias say='echo said '\nf() { say it; }",
    ] {
        let original = function(script);
        let again = Function::from_text(
            std::rc::Rc::clone(&original.name),
            original.text(),
            std::rc::Rc::clone(&original.source),
            original.line,
            original.extglob,
        );
        assert!(again.body().is_some(), "{script}\n{}", String::from_utf8_lossy(&original.text()));
        let printed = |function: &Function| String::from_utf8_lossy(&crate::print::function(function)).into_owned();
        assert_eq!(printed(&again), printed(&original), "{script}");
    }
}

#[test]
fn text_beyond_one_definition_is_rejected() {
    for text in ["f() { :; }; echo more", "echo f", "f() { :; } &", "f() { :; } | cat", "! f() { :; }", "f() {", ""] {
        let name = b"f".as_slice().into();
        let function = Function::from_text(name, text.as_bytes().into(), b"".as_slice().into(), 1, false);
        assert!(function.body().is_none(), "{text}");
    }
}
