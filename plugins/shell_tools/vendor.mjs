/**
 * Bundles xterm.js into src/agentcore_shell_tools/component/vendor, with its licence and a manifest that a test checks.
 *
 * The page's policy allows no inline styles. xterm.js makes `<style>` elements and `style` attributes; in the bundle they
 * are elements with a constructed style sheet (component/style-sheet.js) and properties of `element.style`, which it does allow.
 *
 * Run: npm ci && npm run vendor
 */
import {createHash} from 'node:crypto';
import {mkdir, readFile, rm, writeFile} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {build} from 'esbuild';

const ROOT = dirname(fileURLToPath(import.meta.url));
const PACKAGES = join(ROOT, 'node_modules');
const VENDOR = join(ROOT, 'src', 'agentcore_shell_tools', 'component', 'vendor');
const LIBRARIES = ['@xterm/xterm', '@xterm/addon-fit'];

/** What is written otherwise in the library's own bundle, and how often it stands there. */
const CHANGES = [
  [/\.createElement\("style"\)/g, '.createElement("shell-tools-sheet")', 3],
  [/(\w+)\.setAttribute\("style",/g, '$1.style.cssText=(', 1],
];

/** @type {import('esbuild').Plugin} */
const withoutInlineStyles = {
  name: 'without-inline-styles',
  setup({onLoad}) {
    onLoad({filter: /xterm\/lib\/xterm\.mjs$/}, async ({path}) => {
      let contents = await readFile(path, 'utf8');
      for (const [pattern, replacement, count] of CHANGES) {
        const found = contents.match(pattern)?.length ?? 0;
        if (found !== count) throw new Error(`${pattern} stands ${found} times in xterm.js, and not ${count}: look again`);
        contents = contents.replace(pattern, replacement);
      }
      return {contents, loader: 'js'};
    });
  },
};

const SOURCE = `
  export {Terminal} from '@xterm/xterm';
  export {FitAddon} from '@xterm/addon-fit';
  export {default as styles} from '@xterm/xterm/css/xterm.css';
`;

await rm(VENDOR, {recursive: true, force: true});
await mkdir(VENDOR, {recursive: true});
await build({
  stdin: {contents: SOURCE, resolveDir: ROOT, loader: 'js'}, outfile: join(VENDOR, 'xterm.js'), bundle: true, format: 'esm',
  minify: true, target: 'es2022', legalComments: 'inline', loader: {'.css': 'text'}, plugins: [withoutInlineStyles],
});
const sha256 = createHash('sha256').update(await readFile(join(VENDOR, 'xterm.js'))).digest('hex');
const libraries = [];
for (const name of LIBRARIES) {
  const about = JSON.parse(await readFile(join(PACKAGES, name, 'package.json'), 'utf8'));
  const licenceFile = `LICENSE-${name.split('/')[1]}.txt`;
  await writeFile(join(VENDOR, licenceFile), await readFile(join(PACKAGES, name, 'LICENSE'), 'utf8'));
  libraries.push({name, version: about.version, licence: about.license, licenceFile, sha256: {'xterm.js': sha256}});
}
await writeFile(join(VENDOR, 'manifest.json'), `${JSON.stringify({libraries}, null, 2)}\n`);
