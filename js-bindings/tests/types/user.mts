// Where TypeScript takes the kind of a module from its name.

import { Sandbox } from "tidebox";
import { listPacks } from "tidebox/packs";

export async function ready(): Promise<boolean> {
  await using sandbox = await Sandbox.create({ packs: ["python"] });
  const { exitCode } = await sandbox.execute("python3 -V");
  return exitCode === 0 && (await listPacks()).every((pack) => pack.ready);
}
