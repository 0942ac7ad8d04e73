//! Options of `set` and `shopt`.

mod table;

pub(crate) use table::has_letter;

pub(crate) use table::{SET, SHOPT, Switch, switch};

/// Declares the options together with what they are when a shell starts.
macro_rules! options {
    ($($(#[$about:meta])* $name:ident: $initial:literal,)*) => {
        /// Options of the shell. Some only affect interactive shells and can just be set and printed.
        #[derive(Clone, Debug)]
        pub(crate) struct Options {
            $($(#[$about])* pub(crate) $name: bool,)*
        }

        impl Default for Options {
            fn default() -> Self {
                Self { $($name: $initial,)* }
            }
        }
    };
}

options! {
    allexport: false,
    braceexpand: true,
    emacs: false,
    errexit: false,
    errtrace: false,
    functrace: false,
    hashall: true,
    histexpand: false,
    history: false,
    ignoreeof: false,
    interactive_comments: true,
    keyword: false,
    monitor: false,
    noclobber: false,
    noexec: false,
    noglob: false,
    nolog: false,
    notify: false,
    nounset: false,
    onecmd: false,
    physical: false,
    pipefail: false,
    posix: false,
    privileged: false,
    verbose: false,
    vi: false,
    xtrace: false,
    autocd: false,
    assoc_expand_once: false,
    cdable_vars: false,
    cdspell: false,
    checkhash: false,
    checkjobs: false,
    checkwinsize: true,
    cmdhist: true,
    compat31: false,
    compat32: false,
    compat40: false,
    compat41: false,
    compat42: false,
    compat43: false,
    compat44: false,
    complete_fullquote: true,
    direxpand: false,
    dirspell: false,
    dotglob: false,
    execfail: false,
    expand_aliases: false,
    extdebug: false,
    extglob: false,
    extquote: true,
    failglob: false,
    force_fignore: true,
    globasciiranges: true,
    globskipdots: true,
    globstar: false,
    gnu_errfmt: false,
    histappend: false,
    histreedit: false,
    histverify: false,
    hostcomplete: true,
    huponexit: false,
    inherit_errexit: false,
    lastpipe: false,
    lithist: false,
    localvar_inherit: false,
    localvar_unset: false,
    login_shell: false,
    mailwarn: false,
    no_empty_cmd_completion: false,
    nocaseglob: false,
    nocasematch: false,
    noexpand_translation: false,
    nullglob: false,
    patsub_replacement: true,
    progcomp: true,
    progcomp_alias: false,
    promptvars: true,
    restricted_shell: false,
    shift_verbose: false,
    sourcepath: true,
    varredir_close: false,
    xpg_echo: false,
    from_stdin: false,
    from_string: false,
    interactive: false,
    /// The letter `i` was set by a script, which changes nothing but `$-`.
    called_interactive: false,
}

impl Options {
    /// `$-`.
    pub(crate) fn letters(&self) -> Vec<u8> {
        let mut letters: Vec<u8> =
            SET.iter().filter(|switch| (switch.get)(self)).filter_map(|switch| switch.letter).collect();
        if self.interactive || self.called_interactive {
            letters.push(b'i');
        }
        letters.sort_by_key(|b| (b.is_ascii_uppercase(), *b));
        if self.from_string {
            letters.push(b'c');
        }
        if self.from_stdin {
            letters.push(b's');
        }
        letters
    }

    /// The names of what is on, as `SHELLOPTS` and `BASHOPTS` have them.
    pub(crate) fn names_on(&self, table: &[Switch]) -> String {
        let on = table.iter().filter(|switch| (switch.get)(self)).map(|switch| switch.name);
        on.collect::<Vec<_>>().join(":")
    }

    /// Sets an option by its `set -o` name. Returns false if it does not exist.
    pub(crate) fn set_named(&mut self, name: &[u8], on: bool) -> bool {
        switch(SET, name).is_some_and(|switch| self.apply(switch, on))
    }

    /// Sets an option by its letter. Returns false if it does not exist.
    pub(crate) fn set_letter(&mut self, letter: u8, on: bool) -> bool {
        SET.iter().find(|switch| switch.letter == Some(letter)).is_some_and(|switch| self.apply(switch, on))
    }

    /// Sets one switch, and others that go with it; true, so that it ends a chain of lookups.
    pub(crate) fn apply(&mut self, switch: &Switch, on: bool) -> bool {
        if let Some(set) = switch.set {
            set(self, on);
        }
        match switch.name {
            "posix" => {
                self.expand_aliases = on || self.interactive;
                self.inherit_errexit = on;
                self.shift_verbose = on;
            }
            "extdebug" => {
                self.errtrace = on;
                self.functrace = on;
            }
            "vi" if on => self.emacs = false,
            "emacs" if on => self.vi = false,
            _ => {}
        }
        true
    }
}

impl crate::state::Shell {
    /// Takes over options that a shell above has exported by name, and exports them further.
    pub(crate) fn take_options(&mut self, variable: &[u8], names: &[u8]) {
        let (table, own) = if variable == b"SHELLOPTS" { (SET, "SHELLOPTS") } else { (SHOPT, "BASHOPTS") };
        for name in names.split(|&b| b == b':') {
            if let Some(switch) = switch(table, name) {
                self.options.apply(switch, true);
            }
        }
        self.computed.exported.insert(own);
    }

    /// Sets an option by name, with its side effects. Returns false if it does not exist.
    pub(crate) fn set_option(&mut self, name: &[u8], on: bool) -> bool {
        if !self.options.set_named(name, on) {
            return false;
        }
        match name {
            b"posix" if on => {
                self.vars.entry(&crate::ir::Name::from(&b"POSIXLY_CORRECT"[..])).value =
                    crate::vars::Value::Text(b"y".to_vec())
            }
            b"posix" => drop(self.vars.remove(b"POSIXLY_CORRECT")),
            b"ignoreeof" if on => {
                self.vars.entry(&crate::ir::Name::from(&b"IGNOREEOF"[..])).value =
                    crate::vars::Value::Text(b"10".to_vec())
            }
            b"ignoreeof" => drop(self.vars.remove(b"IGNOREEOF")),
            b"history" if on => self.start_history(),
            _ => {}
        }
        true
    }
}
