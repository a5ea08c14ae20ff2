/**
 * Bundles the page's libraries into webui/vendor, with their licences and a manifest that a test checks.
 *
 * Lit is one file, so that a page loads it with one request, and every documented path of it (`lit/directives/repeat.js`)
 * is a line that takes its names from there: a module's component may import any of them and shares one Lit with the page.
 *
 * Run: npm ci && npm run vendor
 */
import {createHash} from 'node:crypto';
import {copyFile, mkdir, readFile, readdir, rm, writeFile} from 'node:fs/promises';
import {dirname, join, relative} from 'node:path';
import {fileURLToPath} from 'node:url';
import {build} from 'esbuild';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const PACKAGES = join(ROOT, 'node_modules');
const VENDOR = join(ROOT, 'webui', 'vendor');
const AXE = join(ROOT, 'tests', 'webui', 'vendor');

/** Parts of Lit that are in the one file; all of their names differ. */
const LIT = [
  'lit', 'lit/async-directive.js', 'lit/directive.js', 'lit/directive-helpers.js', 'lit/decorators.js',
  ...['async-append', 'async-replace', 'cache', 'choose', 'class-map', 'guard', 'if-defined', 'join', 'keyed', 'live',
    'map', 'range', 'ref', 'repeat', 'style-map', 'template-content', 'unsafe-html', 'unsafe-svg', 'until', 'when',
  ].map((name) => `lit/directives/${name}.js`),
];
/** Paths of Lit that take their names from the one file: path in vendor, and the package's file with these names. */
const LIT_PATHS = [
  ...LIT.filter((name) => name !== 'lit').map((name) => [name, name]),
  ...LIT.filter((name) => /\/(directives\/|async-directive|directive)/.test(name))
    .map((name) => [name.replace('lit/', 'lit-html/'), name]),
  ['lit/html.js', 'lit/html.js'],
  ['lit-html/lit-html.js', 'lit-html'],
  ['lit-element/lit-element.js', 'lit-element/lit-element.js'],
  ['@lit/reactive-element/reactive-element.js', '@lit/reactive-element'],
  ['@lit/reactive-element/css-tag.js', '@lit/reactive-element/css-tag.js'],
];
/** Languages that highlight.js knows in the page: what tools return most. */
const LANGUAGES = [
  'bash', 'c', 'cpp', 'css', 'diff', 'dockerfile', 'go', 'ini', 'java', 'javascript', 'json', 'kotlin', 'lua',
  'makefile', 'markdown', 'php', 'plaintext', 'python', 'ruby', 'rust', 'shell', 'sql', 'swift', 'typescript', 'xml',
  'yaml',
];

/** Icons that the page and modules' components name; a module may ask for any of them. */
const ICONS = [
  'activity', 'app-window', 'archive', 'arrow-down', 'arrow-left', 'arrow-right', 'arrow-up', 'ban', 'bell', 'blocks', 'bot',
  'box', 'braces', 'brain', 'bug', 'calendar', 'camera', 'chart-line', 'check', 'chevron-down', 'chevron-left', 'chevron-right',
  'chevron-up', 'circle', 'circle-alert', 'circle-check', 'circle-help', 'circle-stop', 'circle-x', 'clock', 'cloud', 'code',
  'columns-2', 'copy', 'corner-down-left', 'cpu', 'database', 'diff', 'download', 'ellipsis', 'external-link', 'eye', 'eye-off', 'file',
  'file-code', 'file-text', 'folder', 'folder-open', 'funnel', 'gauge', 'git-branch', 'globe', 'grip-vertical', 'hammer',
  'hard-drive', 'hash', 'history', 'house', 'image', 'inbox', 'info', 'key', 'languages', 'layout-grid', 'link', 'list',
  'list-tree', 'loader-circle', 'lock', 'log-in', 'log-out', 'mail', 'menu', 'message-square', 'mic', 'minus', 'monitor', 'moon',
  'mouse-pointer', 'network', 'octagon-x', 'package', 'palette', 'panel-left', 'panels-top-left', 'paperclip', 'pause', 'pencil',
  'pin', 'pin-off', 'play', 'plug', 'plus', 'power', 'puzzle', 'refresh-cw', 'rotate-ccw', 'save', 'search', 'send', 'server', 'settings', 'shield',
  'shield-alert', 'sliders-horizontal', 'sparkles', 'square', 'square-terminal', 'star', 'sun', 'table', 'tag', 'terminal',
  'trash-2', 'triangle-alert', 'undo-2', 'upload', 'user', 'users', 'video', 'wand-sparkles', 'wifi-off', 'workflow', 'wrench',
  'x', 'zap',
];

/** Leaves Lit itself out of a bundle: the import map leads to the one file. */
const WITHOUT_CORE = {
  name: 'without-core',
  setup({onResolve}) {
    onResolve({filter: /^\.\/lit-html\.js$/}, () => ({path: 'lit-html', external: true}));
  },
};

/** Writes what a few lines export as one file. */
const bundle = (source, outfile, options = {}) => build({
  stdin: {contents: source, resolveDir: ROOT, loader: 'js'},
  outfile: join(VENDOR, outfile), bundle: true, format: 'esm', minify: true, target: 'es2022', legalComments: 'inline',
  ...options,
});

/** The names that a module exports; asked of the bundler, because Lit does not run outside of a browser. */
async function exportsOf(source) {
  const {metafile} = await build({
    stdin: {contents: `export * from '${source}';`, resolveDir: ROOT}, bundle: true, format: 'esm', write: false,
    metafile: true, outfile: 'out.js',
  });
  return Object.values(metafile.outputs)[0].exports;
}

const write = async (path, text) => {
  await mkdir(dirname(path), {recursive: true});
  await writeFile(path, text);
};

async function vendorLit() {
  await bundle(LIT.map((name) => `export * from '${name}';`).join('\n'), 'lit.js');
  const core = await exportsOf('./webui/vendor/lit.js');
  for (const [path, source] of LIT_PATHS) {
    const names = (await exportsOf(source)).filter((name) => core.includes(name));
    const up = '../'.repeat(path.split('/').length - 1);
    await write(join(VENDOR, path), `export {${names.join(', ')}} from '${up}lit.js';\n`);
  }
  // its `html` is another one than Lit's own
  await bundle("export * from 'lit-html/static.js';", 'lit/static-html.js', {plugins: [WITHOUT_CORE]});
  await write(join(VENDOR, 'lit-html/static.js'), "export * from '../lit/static-html.js';\n");
}

async function vendorOthers() {
  await bundle("export * from 'marked';", 'marked.js');
  await bundle("export {default} from 'dompurify';", 'dompurify.js');
  const languages = LANGUAGES.map((name) => `import ${name}_ from 'highlight.js/lib/languages/${name}';`).join('\n');
  const known = LANGUAGES.map((name) => `hljs.registerLanguage('${name}', ${name}_);`).join('\n');
  await bundle(`import hljs from 'highlight.js/lib/core';\n${languages}\n${known}\nexport default hljs;`, 'highlight.js');
  await mkdir(AXE, {recursive: true});
  await copyFile(join(PACKAGES, 'axe-core', 'axe.min.js'), join(AXE, 'axe.min.js'));
  await copyFile(join(PACKAGES, 'axe-core', 'LICENSE'), join(AXE, 'LICENSE-axe-core'));
}

/**
 * KaTeX in three parts: its script, its rules for the shadow roots that contain formulas, and its fonts, which browsers accept only
 * from a style sheet of the document.
 */
async function vendorKatex() {
  await bundle("export {default} from 'katex';", 'katex/katex.js');
  const dist = join(PACKAGES, 'katex', 'dist');
  const sheet = await readFile(join(dist, 'katex.min.css'), 'utf8');
  const faces = sheet.match(/@font-face\{[^}]*\}/g) ?? [];
  const rules = faces.reduce((left, face) => left.replace(face, ''), sheet);
  await write(join(VENDOR, 'katex/styles.js'), `export default ${JSON.stringify(rules)};\n`);
  const fonts = faces.map((face) => face.replace(/,url\([^)]*\) format\("(?:woff|truetype)"\)/g, ''));
  await write(join(VENDOR, 'katex/fonts.css'), `${fonts.join('\n')}\n`);
  await mkdir(join(VENDOR, 'katex/fonts'));
  for (const [, name] of fonts.join('').matchAll(/url\(fonts\/([\w-]+\.woff2)\)/g)) {
    await copyFile(join(dist, 'fonts', name), join(VENDOR, 'katex/fonts', name));
  }
}

async function vendorIcons() {
  const {icons} = await import('lucide');
  const pascal = (name) => name.split('-').map((part) => part[0].toUpperCase() + part.slice(1)).join('');
  const missing = ICONS.filter((name) => !icons[pascal(name)]);
  if (missing.length) throw new Error(`lucide has no icons ${missing.join(', ')}`);
  const lines = ICONS.map((name) => `  ${JSON.stringify(name)}: ${JSON.stringify(icons[pascal(name)])},`);
  await write(join(VENDOR, 'lucide.js'), [
    '/** Chosen icons of Lucide: elements of a 24 x 24 SVG, by name. See licences/lucide.txt. */',
    '/** @type {Record<string, [string, Record<string, string>][]>} */',
    'export const icons = {', ...lines, '};', '',
  ].join('\n'));
}

/** Each package with the files that come from it. */
const OWNERS = [
  ['lit', /^(lit|lit-html|lit-element|@lit)(\.js|\/)/],
  ['marked', /^marked\.js$/],
  ['dompurify', /^dompurify\.js$/],
  ['highlight.js', /^highlight\.js$/],
  ['lucide', /^lucide\.js$/],
  ['katex', /^katex\//],
];

async function writeManifest() {
  const files = (await readdir(VENDOR, {recursive: true, withFileTypes: true}))
    .filter((entry) => entry.isFile())
    .map((entry) => relative(VENDOR, join(entry.parentPath, entry.name))).sort();
  const libraries = [];
  for (const [name, pattern] of OWNERS) {
    const about = JSON.parse(await readFile(join(PACKAGES, name, 'package.json'), 'utf8'));
    const licence = `licences/${name}.txt`;
    await write(join(VENDOR, licence), await readFile(join(PACKAGES, name, 'LICENSE'), 'utf8'));
    const own = {};
    for (const file of files.filter((path) => pattern.test(path))) {
      own[file] = createHash('sha256').update(await readFile(join(VENDOR, file))).digest('hex');
    }
    libraries.push({name, version: about.version, licence: about.license, licenceFile: licence, sha256: own});
  }
  await write(join(VENDOR, 'manifest.json'), `${JSON.stringify({libraries}, null, 2)}\n`);
}

await rm(VENDOR, {recursive: true, force: true});
await vendorLit();
await vendorOthers();
await vendorKatex();
await vendorIcons();
await writeManifest();
