// Bundles src/ into dist/: index.html, hashed files under assets/, manifest.json with path, type, size and SHA-256 of each.
// usage: node build.mjs [OUT]
import { build } from 'esbuild';
import { createHash } from 'node:crypto';
import { mkdir, readFile, readdir, rm, unlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const root = path.dirname(fileURLToPath(import.meta.url));
const out = path.resolve(process.argv[2] ?? path.join(root, 'dist'));

const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
};

async function bundle() {
  const result = await build({
    entryPoints: [path.join(root, 'src/main.tsx')],
    outdir: path.join(out, 'assets'),
    absWorkingDir: root,
    bundle: true,
    splitting: true,
    format: 'esm',
    target: ['es2022'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    minify: true,
    legalComments: 'none',
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    assetNames: '[name]-[hash]',
    loader: { '.json': 'file' },
    publicPath: '/assets',
    metafile: true,
    logLevel: 'warning',
  });
  return result.metafile.outputs;
}

/** The script and the style sheet that the page starts with. */
function entry(outputs) {
  const found = Object.entries(outputs).find(([, o]) => o.entryPoint === 'src/main.tsx');
  return { script: path.basename(found[0]), style: path.basename(found[1].cssBundle) };
}

async function listed(folder, prefix) {
  const names = (await readdir(folder, { withFileTypes: true })).sort((a, b) => (a.name < b.name ? -1 : 1));
  const files = [];
  for (const name of names) {
    if (name.isDirectory()) files.push(...(await listed(path.join(folder, name.name), `${prefix}${name.name}/`)));
    else {
      const bytes = await readFile(path.join(folder, name.name));
      files.push({
        path: `${prefix}${name.name}`,
        type: TYPES[path.extname(name.name)] ?? 'application/octet-stream',
        bytes: bytes.length,
        gzip: gzipSync(bytes, { level: 9 }).length,
        sha256: createHash('sha256').update(bytes).digest('hex'),
      });
    }
  }
  return files;
}

await rm(out, { recursive: true, force: true });
await mkdir(out, { recursive: true });
const { script, style } = entry(await bundle());
// The entry's style sheet holds those of all chunks; what esbuild writes for each chunk besides is never asked for.
for (const name of await readdir(path.join(out, 'assets')))
  if (name.endsWith('.css') && name !== style) await unlink(path.join(out, 'assets', name));
const page = await readFile(path.join(root, 'src/index.html'), 'utf8');
await writeFile(
  path.join(out, 'index.html'),
  page.replace('{{script}}', `/assets/${script}`).replace('{{style}}', `/assets/${style}`),
);
await writeFile(path.join(out, 'favicon.svg'), await readFile(path.join(root, 'src/favicon.svg')));
const files = await listed(out, '/');
await writeFile(path.join(out, 'manifest.json'), `${JSON.stringify(files, null, 1)}\n`);
