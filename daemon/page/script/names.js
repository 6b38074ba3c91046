// SPDX-License-Identifier: Apache-2.0
// Names come from processes, symbol tables and cgroups, so anybody may have chosen the text.

const CONTROL = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

function escaped(character) {
  const code = character.charCodeAt(0);
  return code < 0x100
    ? "\\x" + code.toString(16).padStart(2, "0")
    : "\\u" + code.toString(16).padStart(4, "0");
}

// `name` on one line in reading order. Characters without a width of their own, or that change the
// direction of text, become escapes.
export function visible(name) {
  return name.replace(CONTROL, escaped);
}

const UNIT = /^[\w:.\\@-]+\.(service|scope|socket|mount|swap|slice)$/;

// Decodes systemd's escapes in the name of a unit: "a\\x2db.service" is "a-b.service".
function unescaped(name) {
  return name.replace(/(\\x[0-9a-f]{2})+/gi, (run) => {
    const bytes = run.match(/[0-9a-f]{2}/gi).map((digits) => parseInt(digits, 16));
    return new TextDecoder().decode(new Uint8Array(bytes));
  });
}

// Like the daemon's `cgroup=` (docs/http.md, "Which cgroups"). `wanted`: a path, or
// the name of a unit.
export function isAtOrBelow(path, wanted) {
  if (wanted.startsWith("/") || wanted.startsWith("(")) {
    const top = wanted.replace(/\/+$/, "");
    return path === top || path.startsWith(`${top}/`);
  }
  const [, ...directories] = path.split("/");
  return directories.some((directory, depth) => {
    const name = directory.replace(/^_/, "");
    const isTalos = depth === 1 && ["system", "podruntime"].includes(directories[0]);
    if (!UNIT.test(name)) return isTalos && directory === wanted;
    return [name, unescaped(name)].some((unit) => unit === wanted || unit === `${wanted}.service`);
  });
}

// The path and those above it: "/a/b" gives "/", "/a" and "/a/b".
export function pathsAbove(path) {
  const paths = ["/"];
  for (let at = path.indexOf("/", 1); at !== -1; at = path.indexOf("/", at + 1)) {
    paths.push(path.slice(0, at));
  }
  if (path !== "/" && path !== "") paths.push(path);
  return paths;
}
