//! Compares the host's curl and wget with those of the sandbox, with the same commands and the same server.

use std::process::Command;

use tidebox::network::{AllowRule, NetworkPolicy};

use super::{Server, sandbox};

/// Name of the server in the sandbox.
const NAME: &str = "test.test";

/// Commands whose output, exit code and files must be equal. `$U` is the server; `$S` differs between the two sides, for paths
/// that each side must request for the first time. Messages on stderr are compared only if redirected to stdout.
const CASES: &[&str] = &[
    "curl -s $U/hello",
    "curl -s -i $U/hello",
    "curl -s -I $U/hello",
    "curl -s -D - -o /dev/null $U/hello",
    "curl -s -o f -D h $U/hello; cat f h",
    "curl -s $U/echo",
    "curl -s -H 'X-One: 1' -H 'accept: a/b' -H 'User-Agent:' -H 'X-Empty;' $U/echo",
    "printf 'X-A: 1\\nX-B: 2\\n' > h; curl -s -H @h $U/echo",
    "curl -s -A agent -e from $U/echo",
    "curl -s -u me:pass $U/echo; curl -s -u me: $U/echo; curl -s http://me:p%40ss@${U#http://}/echo",
    "curl -s --oauth2-bearer tok $U/echo",
    "curl -s -d a=1 -d b=2 $U/echo",
    "printf 'x\\ny\\n' > f; curl -s -d @f $U/echo; curl -s --data-binary @f $U/echo; curl -s --data-raw @f $U/echo",
    "printf 'from stdin' | curl -s -d @- $U/echo",
    "curl -s --data-urlencode 'a b&c' --data-urlencode 'n=x y' --data-urlencode '=z=' $U/echo",
    "echo 'a b' > f; curl -s --data-urlencode n@f --data-urlencode @f $U/echo",
    "curl -s -G -d a=1 --data-urlencode 'q=x y' $U/echo; curl -s -G -d a=1 $U/echo?z",
    "curl -s --json '{\"a\":1}' $U/echo",
    "curl -s -d '{}' -H 'Content-Type: application/json' $U/echo",
    "curl -s -X DELETE $U/echo; curl -s -X PATCH -d x $U/echo; curl -s -X POST $U/echo",
    "echo content > f.txt; curl -s -F a=1 -F 'f=@f.txt' -F 'g=@f.txt;type=a/b;filename=n' -F 'h=<f.txt' $U/echo",
    "curl -s --form-string a=@b $U/echo",
    "echo content > f; curl -s -T f $U/echo; curl -s -T f $U/echo/; printf piped | curl -s -T - $U/echo",
    "curl -s $U/to?/hello; curl -s -L $U/to?/hello; curl -s -i -L $U/to?/hello",
    "curl -s -L -d a=1 $U/to?/echo; curl -s -L -d a=1 $U/again?/echo; curl -s -L -d a=1 $U/see-other?/echo",
    "curl -s -L --post302 -d a=1 $U/to?/echo; curl -s -L -X PUT -d a=1 $U/to?/echo",
    "curl -s -S -L --max-redirs 2 $U/loop 2>&1; echo $?",
    "curl -s -L -e ';auto' $U/to?/echo",
    "curl -s -f $U/status/404; echo $?; curl -s -S -f $U/status/500 2>&1; echo $?",
    "curl -s --fail-with-body $U/status/404; echo $?; curl -s $U/status/500; echo $?; curl -s -i -f $U/status/404; echo $?",
    "curl -s -o /dev/null -w '%{http_code} %{size_download} %{content_type} %{num_redirects}\\n' -L $U/to?/hello",
    "curl -s -o f -w '%{url_effective} %{method} %{filename_effective} %{scheme} %{http_version}\\n' $U/hello",
    "curl -s -o /dev/null -w '%{redirect_url} %{response_code} %{num_headers} %header{location}\\n' $U/to?/hello",
    "curl -s -o /dev/null -w '%{remote_ip} %{size_header} %{exitcode} [%{errormsg}]%%\\t|\\n' $U/hello",
    "curl -s -O $U/hello; cat hello; curl -s -O $U/; echo $?",
    "curl -s -O -J $U/named; ls; cat given.txt",
    "curl -s --create-dirs -o a/b/c $U/hello; cat a/b/c; curl -s -o x/y/z $U/hello; echo $?",
    "curl -s --output-dir d --create-dirs -O $U/hello; cat d/hello",
    "curl -s \"$U/status/20[0-2]\" -w '%{http_code}\\n'; curl -s \"$U/{hello,status/404}\" -o 'f_#1'; ls",
    "curl -s -g \"$U/echo?a[1]=2&b={c}\"",
    "curl -s $U/hello $U/status/404 -o one; cat one",
    "curl -s -c jar $U/cookie; grep -v '^#' jar | cut -f 3-; curl -s -b jar $U/echo; curl -s -b 'a=1; b=2' $U/echo",
    "curl -s -L $U/login; curl -s -L -c jar $U/login; curl -s -L -b x=1 $U/login",
    "curl -s --compressed $U/gzip; curl -s $U/gzip | wc -c",
    "curl -s -r 2-4 $U/range; curl -s -r -3 $U/range; printf 012 > f; curl -s -C - -o f $U/range; cat f",
    "curl -s $U/flaky/$S --retry 2 | tail -1",
    "curl -s -S $U/empty 2>&1; echo $?; curl -s $U/cut; echo \" $?\"; curl -sS $U/cut 2>&1 >/dev/null",
    "curl -s -m 0.3 $U/silent; echo $?",
    "curl -s -S http://nowhere.invalid/ 2>&1; echo $?",
    "curl -s -S gopherx://localhost/ 2>&1; echo $?",
    "curl --nonsense 2>&1; echo $?; curl 2>&1; echo $?; curl -o 2>&1; echo $?",
    "curl -s -S --data-binary @missing $U/echo >/dev/null 2>&1; echo $?; curl -s -T missing $U/echo 2>/dev/null; echo $?",
    "curl -s --max-filesize 3 $U/hello; echo $?",
    "curl -s $U/big/1000000 | wc -c; curl -s $U/big/200000 | head -c 2; echo",
    "curl -s -o - $U/hello; curl -s --url $U/hello; curl -sLo f $U/hello && cat f",
    "curl --silent --show-error --location --fail $U/hello",
    "curl -s \"$U/status/20[2-1]\"; echo $?; curl -s -S \"$U/{a\" 2>/dev/null; echo $?",
    "wget -q -O - $U/hello",
    "wget -q $U/hello; cat hello; wget -q $U/hello; ls; wget -q $U/",
    "wget -q -P d/e $U/hello; cat d/e/hello; wget -q -O f $U/hello $U/status/200; cat f",
    "wget -q \"$U/echo?a=b\"; ls; wget -nc -q $U/hello; wget -nc -q $U/hello; echo $?; ls",
    "wget -q $U/status/404; echo $?; wget -q -t 1 $U/status/500; echo $?; wget -q -t 1 $U/empty; echo $?; ls",
    "wget -q -O - --header 'X-A: 1' -U me $U/echo | grep -v '^accept'",
    "wget -q -O - --post-data a=1 $U/echo | grep -v '^accept'; wget -q -O - --method PUT --body-data x $U/echo | head -1",
    "wget -q -O - $U/to?/hello; wget -q --max-redirect 0 $U/to?/hello; echo $?",
    "wget -q --spider $U/hello; echo $?; wget -q --spider $U/status/404; echo $?; ls",
    "printf '%s\\n' $U/hello $U/status/200 > list; wget -q -i list; ls; cat 200",
    "wget -q --content-disposition $U/named; ls",
    "printf 012 > range; wget -q -c $U/range; cat range",
    "wget -q -T 0.3 -t 1 $U/silent; echo $?; wget -q http://nowhere.invalid/; echo $?; wget -q ftpx://a/; echo $?",
    "wget 2>/dev/null; echo $?; wget --nonsense 2>/dev/null; echo $?",
    "wget -q -O - --user me --password pass --auth-no-challenge $U/hello",
];

fn is_there(tool: &str) -> bool {
    Command::new(tool).arg("--version").output().is_ok_and(|output| output.status.success())
}

fn native(script: &str) -> String {
    let dir = tempfile::tempdir().expect("a directory can be created");
    let output = Command::new("bash")
        .args(["-c", script])
        .current_dir(dir.path())
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", dir.path())
        .env("LC_ALL", "C.UTF-8")
        .output()
        .expect("bash starts");
    format!("{}[{}]", String::from_utf8_lossy(&output.stdout), output.status.code().unwrap_or(-1))
}

#[tokio::test]
async fn curl_and_wget_match_the_real_ones() {
    if let Some(missing) = ["bash", "curl", "wget"].into_iter().find(|tool| !is_there(tool)) {
        eprintln!("skipped: the host has no {missing} to compare with");
        return;
    }
    let server = Server::start();
    let mut different = Vec::new();
    for case in CASES {
        // `localhost` is the sandbox itself. The other name has its length, because responses contain it.
        let policy = NetworkPolicy::new()
            .allow(AllowRule::host("*").expect("any").http().port(server.port).port(80).any_method())
            .pin_address(NAME, [127, 0, 0, 1].into())
            .expect("pinned");
        let script = |side: &str, name: &str| format!("S={side} U=http://{name}:{}\n{case}", server.port);
        let sandbox = sandbox(policy);
        let request = tidebox::ExecuteRequest::new(script("ours", NAME));
        let response = tidebox::SandboxBackend::execute(&sandbox, request).await.expect("it runs");
        let stdout = response.stdout_text().replace(NAME, "localhost");
        let ours = format!("{stdout}[{}]", response.exit_code.unwrap_or(-1));
        let theirs = tokio::task::spawn_blocking({
            let script = script("real", "localhost");
            move || native(&script)
        });
        let theirs = theirs.await.expect("it ran");
        if ours != theirs {
            different
                .push(format!("{case}\n--- real\n{theirs}\n--- ours\n{ours}\n--- stderr\n{}", response.stderr_text()));
        }
    }
    assert!(different.is_empty(), "{} of {} differ:\n{}", different.len(), CASES.len(), different.join("\n\n"));
}
