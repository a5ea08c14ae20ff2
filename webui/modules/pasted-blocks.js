/** A pasted text on its way to the server: what is read of it, and what is asked for. */

/**
 * @typedef {object} PastedSecret
 * @property {string} path  a JSON Pointer in the block
 * @property {string} name
 * @property {string} value
 * @property {string} instead
 */

/**
 * @typedef {object} PastedBlock
 * @property {string} key
 * @property {string} module
 * @property {boolean} exists
 * @property {Record<string, any>} block
 * @property {PastedSecret[]} secrets
 */

/**
 * @typedef {object} Pasted
 * @property {string | null} family
 * @property {PastedBlock[]} blocks
 * @property {string[]} ignored
 */

/** Names of secrets that a person chose, by block and path; an empty one: the value stays where it is. @typedef {Record<string, string>} Kept */

/** @param {PastedBlock} block @param {PastedSecret} secret */
export const placeOf = ({key}, {path}) => `${key} ${path}`;

/** What the secret would be called; empty: it stays in the block. @param {Kept} kept @param {PastedBlock} block @param {PastedSecret} secret */
export function nameFor(kept, block, secret) {
  return kept[placeOf(block, secret)] ?? secret.name;
}

/** The block as it would stand in app.json. @param {PastedBlock} block @param {Kept} kept @returns {Record<string, any>} */
export function writtenBlock(block, kept) {
  const written = structuredClone(block.block);
  for (const secret of block.secrets) {
    const name = nameFor(kept, block, secret);
    if (name) put(written, secret.path, secret.instead.replace(`\${secret:${secret.name}}`, `\${secret:${name}}`));
  }
  return written;
}

/** What the server is asked for. @param {Pasted} pasted @param {Kept} kept */
export function bodyOf({blocks}, kept) {
  /** @type {Record<string, string>} */
  const secrets = {};
  for (const block of blocks) {
    for (const secret of block.secrets) {
      const name = nameFor(kept, block, secret);
      if (name) secrets[name] = secret.value;
    }
  }
  return {blocks: Object.fromEntries(blocks.map((block) => [block.key, writtenBlock(block, kept)])), secrets};
}

/** @param {any} value @param {string} pointer @param {string} text */
function put(value, pointer, text) {
  const steps = pointer.split('/').slice(1).map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  const last = /** @type {string} */ (steps.pop());
  steps.reduce((at, step) => at[step], value)[last] = text;
}
