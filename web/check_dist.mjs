// Builds src/ into a temporary folder and fails unless that equals dist/, which is kept with the sources, byte for byte.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.dirname(fileURLToPath(import.meta.url));

/** Paths of the files below a folder, with their content. */
function contents(folder, prefix = '') {
  const found = new Map();
  for (const entry of readdirSync(path.join(folder, prefix), { withFileTypes: true })) {
    const name = path.join(prefix, entry.name);
    if (entry.isDirectory()) for (const [inner, bytes] of contents(folder, name)) found.set(inner, bytes);
    else found.set(name, readFileSync(path.join(folder, name)));
  }
  return found;
}

const fresh = mkdtempSync(path.join(tmpdir(), 'melicit-dist-'));
try {
  const built = spawnSync(process.execPath, [path.join(root, 'build.mjs'), fresh], { stdio: 'inherit' });
  if (built.status !== 0) throw new Error('build.mjs failed');
  const [kept, wanted] = [contents(path.join(root, 'dist')), contents(fresh)];
  const differing = [...new Set([...kept.keys(), ...wanted.keys()])].filter(
    (name) => !kept.has(name) || !wanted.has(name) || !kept.get(name).equals(wanted.get(name)),
  );
  if (differing.length > 0) {
    console.error(`web/dist is not what web/src builds to; make web, then commit it. Differing: ${differing.join(', ')}`);
    process.exitCode = 1;
  } else console.log(`web/dist: ${kept.size} files as built from web/src`);
} finally {
  rmSync(fresh, { recursive: true });
}
