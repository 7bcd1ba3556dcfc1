// Makes the page's program and style from src/, and their hashes for the page's policy. `node build.mjs DIR` writes them
// elsewhere than where the reporter includes them from.
import { build } from 'esbuild';
import { compileFromFile } from 'json-schema-to-typescript';
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const [out = join(here, '../crates/report/src/html'), types = join(here, 'src')] = process.argv.slice(2);
mkdirSync(out, { recursive: true });

const options = {
  additionalProperties: false,
  bannerComment: '// Written by build.mjs from the published schema.',
  format: false,
};
for (const [schema, name] of [['report', 'report'], ['compare', 'compare-report']]) {
  writeFileSync(join(types, `${name}.d.ts`), await compileFromFile(join(here, `../docs/schema/${schema}.schema.json`), options));
}

const { outputFiles } = await build({
  entryPoints: [join(here, 'src/main.tsx'), join(here, 'src/style.css')],
  outdir: out,
  bundle: true,
  minify: true,
  format: 'iife',
  target: ['chrome120', 'firefox121', 'safari17'],
  charset: 'ascii',
  legalComments: 'none',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  write: false,
});

const hashes = {};
for (const { path, contents } of outputFiles) {
  const kind = path.endsWith('.css') ? 'style' : 'script';
  writeFileSync(join(out, kind === 'style' ? 'viewer.css' : 'viewer.js'), contents);
  hashes[kind] = createHash('sha256').update(contents).digest('base64');
}
const policy = [
  "default-src 'none'",
  `script-src 'sha256-${hashes.script}'`,
  `style-src 'sha256-${hashes.style}'`,
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
];
writeFileSync(join(out, 'policy.txt'), policy.join('; '));
