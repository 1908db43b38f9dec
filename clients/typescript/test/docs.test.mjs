// Every example of the docs runs.

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { test } from "node:test";

import { url, user } from "./support.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const tree = process.env.NOVELO_TREE ?? resolve(here, "../../..");
const pages = ["clients/typescript/README.md", "docs/integrations.md"];
// What an example calls its own model.
const MODEL = `
import { MockLanguageModelV3 } from "ai/test";
const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
export const model = new MockLanguageModelV3({
  doGenerate: async () => ({ content: [{ type: "text", text: "Tomatoes." }], finishReason: { unified: "stop" }, usage, warnings: [] }),
});
`;

const folder = mkdtempSync(join(tmpdir(), "novelo-docs-"));
symlinkSync(join(here, "node_modules"), join(folder, "node_modules"));
writeFileSync(join(folder, "model.js"), MODEL);
writeFileSync(join(folder, "package.json"), '{"type":"module"}');

let count = 0;
for (const page of pages) {
  for (const [, code] of readFileSync(join(tree, page), "utf8").matchAll(/```javascript\n(.*?)```/gs)) {
    count += 1;
    const file = join(folder, `example-${count}.js`);
    test(`example ${count}, of ${page}`, async () => {
      assert.ok(code.includes("http://127.0.0.1:7420"), "it names no server");
      writeFileSync(file, code.replaceAll("http://127.0.0.1:7420", url).replaceAll('"ana"', JSON.stringify(user())));
      await import(file);
    });
  }
}

test("there are examples", () => assert.ok(count >= 3, `${count}`));
