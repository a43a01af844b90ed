// Bundles test/*.test.ts for node, which cannot read TypeScript, and runs them.
import { build } from 'esbuild';
import { spawnSync } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.dirname(fileURLToPath(import.meta.url));
const out = await mkdtemp(path.join(tmpdir(), 'melicit-web-'));
const tests = (await readdir(path.join(root, 'test'))).filter((name) => name.endsWith('.test.ts'));
try {
  await build({
    entryPoints: tests.map((name) => path.join(root, 'test', name)),
    outdir: out,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'warning',
  });
  const files = tests.map((name) => path.join(out, name.replace('.ts', '.mjs')));
  process.exitCode = spawnSync(process.execPath, ['--test', ...files], { stdio: 'inherit' }).status ?? 1;
} finally {
  await rm(out, { recursive: true });
}
