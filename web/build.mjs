// Bundles src/ into dist/: index.html, favicon.svg and hashed files under assets/. The same sources and package-lock.json
// give the same bytes. usage: node build.mjs [OUT]
import { build } from 'esbuild';
import { mkdir, readFile, readdir, rm, unlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.dirname(fileURLToPath(import.meta.url));
const out = path.resolve(process.argv[2] ?? path.join(root, 'dist'));

/** Each language is a part of its own: its sentences by the English ones, from languages.json. */
const languages = {
  name: 'languages',
  setup(bundler) {
    bundler.onResolve({ filter: /^catalogue:/ }, ({ path: name }) => ({ path: name.slice('catalogue:'.length), namespace: 'catalogue' }));
    bundler.onLoad({ filter: /.*/, namespace: 'catalogue' }, async ({ path: language }) => {
      const { pages } = JSON.parse(await readFile(path.join(root, 'languages.json'), 'utf8'));
      const sentences = Object.fromEntries(Object.entries(pages).map(([english, others]) => [english, others[language]]));
      return { contents: JSON.stringify(sentences), loader: 'json' };
    });
  },
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
    plugins: [languages],
    logLevel: 'warning',
  });
  return result.metafile.outputs;
}

/** The script and the style sheet that the page starts with. */
function entry(outputs) {
  const found = Object.entries(outputs).find(([, o]) => o.entryPoint === 'src/main.tsx');
  return { script: path.basename(found[0]), style: path.basename(found[1].cssBundle) };
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
// The page of `melicit optimise --oracle browser`, which another program serves: on its own, with names that stay.
const compare = path.join(root, 'src/compare');
await build({
  entryPoints: [path.join(compare, 'compare.ts'), path.join(compare, 'compare.css')],
  outdir: out,
  absWorkingDir: root,
  bundle: true,
  format: 'esm',
  target: ['es2022'],
  minify: true,
  logLevel: 'warning',
});
await writeFile(path.join(out, 'compare.html'), await readFile(path.join(compare, 'index.html')));
// What the library says, for the server, which has it in English.
const { sentences } = JSON.parse(await readFile(path.join(root, 'languages.json'), 'utf8'));
const said = Object.fromEntries(['de', 'fr', 'es'].map((language) => [language, Object.fromEntries(Object.entries(sentences).map(([english, others]) => [english, others[language]]))]));
await writeFile(path.join(out, 'sentences.json'), JSON.stringify(said));
await writeFile(path.join(out, 'favicon.svg'), await readFile(path.join(root, 'src/favicon.svg')));
