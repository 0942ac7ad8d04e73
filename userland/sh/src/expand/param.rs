//! Parameter expansion.

use super::lossy;
use super::word::{Out, Place};
use crate::ir::{Bytes, Index, Name, Op, Param, Part, Target, Test};
use crate::parse::token::name_len;
use crate::state::{Run, Shell, Stop};
use crate::vars::{self, Key, Meant, Value};

/// What a parameter holds.
#[derive(Debug)]
pub(crate) enum Content {
    Unset,
    One(Bytes),
    /// Several values; `star` joins them between double quotes.
    Many {
        values: Vec<Bytes>,
        star: bool,
    },
}

impl Shell {
    #[inline(never)]
    pub(crate) fn expand_param(&mut self, param: &Param, out: &mut Out, place: Place) -> Run {
        if let (Target::Var(name), Index::None, false, Op::None) =
            (&param.target, &param.index, param.indirect, &param.op)
            && let Some(var) = self.vars.get(name)
            && !var.has(vars::NAMEREF)
            && let Some(text) = var.scalar()
        {
            let done = if place.quoted { out.quoted(text) } else { out.expanded(self, text) };
            return self.fits(done);
        }
        match &param.op {
            Op::Unclosed(byte) => {
                let close = if *byte == b'`' { b"\"`\"".to_vec() } else { vec![b'`', *byte, b'\''] };
                let message = [&b"bad substitution: no closing "[..], &close, b" in ", &param.raw].concat();
                return self.discard(message);
            }
            Op::Broken(broken) => {
                self.warn_of_unfinished(&broken.unfinished, broken.start, self.line.saturating_add(1));
                let error = broken.error.moved(broken.start, self.line.saturating_add(1));
                self.syntax_error(&error, &broken.shown, b"command substitution");
                self.status = 1;
                return Err(Stop::Discard);
            }
            // POSIX calls that a mistake of the language, which ends a script.
            Op::Bad if self.options.posix => {
                return self.abort_unset([&param.raw[..], b": bad substitution"].concat());
            }
            Op::Bad => return self.discard_expansion([&param.raw[..], b": bad substitution"].concat()),
            Op::Names { star } => {
                let prefix = target_name(&param.target);
                let names = self.variable_names().into_iter().filter(|name| name.starts_with(&prefix));
                let names: Vec<_> = names.filter(|name| self.has_value(name)).collect();
                let values: Vec<Bytes> = names.iter().map(|name| name.to_vec()).collect();
                if *star && !place.quoted && out.mode == super::Mode::Fields && self.ifs().is_empty() {
                    return self.emit(&values.concat(), out, place);
                }
                return self.emit_edited(&param.op, Content::Many { values, star: *star }, out, place);
            }
            Op::Keys { star } => {
                let values = match &param.target {
                    Target::Var(name) => self.keys(name),
                    _ => Vec::new(),
                };
                if self.joins_unsplit(&param.op, &param.target, out, place) {
                    return self.emit(&values.join(&b' '), out, place);
                }
                return self.emit_edited(&param.op, Content::Many { values, star: *star }, out, place);
            }
            _ => {}
        }
        if param.indirect {
            return self.expand_indirect(param, out, place);
        }
        // A subscript is not even looked at then.
        if let (Op::Length, Target::Var(name), Index::At | Index::Star | Index::One(_), true) =
            (&param.op, &param.target, &param.index, self.options.nounset)
            && self.has_no_elements(name)
        {
            return self.discard_expansion([&name[..], b": unbound variable"].concat());
        }
        if let Some(count) = self.count(param) {
            return self.emit(count.to_string().as_bytes(), out, place);
        }
        if let (Op::Length, Target::Var(name), true) = (&param.op, &param.target, self.options.nounset) {
            let value = self.variable_meant(name).and_then(|name| self.vars.get(&name)).map(|var| &var.value);
            match (&param.index, value) {
                (Index::At | Index::Star, None)
                    if !self.is_computed(name) || (&**name == b"FUNCNAME" && self.frames.is_empty()) =>
                {
                    return self.discard_expansion([&name[..], b": unbound variable"].concat());
                }
                // An element of what is no array is not there to bash.
                (Index::One(_), Some(Value::Text(_))) => {
                    return self.discard_expansion([&name[..], b": unbound variable"].concat());
                }
                (Index::One(_), None | Some(Value::Indexed(_) | Value::Assoc(_))) => {
                    let length = match self.content(&param.target, &param.index)? {
                        Content::One(text) => super::op::char_count(&text),
                        _ => 0,
                    };
                    return self.emit(length.to_string().as_bytes(), out, place);
                }
                _ => {}
            }
        }
        if let (Op::Length, Target::Var(name), Index::One(subscript)) = (&param.op, &param.target, &param.index) {
            if !self.options.nounset
                && self.variable_meant(name).and_then(|name| self.vars.get(&name)).is_none()
                && !self.is_computed(name)
            {
                // Where there is nothing, nobody looks at the subscript.
                return self.emit(b"0", out, place);
            }
            // The subscript is evaluated once, whatever it is needed for.
            let key = self.key_of(name, subscript)?;
            if !self.is_no_place(name, &key) {
                let content = self.content_at(name, &key)?;
                return self.apply(param, (&param.target, &param.index), content, out, place);
            }
            let var = self.variable_meant(name).and_then(|name| self.vars.get(&name));
            let var = var.filter(|var| !var.has(vars::BARE));
            if var.is_some_and(|var| matches!(var.value, Value::Indexed(_) | Value::Text(_))) {
                // bash names what follows the first bracket.
                return self.discard_expansion([&subscript.key.raw[..], b"]: bad array subscript"].concat());
            }
            return self.emit(b"0", out, place);
        }
        let content = self.content(&param.target, &param.index)?;
        self.apply(param, (&param.target, &param.index), content, out, place)
    }

    /// Whether a variable was given a value, be it an empty list, or one that it hides was.
    pub(crate) fn has_value(&self, name: &[u8]) -> bool {
        let given = |var: &vars::Var| !matches!(var.value, Value::Unset) && !var.has(vars::BARE);
        self.vars.get(name).is_none_or(given) || self.vars.replaced(name).any(given)
    }

    /// `${#array[@]}` and `${#@}`, for which nobody needs the elements.
    fn count(&self, param: &Param) -> Option<usize> {
        match (&param.op, &param.target, &param.index) {
            (Op::Length, Target::Special(b'@' | b'*'), Index::None) => Some(self.positional.len()),
            (Op::Length, Target::Var(name), Index::At | Index::Star) => match &self.vars.get(name)?.value {
                Value::Indexed(map) => Some(map.len()),
                Value::Assoc(map) => Some(map.len()),
                Value::Unset | Value::Text(_) => None,
            },
            _ => None,
        }
    }

    /// What messages of an operator call the parameter.
    pub(super) fn shown_name(&self, param: &Param) -> Bytes {
        let mut name = target_name(&param.target);
        if param.indirect {
            name.insert(0, b'!');
        }
        name.extend_from_slice(shown_index(&param.index).as_bytes());
        name
    }

    /// `${!name}`: the value names the parameter that is meant.
    #[inline(never)]
    fn expand_indirect(&mut self, param: &Param, out: &mut Out, place: Place) -> Run {
        if let Target::Var(name) = &param.target
            && let Some(var) = self.vars.get(name).filter(|var| var.has(vars::NAMEREF))
            && matches!(param.index, Index::None)
        {
            let target = match self.vars.meant(name) {
                Meant::Variable(target) => Content::One(target.to_vec()),
                _ => match var.scalar() {
                    Some(target) => Content::One(target.clone()),
                    None => return self.discard_expansion([&name[..], b": invalid indirect expansion"].concat()),
                },
            };
            return self.apply(param, (&param.target, &param.index), target, out, place);
        }
        let name = match self.content(&param.target, &param.index)? {
            Content::One(name) => name,
            // A positional parameter or an element that is not there names nothing, and nobody complains; nor do all of them.
            Content::Many { values, .. } if values.is_empty() && matches!(param.target, Target::Special(_)) => {
                return self.apply(param, (&param.target, &Index::None), Content::Unset, out, place);
            }
            Content::Many { values, .. } => values.join(&b' '),
            // Nor does a variable without a value name anything.
            Content::Unset if self.may_name_nothing(param) => {
                if matches!(param.op, Op::Test { kind: Test::Assign, .. }) {
                    let message = format!("!{}: invalid indirect expansion", lossy(&target_name(&param.target)));
                    return self.discard_expansion(message);
                }
                return self.apply(param, (&param.target, &param.index), Content::Unset, out, place);
            }
            Content::Unset => {
                let index = shown_index(&param.index);
                let message = format!("{}{index}: invalid indirect expansion", lossy(&target_name(&param.target)));
                return self.discard_expansion(message);
            }
        };
        let Some((target, index)) = self.reference(&name)? else {
            return self.discard_expansion(format!("{}: invalid variable name", lossy(&name)));
        };
        let content = self.content(&target, &index)?;
        self.apply(param, (&target, &index), content, out, place)
    }

    fn may_name_nothing(&self, param: &Param) -> bool {
        match (&param.target, &param.index) {
            (Target::Positional(_), _) => true,
            (Target::Var(name), Index::None | Index::One(_)) => match self.vars.meant(name) {
                Meant::Own => self.vars.get(name).is_some() || self.vars.is_local(name),
                Meant::Variable(meant) => self.vars.get(&meant).is_some(),
                _ => false,
            },
            _ => false,
        }
    }

    /// The parameter that text names: a name, a name with subscript, a number, a special one.
    fn reference(&mut self, text: &[u8]) -> Run<Option<(Target, Index)>> {
        if let [byte @ (b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!' | b'0')] = text {
            return Ok(Some((Target::Special(*byte), Index::None)));
        }
        let zeros = text.iter().take_while(|&&byte| byte == b'0').count();
        let digits = text.get(zeros..).unwrap_or_default();
        if let Some(number) = crate::parse::plain_number(digits).and_then(|n| usize::try_from(n).ok()) {
            return Ok(Some((Target::Positional(number), Index::None)));
        }
        if text.first().is_some_and(u8::is_ascii_digit) && text.iter().all(u8::is_ascii_digit) {
            return Ok(Some((Target::Positional(usize::MAX), Index::None)));
        }
        let len = name_len(text);
        let name: Name = text.get(..len).unwrap_or_default().into();
        match text.get(len..).unwrap_or_default() {
            _ if len == 0 => Ok(None),
            b"" => Ok(Some((Target::Var(name), Index::None))),
            b"[@]" => Ok(Some((Target::Var(name), Index::At))),
            b"[*]" => Ok(Some((Target::Var(name), Index::Star))),
            [b'[', key @ .., b']'] => {
                let subscript = crate::parse::subscript_from_text(key);
                Ok(Some((Target::Var(name), Index::One(subscript))))
            }
            _ => Ok(None),
        }
    }

    /// What the parameter holds now.
    pub(crate) fn content(&mut self, target: &Target, index: &Index) -> Run<Content> {
        let one = |text: Option<Bytes>| text.map_or(Content::Unset, Content::One);
        Ok(match (target, index) {
            (Target::Var(name), Index::None) => {
                if self.vars.get(name).is_some_and(|var| var.has(vars::NAMEREF)) {
                    return self.content_of_reference(name);
                }
                one(self.lookup(name))
            }
            (Target::Var(name), Index::At | Index::Star) => {
                Content::Many { values: self.elements(name), star: matches!(index, Index::Star) }
            }
            (Target::Var(name), Index::One(subscript)) => {
                let key = self.key_of(name, subscript)?;
                return self.content_at(name, &key);
            }
            (Target::Positional(number), _) => one(self.positional.get(number.wrapping_sub(1)).cloned()),
            (Target::Special(byte), _) => self.special(*byte),
        })
    }

    fn content_at(&mut self, name: &Name, key: &Key) -> Run<Content> {
        let found = self.element(name, key);
        if found.is_none() && self.options.errexit && self.is_no_place(name, key) {
            self.status = 1;
            return Err(Stop::Exit);
        }
        Ok(found.map_or(Content::Unset, Content::One))
    }

    fn special(&mut self, byte: u8) -> Content {
        let text = match byte {
            b'@' | b'*' => {
                return Content::Many { values: self.positional.to_vec(), star: byte == b'*' };
            }
            b'#' => self.positional.len().to_string(),
            b'?' => self.status.to_string(),
            b'$' => self.own_pid().to_string(),
            b'!' => match self.jobs.last_pid {
                Some(pid) => pid.to_string(),
                None => return Content::Unset,
            },
            b'-' => return Content::One(self.options.letters()),
            _ => return Content::One(self.name.clone()),
        };
        Content::One(text.into_bytes())
    }

    /// Adds content as it is.
    pub(crate) fn emit_content(&mut self, content: Content, out: &mut Out, place: Place) -> Run {
        match content {
            Content::Unset => self.emit(b"", out, place),
            Content::One(text) => self.emit(&text, out, place),
            Content::Many { values, star } => self.emit_many(&values, star, out, place),
        }
    }

    /// Adds what a parameter holds, as it is.
    fn emit_own(&mut self, param: &Param, content: Content, out: &mut Out, place: Place) -> Run {
        let is_variable = matches!(param.target, Target::Var(_));
        let is_list = matches!(&content, Content::Many { star, .. } if is_variable || !star);
        // In a pattern elements mean themselves where IFS does not begin with a blank; those of `*` where it is empty.
        let themselves = matches!(out.mode, super::Mode::Pattern | super::Mode::Regex)
            && match &content {
                Content::Many { star: false, .. } => self.ifs().first().is_some_and(|&byte| byte != b' '),
                Content::Many { star: true, .. } => is_variable && self.ifs().is_empty(),
                _ => false,
            };
        let place = Place { quoted: place.quoted || themselves || (out.quotes_lists && is_list), ..place };
        if is_variable {
            self.emit_content(content, out, place)
        } else {
            self.emit_edited(&param.op, content, out, place)
        }
    }

    /// Adds what an operator made of a parameter, or a parameter that is no variable. In a here-document blanks join them.
    fn emit_edited(&mut self, op: &Op, content: Content, out: &mut Out, place: Place) -> Run {
        let content = match content {
            Content::Many { values, star: true }
                if out.among_elements && out.mode == super::Mode::Fields && place.quoted && edits(op) =>
            {
                return self.emit_rejoined(&values, out, place);
            }
            Content::Many { values, .. } if self.joins_edited(op, out, place) => Content::Many { values, star: true },
            Content::Many { values, .. }
                if (out.document && !(out.keeps_lists && keeps_star(op)))
                    || (out.among_elements && out.mode == super::Mode::Fields && edits(op))
                    || (out.assigned
                        && (place.operand || (out.argument && !place.quoted))
                        && self.ifs().is_empty()) =>
            {
                Content::Many { values, star: false }
            }
            Content::Many { values, star: false } if splits_within_operand(op, out, place) => {
                return self.emit_split(&values, out, place);
            }
            other => other,
        };
        self.emit_content(content, out, place)
    }

    /// Adds the elements that an operator made within an operand: joined by blanks, which also stand where they would be
    /// split. Nothing but those blanks splits them then.
    fn emit_split(&mut self, values: &[Bytes], out: &mut Out, place: Place) -> Run {
        let ifs = self.ifs();
        let fields = out.mode == super::Mode::Fields;
        if fields && ifs.contains(&b' ') {
            return self.emit_many(values, false, out, Place::default());
        }
        let mut values = values.to_vec();
        match ifs.first() {
            Some(b'\t' | b'\n') if fields => {
                let mut split = Out::new(super::Mode::Fields, self);
                self.emit_many(&values, false, &mut split, Place::default())?;
                split.end_present();
                values = split.done.into_iter().map(|field| field.text).collect();
            }
            None | Some(b' ' | b'\t' | b'\n') => {}
            Some(_) => values.iter_mut().flatten().filter(|byte| ifs.contains(byte)).for_each(|byte| *byte = b' '),
        }
        self.emit_many(&values, false, out, place)
    }

    /// Adds what an operator made of `*` beside elements: joined by the first separator, and split there again. What is
    /// empty is lost where that is a blank, and at the end.
    fn emit_rejoined(&mut self, values: &[Bytes], out: &mut Out, place: Place) -> Run {
        let ifs = self.ifs();
        for (at, value) in values.iter().enumerate() {
            let ends = match ifs.first() {
                None => false,
                Some(b' ' | b'\t' | b'\n') => !out.current.text.is_empty(),
                Some(_) => true,
            };
            if at > 0 && ends {
                out.end_field();
            }
            if !value.is_empty() {
                self.emit(value, out, place)?;
            }
        }
        Ok(())
    }

    /// Whether elements that `op` edits are joined as `*` joins them, because they are the value of an assignment.
    fn joins_edited(&self, op: &Op, out: &Out, place: Place) -> bool {
        let edited = match op {
            Op::Strip { pattern, .. } => !pattern.raw.is_empty(),
            Op::Transform(_) => true,
            op => edits(op) && place.quoted,
        };
        out.assigned && edited && !self.ifs().is_empty()
    }

    /// Whether values that `op` yields are one word joined by blanks, because nothing separates words.
    fn joins_unsplit(&self, op: &Op, target: &Target, out: &Out, place: Place) -> bool {
        let joins = match op {
            Op::Strip { pattern, .. } => !pattern.raw.is_empty() && matches!(target, Target::Var(_)),
            Op::Keys { star } => *star,
            _ => false,
        };
        joins && out.mode == super::Mode::Fields && !place.quoted && self.ifs().is_empty()
    }

    fn emit_many(&mut self, values: &[Bytes], star: bool, out: &mut Out, place: Place) -> Run {
        let fields = out.mode == super::Mode::Fields;
        if star && (place.quoted || !fields) {
            let ifs = self.ifs();
            let separator = ifs.get(..crate::pattern::char_len(&ifs)).unwrap_or_default();
            let joined = values.join(separator);
            return if place.quoted {
                self.emit(&joined, out, place)
            } else {
                self.emit(&joined, out, Place::default())
            };
        }
        // As if joined by the first separator: what is empty in between stays where that is no white space, and white space is one
        // with a separator that an element begins with.
        let ifs = self.ifs();
        let keeps = fields && !place.quoted && ifs.first().is_some_and(|b| !matches!(b, b' ' | b'\t' | b'\n'));
        if fields && !place.quoted && place.operand && !star && ifs.first().is_some_and(|&byte| byte != b' ') {
            // In an operand blanks join them, and nothing but those is split.
            for (at, value) in values.iter().enumerate() {
                if at > 0 {
                    self.emit(b" ", out, place)?;
                }
                self.emit(value, out, Place { quoted: true, operand: false })?;
            }
            return Ok(());
        }
        let before = out.done.len();
        for (at, value) in values.iter().enumerate() {
            if at > 0 {
                if keeps {
                    out.end_field();
                } else if !fields {
                    if out.arm && place.quoted {
                        out.arm_end.get_or_insert(out.current.text.len());
                    }
                    self.emit(b" ", out, place)?;
                } else if place.quoted {
                    out.end_field();
                } else if ifs.is_empty() {
                    out.end_present();
                } else {
                    out.end_at_join(before);
                }
            }
            self.emit(value, out, place)?;
            if value.is_empty() && place.quoted && !star && values.len() > 1 {
                out.mark_nothing(at);
            }
        }
        Ok(())
    }

    /// Applies the operator and adds the result. `meant` is the parameter that `content` is of, which an indirect one
    /// does not name itself.
    #[inline(never)]
    fn apply(&mut self, param: &Param, meant: (&Target, &Index), content: Content, out: &mut Out, place: Place) -> Run {
        if let Op::Test { kind, colon, word } = &param.op {
            let counts = match &content {
                Content::Unset => false,
                Content::One(text) => !*colon || !text.is_empty(),
                Content::Many { values, star } => match values.as_slice() {
                    [] => false,
                    [only] => !*colon || !only.is_empty(),
                    // Joined by nothing, empty ones are an empty text.
                    several
                        if *star
                            && *colon
                            && (place.quoted || out.mode != super::Mode::Fields)
                            && self.ifs().is_empty() =>
                    {
                        several.iter().any(|value| !value.is_empty())
                    }
                    _ => true,
                },
            };
            return match (kind, counts) {
                (Test::Alternative, true) | (Test::Default, false) => self.expand_operand(word, out, place),
                // Without elements there is no word, not even an empty one.
                (Test::Alternative, false)
                    if place.quoted
                        && matches!(content, Content::Many { ref values, star: false } if values.is_empty()) =>
                {
                    Ok(())
                }
                (Test::Alternative, false) if place.quoted => self.emit(b"", out, place),
                (Test::Alternative, false) => Ok(()),
                (Test::Default | Test::Assign | Test::Error, true) => self.emit_own(param, content, out, place),
                (Test::Assign, false) => {
                    if param.indirect && !matches!(meant, (Target::Var(_), Index::None)) {
                        let name = [&target_name(meant.0)[..], shown_index(meant.1).as_bytes()].concat();
                        return self.discard_expansion([&name[..], b": invalid variable name"].concat());
                    }
                    let Target::Var(name) = meant.0 else {
                        let name = lossy(&target_name(&param.target)).into_owned();
                        return self.discard_expansion(format!("${name}: cannot assign in this way"));
                    };
                    let value = self.expand_text(word)?;
                    self.assign_default(name, meant.1, value)?;
                    // The attributes of the variable may have made something else of it.
                    let value = match meant {
                        (Target::Var(name), Index::At | Index::Star) => {
                            let key = assigned_key(meant.1).unwrap_or(Key::Whole);
                            self.element(name, &key).map_or(Content::Unset, Content::One)
                        }
                        (target, index) => self.content(target, index)?,
                    };
                    self.emit_content(value, out, place)?;
                    if &**name == b"IFS" {
                        out.forget_ifs();
                    }
                    Ok(())
                }
                (Test::Error, false) => {
                    let text = match (word.raw.is_empty(), colon) {
                        (true, true) => b"parameter null or not set".to_vec(),
                        (true, false) => b"parameter not set".to_vec(),
                        (false, _) => self.expand_complaint(word)?,
                    };
                    let name = lossy(&target_name(&param.target)).into_owned();
                    let (mark, index) = (if param.indirect { "!" } else { "" }, shown_index(&param.index));
                    self.abort_unset(format!("{mark}{name}{index}: {}", lossy(&text)))
                }
            };
        }
        if let Content::Unset = content
            && self.options.nounset
            && !self.is_element_reference(param)
            && !self.tells_attributes(param, meant.0)
            && !matches!(param.op, Op::Length if matches!(param.index, Index::At | Index::Star))
        {
            let name = String::from_utf8_lossy(&target_name(&param.target)).into_owned();
            let index = match &param.index {
                index @ Index::One(_) if !matches!(param.op, Op::Length) => shown_index(index),
                _ => String::new(),
            };
            let plain = !matches!(param.target, Target::Var(_)) && !param.raw.starts_with(b"${");
            let dollar = match param.indirect {
                true => "!",
                false if plain => "$",
                false => "",
            };
            return self.abort_unset(format!("{dollar}{name}{index}: unbound variable"));
        }
        out.nothing = out.among_elements && leaves_nothing(&param.op, &content);
        match &param.op {
            Op::None => self.emit_own(param, content, out, place),
            // Beside elements an operator on nothing makes no word.
            Op::Substring { .. } | Op::Replace { .. } | Op::Case { .. }
                if out.among_elements && place.quoted && matches!(content, Content::Unset) =>
            {
                Ok(())
            }
            Op::Length => {
                let length = match content {
                    // bash looks for a variable that is called like the element.
                    _ if self.is_element_reference(param) => 0,
                    Content::Unset => 0,
                    Content::One(text) => super::op::char_count(&text),
                    Content::Many { values, .. } => values.len(),
                };
                self.emit(length.to_string().as_bytes(), out, place)
            }
            Op::Substring { offset, length } => {
                let content = self.substring(param, meant, content, offset, length.as_ref())?;
                out.nothing |= matches!(content, Content::Unset);
                self.emit_edited(&param.op, content, out, place)
            }
            Op::Transform(letter) => {
                let content = match content {
                    // In a value that is assigned they are joined in any case.
                    Content::Many { values, star } => {
                        Content::Many { values, star: star || self.joins_edited(&param.op, out, place) }
                    }
                    other => other,
                };
                let content = self.transform(param, meant, content, *letter)?;
                self.emit_edited(&param.op, content, out, place)
            }
            op => {
                let unedited =
                    matches!((op, meant.0), (Op::Strip { pattern, .. }, Target::Var(_)) if pattern.raw.is_empty());
                let content = match self.edit(content, op, place.quoted || out.document)? {
                    Content::Many { values, .. } if self.joins_unsplit(op, meant.0, out, place) => {
                        Content::One(values.join(&b' '))
                    }
                    other => other,
                };
                match (op, &param.target) {
                    _ if unedited => self.emit_content(content, out, place),
                    (Op::Case { .. }, _) | (Op::Replace { .. }, Target::Var(_))
                        if !out.among_elements && !self.joins_edited(op, out, place) =>
                    {
                        self.emit_content(content, out, place)
                    }
                    _ => self.emit_edited(&param.op, content, out, place),
                }
            }
        }
    }

    /// Whether a name is that of nothing, or of an array that was declared and never assigned.
    fn has_no_elements(&self, name: &Name) -> bool {
        if &**name == b"FUNCNAME" {
            return self.calls(name).is_none();
        }
        match self.variable_meant(name).and_then(|name| self.vars.get(&name)) {
            Some(var) => var.has(crate::vars::BARE) || matches!(var.value, Value::Unset),
            None => !self.is_computed(name),
        }
    }

    /// Whether the operator asks for the attributes of an array, which are there without an element 0.
    fn tells_attributes(&self, param: &Param, target: &Target) -> bool {
        let (Op::Transform(b'a' | b'A'), Target::Var(name)) = (&param.op, target) else { return false };
        match self.vars.get(name).map(|var| &var.value) {
            Some(Value::Indexed(map)) => !map.is_empty(),
            Some(Value::Assoc(map)) => map.len() > 0,
            _ => false,
        }
    }

    /// Whether the parameter is a reference to an element of an array.
    fn is_element_reference(&self, param: &Param) -> bool {
        match (&param.target, &param.index) {
            (Target::Var(name), Index::None) => matches!(self.vars.meant(name), Meant::Element(..)),
            _ => false,
        }
    }

    /// The word after `:-` and its kind, which is split like any expansion unless it is quoted.
    fn expand_operand(&mut self, word: &crate::ir::Word, out: &mut Out, place: Place) -> Run {
        // There is a word then, even where it is made of no elements.
        out.present |= place.quoted;
        let inner = Place { quoted: place.quoted, operand: !place.quoted };
        if out.marks_nothing && !place.quoted {
            return self.expand_marked(&word.parts, out, inner);
        }
        self.expand_parts(&word.parts, out, inner)
    }

    /// The word after `?`, in which quotes quote wherever it stands, and what is split is joined by blanks.
    fn expand_complaint(&mut self, word: &crate::ir::Word) -> Run<Bytes> {
        let again = crate::parse::word_from_text(&word.raw);
        let mut out = Out::new(super::Mode::Fields, self);
        let mut parts = again.as_ref().unwrap_or(word).parts.as_slice();
        if let Some((home, rest)) = self.leading_home(parts) {
            self.emit(&home, &mut out, Place { quoted: true, operand: false })?;
            self.emit(&rest, &mut out, Place::default())?;
            parts = parts.get(1..).unwrap_or_default();
        }
        for part in parts {
            self.expand_part(part, &mut out, Place::default())?;
        }
        out.end_present();
        let words: Vec<Bytes> = out.done.into_iter().map(|field| field.text).collect();
        Ok(words.join(&b' '))
    }

    /// The home directory that a text with a tilde begins with, and what follows it up to the next part.
    fn leading_home(&mut self, parts: &[Part]) -> Option<(Bytes, Bytes)> {
        let Part::Lit(text) = parts.first()? else { return None };
        let inside = text.strip_prefix(b"~")?;
        let slash = inside.iter().position(|&byte| byte == b'/');
        if slash.is_none() && parts.len() > 1 {
            return None;
        }
        let (name, rest) = inside.split_at(slash.unwrap_or(inside.len()));
        Some((self.tilde(name), rest.to_vec()))
    }

    fn assign_default(&mut self, name: &Name, index: &Index, value: Bytes) -> Run {
        let key = match index {
            Index::One(subscript) => self.key_of(name, subscript)?,
            Index::None => Key::Whole,
            index if self.is_keyed(name) => assigned_key(index).unwrap_or(Key::Whole),
            index => {
                let message = format!("{}{}: bad array subscript", lossy(name), shown_index(index));
                self.bad_default = true;
                return self.discard_expansion(message);
            }
        };
        if self.lends && key == Key::Whole {
            self.assign_below(name, value.clone())?;
        }
        if self.assign(name, key, false, value)? {
            return Ok(());
        }
        self.status = 1;
        Err(if self.options.errexit { Stop::Exit } else { Stop::Discard })
    }

    /// What is assigned within values that are for one command alone outlives the command.
    pub(crate) fn assign_below(&mut self, name: &Name, value: Bytes) -> Run {
        if !self.vars.lent_to_newest(name) {
            return Ok(());
        }
        self.vars.swap_newest();
        let kept = self.assign(name, Key::Whole, false, value);
        self.vars.swap_newest();
        kept.map(drop)
    }

    /// The home directory that `~` or `~name` means; the text itself when there is none.
    pub(crate) fn tilde(&mut self, name: &[u8]) -> Bytes {
        let found = match name {
            b"" => Some(self.lookup(b"HOME").unwrap_or_else(|| b"/workspace".to_vec())),
            b"+" => Some(self.cwd.clone()),
            b"-" => self.lookup(b"OLDPWD"),
            b"root" => Some(b"/root".to_vec()),
            [b'+' | b'-', digits @ ..] | digits if !digits.is_empty() && digits.iter().all(u8::is_ascii_digit) => {
                // An entry of the directory stack, counted from its start or its end.
                let count = self.dir_stack.len() + 1;
                let number = crate::parse::plain_number(digits).and_then(|n| usize::try_from(n).ok());
                let at = match name.first() {
                    Some(b'-') => number.and_then(|n| count.checked_sub(n + 1)),
                    _ => number,
                };
                match at {
                    Some(0) => Some(self.cwd.clone()),
                    Some(at) => self.dir_stack.get(at - 1).cloned(),
                    None => None,
                }
            }
            b"tidebox" => Some(b"/workspace".to_vec()),
            _ => None,
        };
        found.unwrap_or_else(|| [b"~", name].concat())
    }
}

/// Whether an operator makes something else of every value.
fn edits(op: &Op) -> bool {
    !matches!(op, Op::None | Op::Test { .. })
}

/// Whether an operator that finds this makes no word of it beside elements that are not there.
fn leaves_nothing(op: &Op, content: &Content) -> bool {
    match (op, content) {
        (_, Content::Unset) | (Op::Transform(b'a'), Content::One(_)) => true,
        (Op::Strip { .. } | Op::Transform(b'P'), Content::One(text)) => text.is_empty(),
        (Op::Strip { .. } | Op::Transform(_), Content::Many { .. }) => true,
        _ => false,
    }
}

/// Whether `*` joins what this operator yields by the first separator in here-documents, too.
fn keeps_star(op: &Op) -> bool {
    matches!(op, Op::Names { .. } | Op::Replace { .. })
}

/// Whether elements that an operator made within an operand, a pattern or a replacement are split before they are joined.
fn splits_within_operand(op: &Op, out: &Out, place: Place) -> bool {
    let splits = match op {
        Op::Strip { pattern, .. } => !pattern.raw.is_empty(),
        op => edits(op),
    };
    splits
        && !place.quoted
        && if out.mode == super::Mode::Fields { place.operand } else { !out.assigned && !out.document }
}

fn target_name(target: &Target) -> Bytes {
    match target {
        Target::Var(name) => name.to_vec(),
        Target::Positional(number) => number.to_string().into_bytes(),
        Target::Special(byte) => vec![*byte],
    }
}

/// A subscript as messages show it.
fn shown_index(index: &Index) -> String {
    match index {
        Index::None => String::new(),
        Index::At => "[@]".to_owned(),
        Index::Star => "[*]".to_owned(),
        Index::One(subscript) => format!("[{}]", lossy(&subscript.key.raw)),
    }
}

/// The key that `@` or `*` is for an assignment to an associative array.
fn assigned_key(index: &Index) -> Option<Key> {
    match index {
        Index::At => Some(Key::Word(b"@".to_vec())),
        Index::Star => Some(Key::Word(b"*".to_vec())),
        Index::None | Index::One(_) => None,
    }
}
