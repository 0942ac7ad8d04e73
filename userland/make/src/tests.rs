//! Integration tests of several modules.

use crate::Make;
use crate::failure::{Stop, TROUBLE};
use crate::options::Options;

fn make(text: &str) -> (Make, Result<(), Stop>) {
    let mut make = Make::new(&Options::default(), 0, &[]);
    let done = make.evaluate(text.as_bytes());
    (make, done)
}

fn expanded(text: &str, asked: &str) -> String {
    let (mut make, done) = make(text);
    assert_eq!(done, Ok(()));
    String::from_utf8_lossy(&make.expand(asked.as_bytes()).expect("it can be expanded")).into_owned()
}

/// Frames are larger here than in the sandbox, and threads of tests have little stack.
fn on_a_large_stack(test: fn()) {
    let thread = std::thread::Builder::new().stack_size(256 << 20).spawn(test).expect("a thread can be started");
    thread.join().expect("the test passes");
}

#[test]
fn values_are_expanded_when_they_are_used_or_when_they_are_set() {
    assert_eq!(expanded("a = $(b)\nc := $(b)\nb = 1", "$(a)-$(c)"), "1-");
    assert_eq!(expanded("f = $(2)$(1)", "$(call f,x,y)"), "yx");
    assert_eq!(expanded("l = a.c b.c", "$(l:.c=.o) $(foreach w,$(l),<$(w)>)"), "a.o b.o <a.c> <b.c>");
}

#[test]
fn a_variable_that_refers_to_itself_ends_make() {
    let (mut make, _) = make("a = $(b)\nb = $(a)");
    assert_eq!(make.expand(b"$(a)"), Err(Stop::Code(TROUBLE)));
}

#[test]
fn a_function_without_an_end_is_stopped_and_not_the_stack() {
    on_a_large_stack(|| {
        let (mut make, _) = make("f = $(call f,$(1)x)");
        assert_eq!(make.expand(b"$(call f,x)"), Err(Stop::Code(TROUBLE)));
    });
}

#[test]
fn a_chain_of_targets_is_stopped_and_not_the_stack() {
    on_a_large_stack(|| {
        let rules: String = (0..5000).map(|at| format!("t{at}: t{}\n", at + 1)).collect();
        let (mut make, done) = make(&rules);
        assert_eq!(done, Ok(()));
        assert_eq!(make.make_goals(&[b"t0".to_vec()]), Err(Stop::Code(TROUBLE)));
    });
}

#[test]
fn binary_makefiles_are_parsed() {
    let (_, done) = make("all:\n\t@echo \u{0}\n\u{0} = \u{1}\n");
    assert_eq!(done, Ok(()));
    let (_, done) = make("$(\n");
    assert_eq!(done, Err(Stop::Code(TROUBLE)));
}
