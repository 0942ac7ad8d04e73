//! Tools of gettext. The crates `envsubst` and `subst` have another syntax.

mod envsubst;

pub use envsubst::main as envsubst;
