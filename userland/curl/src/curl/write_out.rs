//! `-w`: output after a transfer.

use tidebox_host_http::Head;

/// Data about a finished transfer.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    pub(super) head: Head,
    pub(super) method: String,
    /// As given by the user.
    pub(super) url: String,
    /// The final URL.
    pub(super) effective: String,
    pub(super) referer: String,
    pub(super) number: usize,
    pub(super) downloaded: u64,
    pub(super) uploaded: u64,
    pub(super) head_bytes: u64,
    pub(super) request_bytes: u64,
    pub(super) redirects: u64,
    pub(super) connections: u64,
    pub(super) redirect_us: u64,
    pub(super) total_us: u64,
    pub(super) file: String,
    pub(super) exit_code: i32,
    pub(super) message: String,
}

impl Facts {
    fn seconds(&self) -> f64 {
        (self.total_us.max(1) as f64) / 1e6
    }

    /// The value of a variable; `None` for unknown names.
    fn value(&self, name: &str) -> Option<String> {
        let time = |us: u64| format!("{}.{:06}", us / 1_000_000, us % 1_000_000);
        let head = &self.head;
        let speed = |bytes: u64| format!("{:.0}", (bytes as f64) / self.seconds());
        Some(match name {
            "http_code" | "response_code" => format!("{:03}", head.status),
            "http_connect" => "000".to_owned(),
            "http_version" if head.version.is_empty() => "0".to_owned(),
            "http_version" => head.version.clone(),
            "content_type" => head.header("content-type").map(|kind| String::from_utf8_lossy(kind).into_owned())?,
            "method" => self.method.clone(),
            "url" => self.url.clone(),
            "url_effective" => self.effective.clone(),
            "urlnum" => self.number.to_string(),
            "redirect_url" => head.redirect.clone()?,
            "referer" => self.referer.clone(),
            "scheme" => self.effective.split("://").next().unwrap_or_default().to_ascii_uppercase(),
            "size_download" => self.downloaded.to_string(),
            "size_upload" => self.uploaded.to_string(),
            "size_header" => self.head_bytes.to_string(),
            "size_request" => self.request_bytes.to_string(),
            "speed_download" => speed(self.downloaded),
            "speed_upload" => speed(self.uploaded),
            "num_redirects" => self.redirects.to_string(),
            "num_connects" => self.connections.to_string(),
            "num_headers" => head.headers.len().to_string(),
            "time_namelookup" => time(head.resolved_us),
            "time_connect" => time(head.connected_us),
            "time_appconnect" => time(head.encrypted_us),
            "time_pretransfer" => time(head.encrypted_us.max(head.connected_us)),
            "time_starttransfer" => time(head.answered_us),
            "time_redirect" => time(self.redirect_us),
            "time_total" => time(self.total_us),
            "remote_ip" => head.ip.clone(),
            "remote_port" if head.port.is_empty() => "0".to_owned(),
            "remote_port" => head.port.clone(),
            "local_ip" => String::new(),
            "local_port" | "ssl_verify_result" | "proxy_ssl_verify_result" | "certs" => "0".to_owned(),
            "filename_effective" => self.file.clone(),
            "ftp_entry_path" => String::new(),
            "exitcode" => self.exit_code.to_string(),
            "errormsg" => self.message.clone(),
            "header_json" => self.header_json(),
            "json" => self.json(),
            _ => return None,
        })
    }

    fn header_json(&self) -> String {
        let mut names: Vec<String> = Vec::new();
        for (name, _) in &self.head.headers {
            let name = name.to_ascii_lowercase();
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let values = |wanted: &String| {
            let of_it = self.head.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case(wanted));
            let values: Vec<String> = of_it.map(|(_, value)| json(&String::from_utf8_lossy(value))).collect();
            format!("{}:[{}]", json(wanted), values.join(","))
        };
        format!("{{{}\n}}", names.iter().map(values).collect::<Vec<_>>().join(",\n"))
    }

    fn json(&self) -> String {
        const NUMBERS: &[&str] = &[
            "exitcode",
            "http_code",
            "num_connects",
            "num_headers",
            "num_redirects",
            "remote_port",
            "response_code",
            "size_download",
            "size_header",
            "size_request",
            "size_upload",
            "speed_download",
            "speed_upload",
            "time_appconnect",
            "time_connect",
            "time_namelookup",
            "time_pretransfer",
            "time_redirect",
            "time_starttransfer",
            "time_total",
            "urlnum",
        ];
        const TEXTS: &[&str] = &[
            "content_type",
            "errormsg",
            "filename_effective",
            "http_version",
            "method",
            "redirect_url",
            "referer",
            "remote_ip",
            "scheme",
            "url",
            "url_effective",
        ];
        let mut fields = Vec::new();
        for name in NUMBERS {
            let number = self.value(name).unwrap_or_default();
            let whole = number.trim_start_matches('0');
            let number =
                if whole.is_empty() || whole.starts_with('.') { format!("0{whole}") } else { whole.to_owned() };
            fields.push((*name, number));
        }
        for name in TEXTS {
            let text = self.value(name).filter(|text| !text.is_empty());
            fields.push((*name, text.map_or_else(|| "null".to_owned(), |text| json(&text))));
        }
        fields.sort();
        let fields: Vec<String> = fields.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
        format!("{{{}}}", fields.join(","))
    }
}

fn json(text: &str) -> String {
    String::from_utf8_lossy(&tidebox_gnu::escape::json(text.as_bytes())).into_owned()
}

/// Output for standard output and standard error.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Written {
    pub(super) out: Vec<u8>,
    pub(super) err: Vec<u8>,
}

/// Expands a format.
pub(super) fn render(format: &[u8], facts: &Facts) -> Written {
    let format = String::from_utf8_lossy(format);
    let (mut written, mut to_err) = (Written::default(), false);
    let mut rest: &str = &format;
    while let Some(at) = rest.find(['%', '\\']) {
        let (plain, special) = rest.split_at(at);
        rest = token(special, facts, plain, &mut written, &mut to_err);
    }
    let out = if to_err { &mut written.err } else { &mut written.out };
    out.extend_from_slice(rest.as_bytes());
    written
}

/// Handles a `%` or `\` sequence and returns the rest.
fn token<'a>(special: &'a str, facts: &Facts, text: &str, written: &mut Written, to_err: &mut bool) -> &'a str {
    let was_err = *to_err;
    let (literal, rest) = if let Some(rest) = special.strip_prefix("%%") {
        ("%".to_owned(), rest)
    } else if let Some(name) = special.strip_prefix("%header{").and_then(|rest| rest.split_once('}')) {
        let value = facts.head.header(name.0).map(|value| String::from_utf8_lossy(value).into_owned());
        (value.unwrap_or_default(), name.1)
    } else if let Some((name, rest)) = special.strip_prefix("%{").and_then(|rest| rest.split_once('}')) {
        match name {
            "stderr" => *to_err = true,
            "stdout" => *to_err = false,
            // The rest applies only to failures.
            "onerror" if facts.exit_code == 0 => {
                push(written, was_err, text);
                return "";
            }
            _ => {}
        }
        (facts.value(name).unwrap_or_default(), rest)
    } else {
        let escape = special.get(..2).unwrap_or(special);
        let shown = match escape {
            "\\n" => "\n",
            "\\r" => "\r",
            "\\t" => "\t",
            other => other,
        };
        // A multi-byte character after the sign is literal.
        let length = if special.is_char_boundary(escape.len()) && escape.len() == 2 { 2 } else { 1 };
        (shown.get(..).unwrap_or_default().chars().take(2).collect(), special.get(length..).unwrap_or_default())
    };
    push(written, was_err, text);
    push(written, *to_err, &literal);
    rest
}

fn push(written: &mut Written, to_err: bool, text: &str) {
    let out = if to_err { &mut written.err } else { &mut written.out };
    out.extend_from_slice(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::{Facts, render};
    use tidebox_host_http::Head;

    fn facts() -> Facts {
        let headers = vec![("Content-Type".to_owned(), b"text/plain".to_vec()), ("X-A".to_owned(), b"1\"".to_vec())];
        let head = Head { status: 200, version: "1.1".to_owned(), headers, answered_us: 1_500_000, ..Head::default() };
        Facts { head, downloaded: 7, effective: "http://a/".to_owned(), ..Facts::default() }
    }

    fn out(format: &str) -> String {
        String::from_utf8(render(format.as_bytes(), &facts()).out).expect("it is text")
    }

    #[test]
    fn names_stand_for_facts_and_escapes_for_characters() {
        assert_eq!(out("%{http_code}|%{size_download}|%{content_type}\\n"), "200|7|text/plain\n");
        assert_eq!(out("a%%b\\tc\\q%{nonsense}%x é% é\\"), "a%b\tc\\q%x é% é\\");
        assert_eq!(out("%{time_starttransfer} %{scheme} %header{x-a}"), "1.500000 HTTP 1\"");
    }

    #[test]
    fn parts_can_go_to_standard_error() {
        let written = render(b"a%{stderr}b%{stdout}c%{onerror}d", &facts());
        assert_eq!((written.out.as_slice(), written.err.as_slice()), (&b"ac"[..], &b"b"[..]));
    }

    #[test]
    fn headers_are_shown_as_json() {
        assert_eq!(out("%{header_json}"), "{\"content-type\":[\"text/plain\"],\n\"x-a\":[\"1\\\"\"]\n}");
        assert!(out("%{json}").contains("\"http_code\":200,"));
        assert!(out("%{json}").contains("\"time_total\":0.000000"));
    }
}
