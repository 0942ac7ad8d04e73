//! Width and precision: padding of a converted argument.

use super::{Printf, Spec};

impl Printf<'_> {
    pub(super) fn pad_text(&mut self, spec: &Spec, text: &[u8]) {
        let kept = match spec.precision {
            Some(limit) if limit < text.len() => text.get(..limit).unwrap_or(text),
            _ => text,
        };
        let pad = spec.width.saturating_sub(kept.len());
        if !spec.left {
            self.out.extend(std::iter::repeat_n(b' ', pad));
        }
        self.out.extend_from_slice(kept);
        if spec.left {
            self.out.extend(std::iter::repeat_n(b' ', pad));
        }
    }

    pub(super) fn pad_number(&mut self, spec: &Spec, negative: bool, digits: String, prefix: &str) {
        let sign = match (negative, spec.plus, spec.space) {
            (true, _, _) => "-",
            (false, true, _) => "+",
            (false, false, true) => " ",
            _ => "",
        };
        let mut body = digits;
        if let Some(precision) = spec.precision {
            if precision == 0 && body == "0" {
                body.clear();
            }
            let missing = precision.saturating_sub(body.len());
            body.insert_str(0, &"0".repeat(missing));
        }
        let used = sign.len() + prefix.len() + body.len();
        let pad = spec.width.saturating_sub(used);
        let zeros = spec.zero && !spec.left && spec.precision.is_none();
        let (before, inside, after) = match (zeros, spec.left) {
            (true, _) => (0, pad, 0),
            (false, true) => (0, 0, pad),
            (false, false) => (pad, 0, 0),
        };
        self.out.extend(std::iter::repeat_n(b' ', before));
        self.out.extend_from_slice(sign.as_bytes());
        self.out.extend_from_slice(prefix.as_bytes());
        self.out.extend(std::iter::repeat_n(b'0', inside));
        self.out.extend_from_slice(body.as_bytes());
        self.out.extend(std::iter::repeat_n(b' ', after));
    }
}
