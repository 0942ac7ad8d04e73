//! Options of `set` and `shopt`.

mod table;

pub(crate) use table::has_letter;

pub(crate) use table::{SET, SHOPT, Switch, switch};

/// Declares the options by their initial values.
macro_rules! options {
    (off: $($off:ident)* ; on: $($on:ident)* ;) => {
        /// Options of the shell. Some only affect interactive shells and can just be set and printed.
        #[derive(Clone, Debug)]
        pub(crate) struct Options {
            $(pub(crate) $off: bool,)*
            $(pub(crate) $on: bool,)*
        }

        impl Default for Options {
            fn default() -> Self {
                Self { $($off: false,)* $($on: true,)* }
            }
        }
    };
}

options! {
    off:
        allexport emacs errexit errtrace functrace histexpand history ignoreeof keyword monitor noclobber
        noexec noglob nolog notify nounset onecmd physical pipefail posix privileged verbose vi xtrace
        autocd assoc_expand_once cdable_vars cdspell checkhash checkjobs compat31 compat32 compat40 compat41
        compat42 compat43 compat44 direxpand dirspell dotglob execfail expand_aliases extdebug extglob
        failglob globstar gnu_errfmt histappend histreedit histverify huponexit inherit_errexit lastpipe
        lithist localvar_inherit localvar_unset login_shell mailwarn no_empty_cmd_completion nocaseglob
        nocasematch noexpand_translation nullglob progcomp_alias restricted_shell shift_verbose
        varredir_close xpg_echo from_stdin from_string interactive;
    on:
        braceexpand hashall interactive_comments checkwinsize cmdhist complete_fullquote extquote
        force_fignore globasciiranges globskipdots hostcomplete patsub_replacement progcomp promptvars
        sourcepath;
}

impl Options {
    /// `$-`.
    pub(crate) fn letters(&self) -> Vec<u8> {
        let mut letters: Vec<u8> =
            SET.iter().filter(|switch| (switch.get)(self)).filter_map(|switch| switch.letter).collect();
        if self.interactive {
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

    /// The names of the enabled options, for `SHELLOPTS` and `BASHOPTS`.
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

    /// Sets one option and the options that it implies. Returns false if it is not supported.
    pub(crate) fn apply(&mut self, switch: &Switch, on: bool) -> bool {
        if matches!(switch.name, "keyword" | "onecmd") {
            return !on;
        }
        (switch.set)(self, on);
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
    /// Applies options that a parent shell exported by name, and exports them again.
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
