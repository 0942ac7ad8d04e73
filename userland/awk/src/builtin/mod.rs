//! Builtin functions.

/// Kind of a function argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Argument {
    Value,
    /// A regular expression; a constant is not matched against the record.
    Pattern,
    Array,
    /// A value or an array.
    Any,
    /// A target that the function modifies.
    Target,
}

macro_rules! builtins {
    ($($name:ident = $text:literal, $least:literal..=$most:literal, [$($argument:ident),*];)*) => {
        /// A builtin function.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Builtin { $($name,)* }

        const ALL: &[(&str, Builtin)] = &[$(($text, Builtin::$name),)*];

        impl Builtin {
            pub(crate) fn name(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }

            /// Returns whether it accepts this number of arguments.
            pub(crate) fn takes(self, count: usize) -> bool {
                match self { $(Self::$name => ($least..=$most).contains(&count),)* }
            }

            /// Kind of an argument; the last kind applies to all further ones.
            pub(crate) fn argument(self, at: usize) -> Argument {
                let kinds: &[Argument] = match self { $(Self::$name => &[$(Argument::$argument),*],)* };
                kinds.get(at).or(kinds.last()).copied().unwrap_or(Argument::Value)
            }
        }
    };
}

builtins! {
    And = "and", 2..=1000, [Value];
    Asort = "asort", 1..=3, [Array, Array, Value];
    Asorti = "asorti", 1..=3, [Array, Array, Value];
    Atan2 = "atan2", 2..=2, [Value];
    Bindtextdomain = "bindtextdomain", 1..=2, [Value];
    Close = "close", 1..=2, [Value];
    Compl = "compl", 1..=1, [Value];
    Cos = "cos", 1..=1, [Value];
    Dcgettext = "dcgettext", 1..=3, [Value];
    Dcngettext = "dcngettext", 1..=5, [Value];
    Exp = "exp", 1..=1, [Value];
    Fflush = "fflush", 0..=1, [Value];
    Gensub = "gensub", 3..=4, [Pattern, Value];
    Gsub = "gsub", 2..=3, [Pattern, Value, Target];
    Index = "index", 2..=2, [Value];
    Int = "int", 1..=1, [Value];
    Isarray = "isarray", 1..=1, [Any];
    Length = "length", 0..=1, [Any];
    Log = "log", 1..=1, [Value];
    Lshift = "lshift", 2..=2, [Value];
    Match = "match", 2..=3, [Value, Pattern, Array];
    Mkbool = "mkbool", 1..=1, [Value];
    Mktime = "mktime", 1..=2, [Value];
    Or = "or", 2..=1000, [Value];
    Patsplit = "patsplit", 2..=4, [Value, Array, Pattern, Array];
    Rand = "rand", 0..=0, [Value];
    Rshift = "rshift", 2..=2, [Value];
    Sin = "sin", 1..=1, [Value];
    Split = "split", 2..=4, [Value, Array, Pattern, Array];
    Sprintf = "sprintf", 1..=10000, [Value];
    Sqrt = "sqrt", 1..=1, [Value];
    Srand = "srand", 0..=1, [Value];
    Strftime = "strftime", 0..=3, [Value];
    Strtonum = "strtonum", 1..=1, [Value];
    Sub = "sub", 2..=3, [Pattern, Value, Target];
    Substr = "substr", 2..=3, [Value];
    System = "system", 1..=1, [Value];
    Systime = "systime", 0..=0, [Value];
    Tolower = "tolower", 1..=1, [Value];
    Toupper = "toupper", 1..=1, [Value];
    Typeof = "typeof", 1..=2, [Any, Array];
    Xor = "xor", 2..=1000, [Value];
}

impl Builtin {
    pub(crate) fn find(name: &[u8]) -> Option<Self> {
        ALL.iter().find(|(text, _)| text.as_bytes() == name).map(|(_, builtin)| *builtin)
    }
}
