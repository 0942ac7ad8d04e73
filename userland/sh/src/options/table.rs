//! Tables of the options of `set` and `shopt`.

use super::Options;

/// A switch: the name for `-o` or `shopt`, and its letter if it has one.
#[derive(Debug)]
pub(crate) struct Switch {
    pub(crate) name: &'static str,
    pub(crate) letter: Option<u8>,
    pub(crate) get: fn(&Options) -> bool,
    pub(crate) set: fn(&mut Options, bool),
}

macro_rules! switches {
    ($($field:ident $(= $name:literal)? $($letter:literal)?,)*) => {
        &[$(Switch {
            name: first(&[$($name,)? stringify!($field)]),
            letter: [$(Some($letter),)? None][0],
            get: |options| options.$field,
            set: |options, on| options.$field = on,
        },)*]
    };
}

const fn first(names: &[&'static str]) -> &'static str {
    names[0]
}

/// The options of `set`, sorted by name as `set -o` prints them.
pub(crate) const SET: &[Switch] = switches! {
    allexport b'a', braceexpand b'B', emacs, errexit b'e', errtrace b'E', functrace b'T', hashall b'h',
    histexpand b'H', history, ignoreeof, interactive_comments = "interactive-comments", keyword b'k',
    monitor b'm', noclobber b'C', noexec b'n', noglob b'f', nolog, notify b'b', nounset b'u',
    onecmd b't', physical b'P', pipefail, posix, privileged b'p', verbose b'v', vi, xtrace b'x',
};

/// The options of `shopt`, in bash's order.
pub(crate) const SHOPT: &[Switch] = switches! {
    autocd, assoc_expand_once, cdable_vars, cdspell, checkhash, checkjobs, checkwinsize, cmdhist,
    compat31, compat32, compat40, compat41, compat42, compat43, compat44, complete_fullquote, direxpand,
    dirspell, dotglob, execfail, expand_aliases, extdebug, extglob, extquote, failglob, force_fignore,
    globasciiranges, globskipdots, globstar, gnu_errfmt, histappend, histreedit, histverify,
    hostcomplete, huponexit, inherit_errexit, interactive_comments, lastpipe, lithist, localvar_inherit,
    localvar_unset, login_shell, mailwarn, no_empty_cmd_completion, nocaseglob, nocasematch,
    noexpand_translation, nullglob, patsub_replacement, progcomp, progcomp_alias, promptvars,
    restricted_shell, shift_verbose, sourcepath, varredir_close, xpg_echo,
};

/// The switch with this name.
pub(crate) fn switch(table: &'static [Switch], name: &[u8]) -> Option<&'static Switch> {
    table.iter().find(|switch| switch.name.as_bytes() == name)
}

/// Returns whether `set` accepts a letter. `-k` and `-t` are listed, but not supported.
pub(crate) fn has_letter(letter: u8) -> bool {
    !matches!(letter, b'k' | b't') && SET.iter().any(|switch| switch.letter == Some(letter))
}
