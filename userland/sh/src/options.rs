//! Options of `set` and `shopt`.

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

/// What a script may switch.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) allexport: bool,
    pub(crate) braceexpand: bool,
    pub(crate) errexit: bool,
    pub(crate) errtrace: bool,
    pub(crate) functrace: bool,
    pub(crate) hashall: bool,
    pub(crate) monitor: bool,
    pub(crate) noclobber: bool,
    pub(crate) noexec: bool,
    pub(crate) noglob: bool,
    pub(crate) nounset: bool,
    pub(crate) onecmd: bool,
    pub(crate) physical: bool,
    pub(crate) pipefail: bool,
    pub(crate) posix: bool,
    pub(crate) privileged: bool,
    pub(crate) verbose: bool,
    pub(crate) xtrace: bool,
    pub(crate) dotglob: bool,
    pub(crate) expand_aliases: bool,
    pub(crate) extglob: bool,
    pub(crate) failglob: bool,
    pub(crate) globstar: bool,
    pub(crate) inherit_errexit: bool,
    pub(crate) lastpipe: bool,
    pub(crate) nocaseglob: bool,
    pub(crate) nocasematch: bool,
    pub(crate) nullglob: bool,
    pub(crate) patsub_replacement: bool,
    pub(crate) sourcepath: bool,
    pub(crate) xpg_echo: bool,
    pub(crate) globskipdots: bool,
    pub(crate) checkwinsize: bool,
    pub(crate) cmdhist: bool,
    pub(crate) localvar_inherit: bool,
    pub(crate) extdebug: bool,
    pub(crate) autocd: bool,
    pub(crate) cdspell: bool,
    pub(crate) histappend: bool,
    pub(crate) progcomp: bool,
    pub(crate) promptvars: bool,
    pub(crate) interactive_comments: bool,
    pub(crate) execfail: bool,
    pub(crate) from_stdin: bool,
    pub(crate) from_string: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            allexport: false,
            braceexpand: true,
            errexit: false,
            errtrace: false,
            functrace: false,
            hashall: true,
            monitor: false,
            noclobber: false,
            noexec: false,
            noglob: false,
            nounset: false,
            onecmd: false,
            physical: false,
            pipefail: false,
            posix: false,
            privileged: false,
            verbose: false,
            xtrace: false,
            dotglob: false,
            expand_aliases: false,
            extglob: false,
            failglob: false,
            globstar: false,
            inherit_errexit: false,
            lastpipe: false,
            nocaseglob: false,
            nocasematch: false,
            nullglob: false,
            patsub_replacement: true,
            sourcepath: true,
            xpg_echo: false,
            globskipdots: true,
            checkwinsize: true,
            cmdhist: true,
            localvar_inherit: false,
            extdebug: false,
            autocd: false,
            cdspell: false,
            histappend: false,
            progcomp: true,
            promptvars: true,
            interactive_comments: true,
            execfail: false,
            from_stdin: false,
            from_string: false,
        }
    }
}

/// What `set` switches, sorted by name as `set -o` prints it.
pub(crate) const SET: &[Switch] = switches! {
    allexport, "allexport", Some(b'a');
    braceexpand, "braceexpand", Some(b'B');
    errexit, "errexit", Some(b'e');
    errtrace, "errtrace", Some(b'E');
    functrace, "functrace", Some(b'T');
    hashall, "hashall", Some(b'h');
    interactive_comments, "interactive-comments", None;
    monitor, "monitor", Some(b'm');
    noclobber, "noclobber", Some(b'C');
    noexec, "noexec", Some(b'n');
    noglob, "noglob", Some(b'f');
    nounset, "nounset", Some(b'u');
    onecmd, "onecmd", Some(b't');
    physical, "physical", Some(b'P');
    pipefail, "pipefail", None;
    posix, "posix", None;
    privileged, "privileged", Some(b'p');
    verbose, "verbose", Some(b'v');
    xtrace, "xtrace", Some(b'x');
};

/// What `shopt` switches, sorted by name.
pub(crate) const SHOPT: &[Switch] = switches! {
    autocd, "autocd", None;
    cdspell, "cdspell", None;
    checkwinsize, "checkwinsize", None;
    cmdhist, "cmdhist", None;
    dotglob, "dotglob", None;
    execfail, "execfail", None;
    expand_aliases, "expand_aliases", None;
    extdebug, "extdebug", None;
    extglob, "extglob", None;
    failglob, "failglob", None;
    globskipdots, "globskipdots", None;
    globstar, "globstar", None;
    histappend, "histappend", None;
    inherit_errexit, "inherit_errexit", None;
    interactive_comments, "interactive_comments", None;
    lastpipe, "lastpipe", None;
    localvar_inherit, "localvar_inherit", None;
    nocaseglob, "nocaseglob", None;
    nocasematch, "nocasematch", None;
    nullglob, "nullglob", None;
    patsub_replacement, "patsub_replacement", None;
    progcomp, "progcomp", None;
    promptvars, "promptvars", None;
    sourcepath, "sourcepath", None;
    xpg_echo, "xpg_echo", None;
};

impl Options {
    /// `$-`.
    pub(crate) fn letters(&self) -> Vec<u8> {
        let mut letters: Vec<u8> =
            SET.iter().filter(|switch| (switch.get)(self)).filter_map(|switch| switch.letter).collect();
        letters.sort_by_key(|b| (b.is_ascii_uppercase(), *b));
        if self.from_string {
            letters.push(b'c');
        }
        if self.from_stdin {
            letters.push(b's');
        }
        letters
    }

    /// Switches by the name that `set -o` takes; false when there is none.
    pub(crate) fn set_named(&mut self, name: &[u8], on: bool) -> bool {
        switch(SET, name).is_some_and(|switch| self.apply(switch, on))
    }

    /// Switches by letter; false when there is none.
    pub(crate) fn set_letter(&mut self, letter: u8, on: bool) -> bool {
        SET.iter().find(|switch| switch.letter == Some(letter)).is_some_and(|switch| self.apply(switch, on))
    }

    /// Sets one switch; true, so that it ends a chain of lookups.
    pub(crate) fn apply(&mut self, switch: &Switch, on: bool) -> bool {
        if let Some(set) = switch.set {
            set(self, on);
        }
        true
    }
}

/// The switch with this name.
pub(crate) fn switch(table: &'static [Switch], name: &[u8]) -> Option<&'static Switch> {
    table.iter().find(|switch| switch.name.as_bytes() == name)
}
