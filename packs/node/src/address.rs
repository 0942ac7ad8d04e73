//! Addresses by the rules of the WHATWG.

use rquickjs::function::Opt;
use rquickjs::{Ctx, Object, Result};
use url::{Position, Url, quirks};

use crate::values::{Text, define};

pub(crate) fn define<'js>(ctx: &Ctx<'js>, native: &Object<'js>) -> Result<()> {
    define!(ctx, native,
        "parseUrl" => |text: Text, base: Opt<Option<Text>>| {
            parse(&text.into_string(), base.0.flatten().map(Text::into_string).as_deref()).map(|url| described(&url))
        },
        "changeUrl" => |href: Text, part: String, value: Text| change(&href.into_string(), &part, &value.into_string()),
        "domainToAscii" => |domain: Text| quirks::domain_to_ascii(&domain.into_string()),
        "domainToUnicode" => |domain: Text| quirks::domain_to_unicode(&domain.into_string()),
    );
    Ok(())
}

fn parse(text: &str, base: Option<&str>) -> Option<Url> {
    let base = match base {
        Some(base) => Some(Url::parse(base).ok()?),
        None => None,
    };
    Url::options().base_url(base.as_ref()).parse(text).ok()
}

/// Changes a part of an address as its setter does. `None` if the value is refused.
fn change(href: &str, part: &str, value: &str) -> Option<Vec<String>> {
    let mut url = Url::parse(href).ok()?;
    match part {
        "href" => url = Url::parse(value).ok()?,
        "protocol" => quirks::set_protocol(&mut url, value).ok()?,
        "username" => quirks::set_username(&mut url, value).ok()?,
        "password" => quirks::set_password(&mut url, value).ok()?,
        "host" => quirks::set_host(&mut url, value).ok()?,
        "hostname" => quirks::set_hostname(&mut url, value).ok()?,
        "port" => quirks::set_port(&mut url, value).ok()?,
        "pathname" => quirks::set_pathname(&mut url, value),
        "search" => quirks::set_search(&mut url, value),
        _ => quirks::set_hash(&mut url, value),
    }
    Some(described(&url))
}

/// Returns the address and Node's numbers for its parts: ends of the protocol and of the user's name, start and end of the host, the port, starts of
/// path, query and fragment (`4294967295` for missing ones), and the type of the scheme.
fn described(url: &Url) -> Vec<String> {
    const MISSING: u32 = u32::MAX;
    let at = |position: Position| u32::try_from(url.as_str().len() - url[position..].len()).unwrap_or(MISSING);
    let has_authority = url.has_authority();
    let protocol_end = at(Position::AfterScheme) + 1;
    let username_end = if has_authority { at(Position::AfterUsername) } else { protocol_end };
    // The host starts at the `@`, if there are credentials.
    let host_start = match (has_authority, url.username().is_empty() && url.password().is_none()) {
        (false, _) => protocol_end,
        (true, true) => at(Position::BeforeHost),
        (true, false) => at(Position::BeforeHost).saturating_sub(1),
    };
    let host_end = if has_authority { at(Position::AfterHost) } else { protocol_end };
    let port = url.port().map_or(MISSING, u32::from);
    let query = url.query().map_or(MISSING, |_| at(Position::BeforeQuery).saturating_sub(1));
    let fragment = url.fragment().map_or(MISSING, |_| at(Position::BeforeFragment).saturating_sub(1));
    let scheme = match url.scheme() {
        "http" => 0,
        "https" => 2,
        "ws" => 3,
        "ftp" => 4,
        "wss" => 5,
        "file" => 6,
        _ => 1,
    };
    let numbers =
        [protocol_end, username_end, host_start, host_end, port, at(Position::BeforePath), query, fragment, scheme];
    let mut all = vec![url.as_str().to_owned()];
    all.extend(numbers.iter().map(u32::to_string));
    all
}
