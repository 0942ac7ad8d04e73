//! The tables of what `set` and `shopt` switch.

use super::Options;

/// A switch: the name for `-o` or `shopt`, and its letter if it has one.
#[derive(Debug)]
pub(crate) struct Switch {
    pub(crate) name: &'static str,
    pub(crate) letter: Option<u8>,
    pub(crate) get: fn(&Options) -> bool,
    /// `None` for a switch that is accepted and changes nothing.
    pub(crate) set: Option<fn(&mut Options, bool)>,
}

macro_rules! switches {
    ($($field:ident, $name:literal, $letter:expr;)*) => {
        &[$(Switch {
            name: $name,
            letter: $letter,
            get: |options| options.$field,
            set: Some(|options, on| options.$field = on),
        },)*]
    };
}

/// The options of `set`, sorted by name as `set -o` prints them.
pub(crate) const SET: &[Switch] = switches! {
    allexport, "allexport", Some(b'a');
    braceexpand, "braceexpand", Some(b'B');
    emacs, "emacs", None;
    errexit, "errexit", Some(b'e');
    errtrace, "errtrace", Some(b'E');
    functrace, "functrace", Some(b'T');
    hashall, "hashall", Some(b'h');
    histexpand, "histexpand", Some(b'H');
    history, "history", None;
    ignoreeof, "ignoreeof", None;
    interactive_comments, "interactive-comments", None;
    keyword, "keyword", Some(b'k');
    monitor, "monitor", Some(b'm');
    noclobber, "noclobber", Some(b'C');
    noexec, "noexec", Some(b'n');
    noglob, "noglob", Some(b'f');
    nolog, "nolog", None;
    notify, "notify", Some(b'b');
    nounset, "nounset", Some(b'u');
    onecmd, "onecmd", Some(b't');
    physical, "physical", Some(b'P');
    pipefail, "pipefail", None;
    posix, "posix", None;
    privileged, "privileged", Some(b'p');
    verbose, "verbose", Some(b'v');
    vi, "vi", None;
    xtrace, "xtrace", Some(b'x');
};

/// The options of `shopt`, in bash's order.
pub(crate) const SHOPT: &[Switch] = switches! {
    autocd, "autocd", None;
    assoc_expand_once, "assoc_expand_once", None;
    cdable_vars, "cdable_vars", None;
    cdspell, "cdspell", None;
    checkhash, "checkhash", None;
    checkjobs, "checkjobs", None;
    checkwinsize, "checkwinsize", None;
    cmdhist, "cmdhist", None;
    compat31, "compat31", None;
    compat32, "compat32", None;
    compat40, "compat40", None;
    compat41, "compat41", None;
    compat42, "compat42", None;
    compat43, "compat43", None;
    compat44, "compat44", None;
    complete_fullquote, "complete_fullquote", None;
    direxpand, "direxpand", None;
    dirspell, "dirspell", None;
    dotglob, "dotglob", None;
    execfail, "execfail", None;
    expand_aliases, "expand_aliases", None;
    extdebug, "extdebug", None;
    extglob, "extglob", None;
    extquote, "extquote", None;
    failglob, "failglob", None;
    force_fignore, "force_fignore", None;
    globasciiranges, "globasciiranges", None;
    globskipdots, "globskipdots", None;
    globstar, "globstar", None;
    gnu_errfmt, "gnu_errfmt", None;
    histappend, "histappend", None;
    histreedit, "histreedit", None;
    histverify, "histverify", None;
    hostcomplete, "hostcomplete", None;
    huponexit, "huponexit", None;
    inherit_errexit, "inherit_errexit", None;
    interactive_comments, "interactive_comments", None;
    lastpipe, "lastpipe", None;
    lithist, "lithist", None;
    localvar_inherit, "localvar_inherit", None;
    localvar_unset, "localvar_unset", None;
    login_shell, "login_shell", None;
    mailwarn, "mailwarn", None;
    no_empty_cmd_completion, "no_empty_cmd_completion", None;
    nocaseglob, "nocaseglob", None;
    nocasematch, "nocasematch", None;
    noexpand_translation, "noexpand_translation", None;
    nullglob, "nullglob", None;
    patsub_replacement, "patsub_replacement", None;
    progcomp, "progcomp", None;
    progcomp_alias, "progcomp_alias", None;
    promptvars, "promptvars", None;
    restricted_shell, "restricted_shell", None;
    shift_verbose, "shift_verbose", None;
    sourcepath, "sourcepath", None;
    varredir_close, "varredir_close", None;
    xpg_echo, "xpg_echo", None;
};

/// The switch with this name.
pub(crate) fn switch(table: &'static [Switch], name: &[u8]) -> Option<&'static Switch> {
    table.iter().find(|switch| switch.name.as_bytes() == name)
}

pub(crate) fn has_letter(letter: u8) -> bool {
    SET.iter().any(|switch| switch.letter == Some(letter))
}
