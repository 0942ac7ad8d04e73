//! Implementation of jaq's value trait.

use std::fmt;
use std::rc::Rc;

use jaq_core::box_iter::{BoxIter, box_once};
use jaq_core::path::Opt;
use jaq_core::val::{Range, ValR, ValT, ValX};

use super::{Map, Val, change_path, fault, key_text};

impl fmt::Display for Val {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.json())
    }
}

impl From<bool> for Val {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<isize> for Val {
    fn from(value: isize) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "what a program writes is a double here")]
        Self::number(value as f64)
    }
}

impl From<Range<Self>> for Val {
    fn from(range: Range<Self>) -> Self {
        let bound = |bound: Option<Self>| bound.unwrap_or(Self::Null);
        Self::record([("start", bound(range.start)), ("end", bound(range.end))])
    }
}

impl FromIterator<Self> for Val {
    fn from_iter<I: IntoIterator<Item = Self>>(items: I) -> Self {
        Self::array(items.into_iter().collect())
    }
}

fn cannot_iterate(value: &Val) -> jaq_core::Error<Val> {
    fault(format!("Cannot iterate over {}", value.described()))
}

impl ValT for Val {
    fn from_num(text: &str) -> ValR<Self> {
        super::Number::from_literal(text).map(Self::Number).ok_or_else(|| fault(format!("{text} is not a number")))
    }

    fn from_map<I: IntoIterator<Item = (Self, Self)>>(entries: I) -> ValR<Self> {
        let mut map = Map::new();
        for (key, value) in entries {
            map.insert(key_text(key)?, value);
        }
        Ok(Self::object(map))
    }

    fn key_values(self) -> BoxIter<'static, ValR<(Self, Self), Self>> {
        match self {
            array @ Self::Array(_) => {
                let items = array.into_items().into_iter().enumerate();
                Box::new(items.map(|(at, item)| Ok((Self::count(at), item))))
            }
            object @ Self::Object(_) => {
                Box::new(object.into_map().into_iter().map(|(key, value)| Ok((Self::String(key), value))))
            }
            value => box_once(Err(cannot_iterate(&value))),
        }
    }

    fn values(self) -> Box<dyn Iterator<Item = ValR<Self>>> {
        match self {
            array @ Self::Array(_) => Box::new(array.into_items().into_iter().map(Ok)),
            object @ Self::Object(_) => Box::new(object.into_map().into_iter().map(|(_, value)| Ok(value))),
            value => box_once(Err(cannot_iterate(&value))),
        }
    }

    fn index(self, index: &Self) -> ValR<Self> {
        self.get(index)
    }

    fn range(self, range: Range<&Self>) -> ValR<Self> {
        self.get_slice(range.start, range.end)
    }

    fn map_values<'a, I: Iterator<Item = ValX<'a, Self>>>(
        self,
        opt: Opt,
        change: impl Fn(Self) -> I,
    ) -> ValX<'a, Self> {
        match self {
            array @ Self::Array(_) => {
                let items = array.into_items().into_iter().flat_map(change);
                Ok(Self::array(items.collect::<std::result::Result<_, _>>()?))
            }
            object @ Self::Object(_) => {
                let mut map = Map::new();
                for (key, value) in object.into_map() {
                    if let Some(value) = change(value).next() {
                        map.insert(key, value?);
                    }
                }
                Ok(Self::object(map))
            }
            value => Ok(opt.fail(value, |value| cannot_iterate(&value))?),
        }
    }

    fn map_index<'a, I: Iterator<Item = ValX<'a, Self>>>(
        self,
        index: &Self,
        opt: Opt,
        change: impl Fn(Self) -> I,
    ) -> ValX<'a, Self> {
        let inner = match (self.get(index), opt) {
            (Ok(inner), _) => inner,
            (Err(_), Opt::Optional) => return Ok(self),
            (Err(error), Opt::Essential) => return Err(error.into()),
        };
        let path = std::slice::from_ref(index);
        match change(inner).next() {
            Some(new) => {
                let new = new?;
                Ok(change_path(self, path, |_| Ok(new))?)
            }
            None => Ok(super::delete_paths(self, vec![Self::array(path.to_vec())])?),
        }
    }

    fn map_range<'a, I: Iterator<Item = ValX<'a, Self>>>(
        self,
        range: Range<&Self>,
        opt: Opt,
        change: impl Fn(Self) -> I,
    ) -> ValX<'a, Self> {
        let index = Self::from(range.start.cloned()..range.end.cloned());
        self.map_index(&index, opt, change)
    }

    fn as_bool(&self) -> bool {
        self.truth()
    }

    fn into_string(self) -> Self {
        match self {
            text @ Self::String(_) => text,
            value => Self::from(value.json()),
        }
    }
}

/// Replaces jaq's one builtin message with jq's.
pub(crate) fn with_jq_message(error: Val) -> Val {
    match error.as_str().and_then(|text| text.strip_prefix("invalid path expression with input ")) {
        Some(value) => Val::String(Rc::from(format!("Invalid path expression with result {value}"))),
        None => error,
    }
}
