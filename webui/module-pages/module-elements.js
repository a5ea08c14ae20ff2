/**
 * The custom elements of modules, loaded from the module's own package.
 *
 * A browser runs each address of a script once and defines each tag once. So that a reloaded module is taken up without
 * a reload of the page, its scripts are asked for at an address with the time of its start in it (the server gives the
 * same files at `/modules/NAME/~ANYTHING/`), and a tag that is defined again becomes a tag of a new name.
 */

/** @typedef {import('../client/module-list.js').Module} Module */

const LOAD_LIMIT_MS = 20_000;

/** @type {Map<string, string>} the tag that a module says, to the one that its newest class has */
const newest = new Map();
let loading = 0;

const define = customElements.define.bind(customElements);

customElements.define = (tag, element, options) => {
  const isAgain = loading > 0 && customElements.get(tag) !== undefined && !tag.startsWith('ac-');
  if (!isAgain) return define(tag, element, options);
  const fresh = `${tag}--${newest.size + 1}-${Date.now().toString(36)}`;
  define(fresh, element, options);
  newest.set(tag, fresh);
};

/** The address of a file of a module, as it is since its last start. @param {Module} module @param {string} path */
export function componentAddress({name, readyAt}, path) {
  const base = `/modules/${name}/`;
  return `${base}~${readyAt}/${path.slice(base.length)}`;
}

/**
 * Load a module's component.
 * @param {Module} module  ready, with a component
 * @param {string} tag  the tag that is wanted, as the module says it
 * @returns {Promise<string>} the tag to make
 */
export async function loadElement(module, tag) {
  const script = /** @type {import('../client/module-list.js').Component} */ (module.component).script;
  loading += 1;
  try {
    await Promise.race([import(componentAddress(module, script)), tooLate(script)]);
  } finally {
    loading -= 1;
  }
  const made = newest.get(tag) ?? tag;
  if (!customElements.get(made)) throw new Error(`${script} does not define the element <${tag}>`);
  return made;
}

/** @param {string} script @returns {Promise<never>} */
function tooLate(script) {
  return new Promise((_, reject) => {
    setTimeout(() => reject(new Error(`${script} was not loaded within ${LOAD_LIMIT_MS / 1000} s`)), LOAD_LIMIT_MS);
  });
}

/**
 * Whether an error comes from a module's files.
 * @param {string} name
 * @param {ErrorEvent | PromiseRejectionEvent} event
 */
export function isErrorOf(name, event) {
  const error = 'reason' in event ? event.reason : event.error;
  const place = `${'filename' in event ? event.filename : ''}\n${error?.stack ?? ''}`;
  return place.includes(`/modules/${name}/`);
}
