//! Commands that assign variables.

use super::{ARRAYS, Grammar, MAPS, NUMBERS, SCALARS};

impl Grammar {
    pub(super) fn assignment(&mut self) -> String {
        match self.chance.below(14) {
            0..4 => format!("{}={}", self.chance.pick(SCALARS), self.word()),
            4 => format!("{}+={}", self.name(), self.word()),
            5 => format!("{}={}", self.chance.pick(NUMBERS), self.number()),
            6 => format!("{}=({})", self.chance.pick(ARRAYS), self.words(4)),
            7 => format!("{}+=({})", self.chance.pick(ARRAYS), self.words(3)),
            8 => format!("{}[{}]={}", self.chance.pick(ARRAYS), self.subscript(), self.word()),
            9 => format!(
                "{}[{}]={}",
                self.chance.pick(MAPS),
                self.chance.pick(&["a", "k", "$a", "\"$b\"", "'x y'", "n+1"]),
                self.word()
            ),
            10 => format!("{}[{}]+={}", self.chance.pick(ARRAYS), self.subscript(), self.word()),
            11 => format!("{}=([{}]={} {})", self.chance.pick(ARRAYS), self.chance.below(6), self.word(), self.word()),
            12 => format!("{}=$(({}))", self.chance.pick(NUMBERS), self.expression_of(3)),
            _ => format!("{}={} {}={}", self.chance.pick(SCALARS), self.word(), self.chance.pick(SCALARS), self.word()),
        }
    }

    pub(super) fn subscript(&mut self) -> String {
        if !self.wild {
            return self.chance.below(8).to_string();
        }
        match self.chance.below(6) {
            0 => "-1".to_owned(),
            1 => self.chance.pick(NUMBERS).to_owned(),
            2 => self.expression_of(1),
            _ => self.chance.below(8).to_string(),
        }
    }

    pub(super) fn declaration(&mut self) -> String {
        let keyword = if self.in_function && self.chance.one_in(2) {
            "local"
        } else {
            self.chance.pick(&["declare", "export", "readonly", "typeset", "declare", "declare"])
        };
        let option = match keyword {
            "export" => self.chance.pick(&["", "", "-n "]),
            "readonly" => self.chance.pick(&["", "", "-a "]),
            _ => self.chance.pick(&[
                "", "-i ", "-u ", "-l ", "-x ", "-a ", "-r ", "+x ", "+i ", "-g ", "-ai ", "-n ", "-A ", "-I ",
            ]),
        };
        // A readonly variable ends everything that follows, so it must be rare.
        let name = match (keyword, option) {
            ("readonly", _) | (_, "-r ") => "str",
            (_, "-n ") => {
                return format!("{keyword} -n ref={}; ref={}; echo \"$ref ${{!ref}}\"", self.name(), self.word());
            }
            (_, "-A ") => "dict",
            _ => self.name(),
        };
        if self.chance.one_in(3) {
            format!("{keyword} {option}{name}")
        } else {
            format!("{keyword} {option}{name}={}", self.word())
        }
    }

    pub(super) fn let_words(&mut self) -> String {
        match self.chance.below(3) {
            0 => format!("{}+=1", self.chance.pick(NUMBERS)),
            1 => format!("'{}'", self.expression_of(2).replace('\'', "")),
            _ => format!(
                "{}={} {}",
                self.chance.pick(NUMBERS),
                self.chance.below(9),
                self.chance.pick(&["n++", "i--", "j*=2", "m=n,i=j"])
            ),
        }
    }

    pub(super) fn unset_operand(&mut self) -> String {
        match self.chance.below(5) {
            0 => format!("'{}[{}]'", self.chance.pick(ARRAYS), self.chance.pick(&["0", "1", "-1", "@", "*", "9"])),
            1 => format!("'{}[{}]'", self.chance.pick(MAPS), self.chance.pick(&["a", "k", "@"])),
            2 => format!("-v {}", self.name()),
            3 => format!("-f {}", self.chance.pick(&["f0", "f1", "nope"])),
            _ => self.name().to_owned(),
        }
    }
}
