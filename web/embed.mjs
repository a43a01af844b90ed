// Writes the files of dist/ as a C file: the table mel_assets of server/assets.h.
// usage: node embed.mjs DIST OUT.c
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';

const [dist, out] = process.argv.slice(2);
if (!dist || !out) {
  console.error('usage: node embed.mjs DIST OUT.c');
  process.exit(2);
}
const files = JSON.parse(await readFile(path.join(dist, 'manifest.json'), 'utf8'));

/** Rows of decimal bytes. */
function array(bytes) {
  const rows = [];
  for (let i = 0; i < bytes.length; i += 24) rows.push(`    ${[...bytes.subarray(i, i + 24)].join(',')},`);
  return rows.join('\n');
}

const tables = [];
const entries = [];
for (const [i, file] of files.entries()) {
  const plain = await readFile(path.join(dist, file.path));
  const packed = gzipSync(plain, { level: 9 });
  const gzipped = packed.length < plain.length;
  const bytes = gzipped ? packed : plain;
  const hashed = file.path.startsWith('/assets/');
  tables.push(`static const unsigned char file_${i}[] = {\n${array(bytes)}\n};`);
  entries.push(
    `    { ${JSON.stringify(file.path)}, ${JSON.stringify(file.type)}, file_${i}, sizeof file_${i}, ${gzipped}, ${hashed} },`,
  );
}
const text = `/* Made by web/embed.mjs from the files of the front end. */
#include "server/assets.h"

${tables.join('\n\n')}

const mel_asset mel_assets[] = {
${entries.join('\n')}
};
const size_t mel_n_assets = sizeof mel_assets / sizeof *mel_assets;
`;
await writeFile(out, text);
