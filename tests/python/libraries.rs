//! Packages of the pack apart from the scientific ones.

use super::{prints, sandbox};

async fn check(program: &str, expected: &str) {
    let Some(sandbox) = sandbox() else { return };
    prints(&sandbox, &format!("cat > p.py <<'P'\n{program}\nP\npython3 p.py"), expected).await;
}

#[tokio::test]
async fn common_pure_packages_are_installed() {
    let program = r#"
import importlib.metadata as m
names = "requests httpx httpcore h11 anyio certifi idna urllib3 charset-normalizer rich markdown-it-py mdurl pygments click \
python-dotenv tabulate pyyaml jinja2 markupsafe beautifulsoup4 soupsieve python-dateutil six".split()
print([name for name in names if not m.version(name)])
import bs4, dateutil.parser, dotenv, jinja2, tabulate, yaml
print(yaml.safe_load("a: [1, {b: 2}]"), jinja2.Template("{% for x in y %}{{ x|e }};{% endfor %}").render(y=["<", 1]))
print(bs4.BeautifulSoup("<p class=a>x<b>y</b>", "html.parser").select_one("p.a b").text, dateutil.parser.parse("1 May 2020").date())
print(tabulate.tabulate([["a", 1]], headers=["n", "v"]))
open(".env", "w").write("KEY='va lue'\n")
print(dotenv.dotenv_values(".env")["KEY"])
"#;
    let expected = "[]\n{'a': [1, {'b': 2}]} &lt;;1;\ny 2020-05-01\nn      v\n---  ---\na      1\nva lue\n";
    check(program, expected).await;
}

#[tokio::test]
async fn click_parses_a_command_line() {
    let Some(sandbox) = sandbox() else { return };
    let program = r#"
import click
@click.command()
@click.option("--count", default=1, help="Times.")
@click.argument("name")
def hello(count, name):
    for _ in range(count): click.echo(f"Hello {name}!")
hello()
"#;
    let write =
        format!("cat > hello.py <<'P'{program}P\npython3 hello.py --count 2 you; python3 hello.py --help | head -1");
    prints(&sandbox, &write, "Hello you!\nHello you!\nUsage: hello.py [OPTIONS] NAME\n").await;
}

#[tokio::test]
async fn rich_prints_tables_and_progress_without_threads() {
    let program = r#"
from rich.console import Console
from rich.progress import Progress, track
from rich.table import Table
table = Table("name", "value")
table.add_row("a", "[bold]1[/bold]")
Console(width=40).print(table)
print(sum(track(range(5), description="work")))
with Progress() as progress:
    task = progress.add_task("steps", total=2)
    progress.update(task, advance=2)
with Console().status("waiting"):
    print("done")
"#;
    let Some(sandbox) = sandbox() else { return };
    let command = format!("cat > p.py <<'P'{program}P\npython3 p.py");
    let response = super::run(&sandbox, &command).await;
    let text = response.stdout_text().into_owned();
    assert_eq!((response.exit_code, response.stderr_text().as_ref()), (Some(0), ""), "{text}");
    for part in ["│ a    │ 1     │\n", "work", "100%", "\n10\n", "steps", "done\n"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}
