//! A scripted agent: it clones a TypeScript project, runs the tests, mends what fails, commits and pushes.

use tidebox::Packs;

use crate::{is_ready, run, sandbox};

/// Creates a repository with a project, an installed package and an error: the total ignores quantities.
const ORIGIN: &str = r#"
git init -q --bare origin.git && git init -q seed && cd seed
mkdir -p src test node_modules/money
cat > package.json <<'END'
{ "name": "shop", "version": "1.0.0", "type": "module", "scripts": { "test": "node --test test/*.test.ts" }, "dependencies": { "money": "^1.0.0" } }
END
echo '{ "name": "money", "version": "1.0.0", "type": "module", "exports": "./index.js" }' > node_modules/money/package.json
echo 'export const format = (cents) => `${(cents / 100).toFixed(2)} EUR`;' > node_modules/money/index.js
cat > src/order.ts <<'END'
import { format } from 'money';
export interface Line { name: string; cents: number; quantity: number }
export class Order {
  constructor(private readonly lines: Line[]) {}
  total(): number {
    return this.lines.reduce((sum: number, line: Line) => sum + line.cents, 0);
  }
  get text(): string { return format(this.total()); }
}
END
cat > test/order.test.ts <<'END'
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Order, type Line } from '../src/order.ts';
const lines: Line[] = [{ name: 'tea', cents: 250, quantity: 2 }, { name: 'cup', cents: 999, quantity: 1 }];
describe('order', () => {
  it('adds the lines', () => assert.equal(new Order(lines).total(), 1499));
  it('writes the total', () => assert.equal(new Order(lines).text, '14.99 EUR'));
  it('is empty at first', () => assert.equal(new Order([]).total(), 0));
});
END
git add -f . && git commit -qm 'first version' && git push -q ../origin.git HEAD:main
"#;

fn has_git() -> bool {
    let ready = Packs::user().ready().iter().any(|pack| pack.name() == "git");
    if !ready {
        eprintln!("skipped: the pack git is not installed; run `cargo xtask pack git`, then `tidebox pack add git`");
    }
    ready
}

#[tokio::test]
async fn an_agent_mends_a_cloned_typescript_project() {
    if !is_ready() || !has_git() {
        return;
    }
    let sandbox = sandbox();
    let origin = run(&sandbox, ORIGIN).await;
    assert_eq!(origin.exit_code, Some(0), "{}", origin.output_text());

    let cloned = run(&sandbox, "git clone -q -b main origin.git shop && cd shop && npm test").await;
    let text = cloned.stdout_text().into_owned();
    assert_eq!(cloned.exit_code, Some(1), "{text}");
    for line in ["not ok 1 - adds the lines", "ok 3 - is empty at first", "# pass 1", "# fail 2"] {
        assert!(text.contains(line), "{line} is missing in {text}");
    }

    let edit = "cd shop && sed -i 's/sum + line.cents,/sum + line.cents * line.quantity,/' src/order.ts && npm test 2>&1 | grep '^# '";
    let mended = run(&sandbox, edit).await;
    assert!(mended.stdout_text().contains("# pass 3\n# fail 0\n"), "{}", mended.output_text());

    let commit =
        "cd shop && git commit -qam 'Count quantities' && git push -q && git -C ../origin.git log --format=%s main";
    let pushed = run(&sandbox, commit).await;
    assert_eq!(pushed.stdout_text(), "Count quantities\nfirst version\n", "{}", pushed.stderr_text());
}
