/** Pasted module blocks: what the server read from the text, and the request to write them. */

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
 * @property {string[]} exposed  arguments that other users of the machine can see, as JSON Pointers
 */

/**
 * @typedef {object} Pasted
 * @property {string | null} family
 * @property {PastedBlock[]} blocks
 * @property {string[]} ignored
 */

/** Secret names chosen by the user, keyed by `placeOf`; an empty name leaves the value in the block. @typedef {Record<string, string>} Kept */

/** @param {PastedBlock} block @param {PastedSecret} secret */
export const placeOf = ({key}, {path, name}) => `${key} ${path} ${name}`;

const REFERENCE = /\$\{secret:([^}]*)\}/g;

/** Return the name of a secret, or '' if the value stays in the block. @param {Kept} kept @param {PastedBlock} block @param {PastedSecret} secret */
export function nameFor(kept, block, secret) {
  return kept[placeOf(block, secret)] ?? secret.name;
}

/** Return the block as it would be written to app.json. @param {PastedBlock} block @param {Kept} kept @returns {Record<string, any>} */
export function writtenBlock(block, kept) {
  const written = structuredClone(block.block);
  for (const path of new Set(block.secrets.map((secret) => secret.path))) {
    const secrets = block.secrets.filter((secret) => secret.path === path);
    if (!secrets.some((secret) => nameFor(kept, block, secret))) continue;
    // if one text has several secrets, `instead` of the last one has references for all of them
    const {instead} = /** @type {PastedSecret} */ (secrets.at(-1));
    put(written, path, instead.replace(REFERENCE, (reference, name) => {
      const secret = secrets.find((each) => each.name === name);
      if (!secret) return reference;
      const chosen = nameFor(kept, block, secret);
      return chosen ? `\${secret:${chosen}}` : secret.value;
    }));
  }
  return written;
}

/** Return the body of the request. @param {Pasted} pasted @param {Kept} kept */
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
