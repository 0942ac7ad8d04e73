//! Filters defined in the jq language. Only those used by a program are parsed.

/// Name, number of arguments, definition.
pub(crate) type Definition = (&'static str, usize, &'static str);

pub(crate) const DEFINITIONS: &[Definition] = &[
    ("empty", 0, "def empty: {}[] as $x | .;"),
    ("error", 0, "def error: error_of_input as $x | .;"),
    ("error", 1, "def error(message): (message | error_of_input) as $x | .;"),
    ("not", 0, "def not: if . then false else true end;"),
    ("map", 1, "def map(f): [.[] | f];"),
    ("select", 1, "def select(f): if f then . else empty end;"),
    ("recurse", 1, "def recurse(f): def walk_on: ., (f | walk_on); walk_on;"),
    ("recurse", 2, "def recurse(f; go_on): recurse(f | select(go_on));"),
    ("recurse_down", 0, "def recurse_down: ..;"),
    ("repeat", 1, "def repeat(f): def again: f, again; again;"),
    ("while", 2, "def while(go_on; f): def again: if go_on then ., (f | again) else empty end; again;"),
    ("until", 2, "def until(done; f): def again: if done then . else (f | again) end; again;"),
    ("range", 1, "def range($upto): range(0; $upto; 1);"),
    ("range", 2, "def range($from; $upto): range($from; $upto; 1);"),
    ("add", 1, "def add(f): reduce f as $x (null; . + $x);"),
    ("map_values", 1, "def map_values(f): .[] |= f;"),
    ("del", 1, "def del(f): delpaths([path(f)]);"),
    ("getpath", 1, "def getpath($p): reduce path_steps($p) as $k (.; .[$k]);"),
    ("paths", 0, "def paths: path(..) | select(length > 0);"),
    ("paths", 1, "def paths(f): path(.. | select(f)) | select(length > 0);"),
    ("leaf_paths", 0, "def leaf_paths: paths(scalars);"),
    ("pick", 1, "def pick(f): . as $all | reduce path(f) as $p (null; setpath($p; $all | getpath($p)));"),
    ("to_entries", 0, "def to_entries: [keys_unsorted[] as $k | {key: $k, value: .[$k]}];"),
    ("with_entries", 1, "def with_entries(f): to_entries | map(f) | from_entries;"),
    ("sort_by", 1, "def sort_by(f): sort_by_keys(map([f]));"),
    ("group_by", 1, "def group_by(f): group_by_keys(map([f]));"),
    ("unique_by", 1, "def unique_by(f): [group_by(f)[] | .[0]];"),
    ("min_by", 1, "def min_by(f): min_by_keys(map([f]));"),
    ("max_by", 1, "def max_by(f): max_by_keys(map([f]));"),
    (
        "indices",
        1,
        "def indices($i): if type == \"array\" and ($i | type) != \"array\" then .[[$i]] \
        elif type == \"string\" and ($i | type) == \"string\" then offsets($i) else .[$i] end;",
    ),
    ("index", 1, "def index($i): indices($i) | .[0];"),
    ("rindex", 1, "def rindex($i): indices($i) | .[-1];"),
    ("isempty", 1, "def isempty(g): label $go | (g | false, break $go), true;"),
    ("last", 1, "def last(f): reduce f as $x (null; $x);"),
    ("any", 2, "def any(g; f): isempty(first(g | f | select(.))) | not;"),
    ("any", 1, "def any(f): any(.[]; f);"),
    ("any", 0, "def any: any(.[]; .);"),
    ("all", 2, "def all(g; f): isempty(first(g | f | select(. | not)));"),
    ("all", 1, "def all(f): all(.[]; f);"),
    ("all", 0, "def all: all(.[]; .);"),
    ("first", 0, "def first: .[0];"),
    ("last", 0, "def last: .[-1];"),
    ("nth", 1, "def nth($n): .[$n];"),
    (
        "nth",
        2,
        "def nth($n; g): if $n < 0 then error(\"nth doesn't support negative indices\") \
        else last(limit($n + 1; g)) end;",
    ),
    ("in", 1, "def in(xs): . as $x | xs | has($x);"),
    ("inside", 1, "def inside(xs): . as $x | xs | contains($x);"),
    ("isfinite", 0, "def isfinite: type == \"number\" and (isinfinite | not);"),
    ("isvalid", 1, "def isvalid(f): try (f | true) catch false;"),
    ("arrays", 0, "def arrays: select(type == \"array\");"),
    ("objects", 0, "def objects: select(type == \"object\");"),
    ("iterables", 0, "def iterables: select(type | . == \"array\" or . == \"object\");"),
    ("booleans", 0, "def booleans: select(type == \"boolean\");"),
    ("numbers", 0, "def numbers: select(type == \"number\");"),
    ("normals", 0, "def normals: select(isnormal);"),
    ("finites", 0, "def finites: select(isfinite);"),
    ("strings", 0, "def strings: select(type == \"string\");"),
    ("nulls", 0, "def nulls: select(. == null);"),
    ("values", 0, "def values: select(. != null);"),
    ("scalars", 0, "def scalars: select(type | . != \"array\" and . != \"object\");"),
    ("flatten", 0, "def flatten: flatten_to(-1);"),
    (
        "flatten",
        1,
        "def flatten($depth): if $depth < 0 then error(\"flatten depth must not be negative\") \
        else flatten_to($depth) end;",
    ),
    (
        "combinations",
        0,
        "def combinations: if length == 0 then [] \
        else .[0][] as $x | (.[1:] | combinations) as $rest | [$x] + $rest end;",
    ),
    ("combinations", 1, "def combinations(n): . as $all | [range(n) | $all] | combinations;"),
    (
        "walk",
        1,
        "def walk(f): def inner: if type == \"array\" then map(inner) \
        elif type == \"object\" then map_values(inner) else . end | f; inner;",
    ),
    ("env", 0, "def env: $ENV;"),
    ("debug", 1, "def debug(message): (message | debug | empty), .;"),
    ("todate", 0, "def todate: todateiso8601;"),
    ("fromdate", 0, "def fromdate: fromdateiso8601;"),
    ("todateiso8601", 0, "def todateiso8601: strftime(\"%Y-%m-%dT%H:%M:%SZ\");"),
    ("fromdateiso8601", 0, "def fromdateiso8601: strptime(\"%Y-%m-%dT%H:%M:%SZ\") | mktime;"),
    ("dateadd", 2, "def dateadd(u; n): . + n;"),
    ("datesub", 2, "def datesub(u; n): . - n;"),
    ("date", 0, "def date: todate;"),
    ("match", 1, "def match($re): matches_of($re; null; false)[];"),
    ("match", 2, "def match(re; flags): re as $re | flags as $flags | matches_of($re; $flags; false)[];"),
    ("test", 1, "def test($re): matches_of($re; null; true);"),
    ("test", 2, "def test(re; flags): re as $re | flags as $flags | matches_of($re; $flags; true);"),
    ("capture", 1, "def capture($re): match($re) | names_of_match;"),
    ("capture", 2, "def capture(re; flags): match(re; flags) | names_of_match;"),
    ("scan", 1, "def scan($re): scan($re; null);"),
    (
        "scan",
        2,
        "def scan($re; $flags): match($re; \"g\" + $flags) \
        | if (.captures | length) > 0 then [.captures[].string] else .string end;",
    ),
    ("splits", 1, "def splits($re): splits($re; null);"),
    ("splits", 2, "def splits($re; flags): split($re; flags)[];"),
    ("split", 2, "def split($re; flags): matches_of($re; flags + \"g\"; false) as $found | gaps($found);"),
    ("sub", 2, "def sub($re; f): sub($re; f; \"\");"),
    (
        "sub",
        3,
        "def sub($re; f; $flags): . as $in | matches_of($re; $flags; false) as $found | gaps($found) as $gaps \
        | reduce range($found | length) as $i ([]; [$found[$i] | names_of_match | f] as $new \
            | reduce range($new | length) as $k (.; .[$k] += $gaps[$i] + $new[$k])) \
        | if length == 0 then $in else .[] + $gaps[-1] end;",
    ),
    ("gsub", 2, "def gsub($re; f): sub($re; f; \"g\");"),
    ("gsub", 3, "def gsub($re; f; $flags): sub($re; f; $flags + \"g\");"),
    ("ascii", 0, "def ascii: [.] | implode;"),
    ("tostream", 0, "def tostream: events[];"),
    (
        "fromstream",
        1,
        "def fromstream(f): {value: null, ready: false} as $start | foreach f as $event ($start; \
        if .ready then $start else . end \
        | if ($event | length) == 2 then .ready = ($event[0] | length == 0) | .value |= setpath($event[0]; $event[1]) \
          else .ready = ($event[0] | length == 1) end; \
        if .ready then .value else empty end);",
    ),
    (
        "truncate_stream",
        1,
        "def truncate_stream(stream): . as $n | null | stream | . as $event \
        | if (.[0] | length) > $n then setpath([0]; $event[0][$n:]) else empty end;",
    ),
    ("limit", 2, "def limit($n; f): if $n < 0 then f else limit_to($n; f) end;"),
    ("INDEX", 2, "def INDEX(stream; f): reduce stream as $row ({}; .[$row | f | tostring] |= $row);"),
    ("INDEX", 1, "def INDEX(f): INDEX(.[]; f);"),
    ("JOIN", 2, "def JOIN($index; f): [.[] | [., $index[f]]];"),
    ("JOIN", 3, "def JOIN($index; stream; f): stream | [., $index[f]];"),
    ("JOIN", 4, "def JOIN($index; stream; f; join): stream | [., $index[f]] | join;"),
    ("IN", 1, "def IN(s): any(s == .; .);"),
    ("IN", 2, "def IN(source; s): any(source == s; .);"),
    ("halt_error", 0, "def halt_error: halt_error(5);"),
    ("have_literal_numbers", 0, "def have_literal_numbers: true;"),
    ("have_decnum", 0, "def have_decnum: false;"),
    ("toarray", 0, "def toarray: if type == \"array\" then . else [.] end;"),
];

/// Index of a filter's definition.
pub(crate) fn definition(name: &str, arity: usize) -> Option<&'static Definition> {
    DEFINITIONS.iter().find(|(own, own_arity, _)| *own == name && *own_arity == arity)
}
