// SPDX-License-Identifier: Apache-2.0
// The page filters what it has fetched by the same rule as the daemon: one table of cases for both.
import { readFileSync } from "node:fs";

const [names, cases] = process.argv.slice(2).map((file) => readFileSync(file, "utf8"));
const { isAtOrBelow } = await import(`data:text/javascript,${encodeURIComponent(names)}`);
const lines = cases.trimEnd().split("\n").map((line) => line.split("\t"));
const wrong = lines.filter(([path, wanted, admits]) => isAtOrBelow(path, wanted) !== (admits === "yes"));
for (const [path, wanted, admits] of wrong) console.log(`${path} for ${wanted}: ${admits} is wanted`);
console.log(`${lines.length} cases, ${wrong.length} wrong`);
process.exit(lines.length > 0 && wrong.length === 0 ? 0 : 1);
