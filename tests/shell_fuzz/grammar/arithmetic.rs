//! Expressions.

use super::{ARRAYS, Grammar, MAPS, NUMBERS, SCALARS};

impl Grammar {
    /// An expression for `$(( ))`.
    pub(super) fn expression(&mut self, levels: usize) -> String {
        if !self.wild {
            return self.plain_expression(levels);
        }
        if levels == 0 {
            return self.operand();
        }
        let below = levels - 1;
        match self.chance.below(24) {
            0..3 => self.operand(),
            3..12 => {
                let operator = self.chance.pick(&[
                    "+", "-", "*", "/", "%", "**", "<<", ">>", "<", "<=", ">", ">=", "==", "!=", "&", "|", "^", "&&",
                    "||", ",", "+", "-", "*",
                ]);
                let (left, right) = (self.expression(below), self.expression(below));
                let right = if matches!(operator, "**" | "<<") { self.chance.below(9).to_string() } else { right };
                let space = if self.chance.one_in(3) { " " } else { "" };
                format!("{left}{space}{operator} {right}")
            }
            12 | 13 => format!("({})", self.expression(below)),
            14 => format!("{} {}", self.chance.pick(&["!", "~", "-", "+", "- -"]), self.expression(below)),
            15 | 16 => {
                let (a, b, c) = (self.expression(below), self.expression(below), self.expression(below));
                format!("{a} ? {b} : {c}")
            }
            17 | 18 => {
                let operator = self.chance.pick(&["=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "|=", "^="]);
                format!("{} {operator} {}", self.place(), self.expression(below))
            }
            19 | 20 => format!("{}{}", self.place(), self.chance.pick(&["++", "--"])),
            21 => format!("{}{}", self.chance.pick(&["++", "--"]), self.place()),
            22 => format!("$(( {} ))", self.expression(below)),
            _ => format!("({}, {})", self.expression(below), self.expression(below)),
        }
    }

    /// An expression that is valid for all values of the variables used as numbers.
    fn plain_expression(&mut self, levels: usize) -> String {
        let number = self.chance.pick(NUMBERS);
        if levels == 0 {
            return match self.chance.below(5) {
                0 | 1 => self.chance.below(100).to_string(),
                2 => format!("${number}"),
                3 => self
                    .chance
                    .pick(&["${#a}", "${#arr[@]}", "$#", "16#ff", "0x1f", "010", "${unset_one:-4}"])
                    .to_owned(),
                _ => number.to_owned(),
            };
        }
        let (left, right) = (self.plain_expression(levels - 1), self.plain_expression(levels - 1));
        match self.chance.below(12) {
            0..5 => format!(
                "({left}) {} ({right})",
                self.chance.pick(&["+", "-", "*", "<", "==", "&&", "||", "&", ">=", "|", "^", "!="])
            ),
            5 => format!("({left}) {} {}", self.chance.pick(&["/", "%", "<<", ">>", "**"]), 1 + self.chance.below(9)),
            6 => format!("({left}) ? {right} : {}", self.chance.below(9)),
            7 => format!("{number} {} ({right})", self.chance.pick(&["=", "+=", "-=", "*=", "|="])),
            8 => format!("{number}{}", self.chance.pick(&["++", "--"])),
            9 => format!("{}({right})", self.chance.pick(&["-", "!", "~", "+"])),
            10 => format!("{left}, {right}"),
            _ => format!("$(( {left} )) + {right}"),
        }
    }

    /// An assignable expression.
    fn place(&mut self) -> String {
        match self.chance.below(8) {
            0 => format!("{}[{}]", self.chance.pick(ARRAYS), self.chance.below(4)),
            1 => format!("{}[{}]", self.chance.pick(ARRAYS), self.chance.pick(NUMBERS)),
            2 => format!("{}[{}]", self.chance.pick(MAPS), self.chance.pick(&["a", "k", "$a", "n"])),
            3 if self.chance.one_in(3) => self.chance.pick(SCALARS).to_owned(),
            _ => self.chance.pick(NUMBERS).to_owned(),
        }
    }

    fn operand(&mut self) -> String {
        match self.chance.below(16) {
            0..5 => self.number(),
            5..8 => self.place(),
            8 | 9 => format!("${}", self.chance.pick(NUMBERS)),
            10 => format!("${{{}}}", self.chance.pick(NUMBERS)),
            11 => format!("${{#{}}}", self.name()),
            12 => format!("${{#{}[@]}}", self.chance.pick(ARRAYS)),
            13 if self.chance.one_in(2) => {
                self.chance.pick(&["$#", "$?", "${j:-3}", "${unset_one:-4}", "16#ff", "\"6\"", "1 2"]).to_owned()
            }
            14 => format!("$(echo {})", self.chance.below(9)),
            _ => self.chance.below(5).to_string(),
        }
    }
}
