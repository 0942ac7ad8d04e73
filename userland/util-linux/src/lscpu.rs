//! `lscpu`: the processors of `/proc/cpuinfo`.

use tidebox_gnu::options::Syntax;
use tidebox_gnu::stream::read_all;
use tidebox_gnu::tool::print;

const USAGE: &str = "
Usage:
 lscpu [options]

Display information about the CPU architecture.

Options:
";

tidebox_gnu::options! {
    /// Options of `lscpu`.
    enum Flag {
        All = "-a, --all", "print both online and offline CPUs (the default)";
        Online = "-b, --online", "print online CPUs only";
        Json = "-J, --json", "use JSON";
        Parse = "-p, --parse", "print out a parsable format";
        Extended = "-e[LIST], --extended[=LIST]", "", unsupported "option '-e' is not supported here";
        Caches = "-C[LIST], --caches[=LIST]", "", unsupported "option '-C' is not supported here";
        Help = "-h, --help", "display this help";
        Version = "-V, --version", "display version";
    }
}

const SYNTAX: Syntax<'_, Flag> = Syntax {
    indent: 1,
    notes: "\nFor more details see lscpu(1).\n",
    version: "lscpu from util-linux 2.38.1\n",
    ..Syntax::new("lscpu", USAGE, 25)
};

/// Runs `lscpu`.
pub fn main(arguments: Vec<Vec<u8>>) -> i32 {
    let (mut json, mut parse) = (false, false);
    let operands = SYNTAX.parse::<i32>(arguments, |flag, _| {
        json |= flag == Flag::Json;
        parse |= flag == Flag::Parse;
        Ok(())
    });
    match operands {
        Err(code) => code,
        Ok(operands) if !operands.is_empty() => SYNTAX.usage_error("bad usage"),
        Ok(_) => {
            let cpus = Processors::read();
            let text = match (parse, json) {
                (true, _) => cpus.parsable(),
                (false, true) => cpus.json(),
                (false, false) => cpus.table(),
            };
            print("lscpu", text.as_bytes())
        }
    }
}

struct Processors {
    count: usize,
    vendor: Option<String>,
    model: Option<String>,
}

impl Processors {
    fn read() -> Self {
        let text = String::from_utf8_lossy(&read_all(b"/proc/cpuinfo").unwrap_or_default()).into_owned();
        let field = |wanted: &str| {
            let pairs = text.lines().filter_map(|line| line.split_once(':'));
            let value = pairs.into_iter().find(|(name, _)| name.trim() == wanted).map(|(_, value)| value.trim());
            value.filter(|value| !value.is_empty()).map(str::to_owned)
        };
        let count =
            text.lines().filter(|line| line.split(':').next().is_some_and(|name| name.trim() == "processor")).count();
        Self { count: count.max(1), vendor: field("vendor_id"), model: field("model name") }
    }

    fn rows(&self) -> Vec<(&'static str, String)> {
        let list = if self.count == 1 { "0".to_owned() } else { format!("0-{}", self.count - 1) };
        let mut rows = vec![
            ("Architecture:", "wasm32".to_owned()),
            ("Byte Order:", "Little Endian".to_owned()),
            ("CPU(s):", self.count.to_string()),
            ("On-line CPU(s) list:", list),
        ];
        rows.extend(self.vendor.clone().map(|vendor| ("Vendor ID:", vendor)));
        rows.extend(self.model.clone().map(|model| ("Model name:", model)));
        rows.push(("Thread(s) per core:", "1".to_owned()));
        rows.push(("Core(s) per socket:", self.count.to_string()));
        rows.push(("Socket(s):", "1".to_owned()));
        rows
    }

    fn table(&self) -> String {
        let rows = self.rows();
        let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        rows.iter().map(|(name, value)| format!("{name:<width$} {value}\n")).collect()
    }

    fn json(&self) -> String {
        let rows: Vec<String> = self
            .rows()
            .iter()
            .map(|(name, value)| {
                format!(
                    "      {{\n         \"field\": \"{name}\",\n         \"data\": \"{}\"\n      }}",
                    value.replace(['\\', '"'], "?")
                )
            })
            .collect();
        format!("{{\n   \"lscpu\": [\n{}\n   ]\n}}\n", rows.join(",\n").replace("},\n      {", "},{"))
    }

    fn parsable(&self) -> String {
        let rows: String = (0..self.count).map(|cpu| format!("{cpu},{cpu},0,\n")).collect();
        format!(
            "# The following is the parsable format, which can be fed to other\n\
             # programs. Each different item in every column has an unique ID\n\
             # starting usually from zero.\n# CPU,Core,Socket,Node\n{rows}"
        )
    }
}
