/**
 * Custom elements of modules, loaded from the module's own package.
 *
 * A browser runs each script URL once and defines each tag once. To use a reloaded module without reloading the page, its
 * scripts are requested from a URL that contains the time of its start (the server serves the same files at
 * `/modules/NAME/~ANYTHING/`), and a tag that is defined again is defined under a new name.
 */

/** @typedef {import('../client/module-list.js').Module} Module */

const LOAD_LIMIT_MS = 20_000;

/** @type {Map<string, string>} the tag that a module defines, mapped to the tag of its newest class */
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

/** Return the URL of a module's file, as of the module's last start. @param {Module} module @param {string} path */
export function componentAddress({name, readyAt}, path) {
  const base = `/modules/${name}/`;
  return `${base}~${readyAt}/${path.slice(base.length)}`;
}

/**
 * Load a module's component.
 * @param {Module} module  ready, with a component
 * @param {string} tag  the requested tag, as the module defines it
 * @returns {Promise<string>} the tag to create
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
 * Return true if an error comes from a module's files.
 * @param {string} name
 * @param {ErrorEvent | PromiseRejectionEvent} event
 */
export function isErrorOf(name, event) {
  const error = 'reason' in event ? event.reason : event.error;
  const place = `${'filename' in event ? event.filename : ''}\n${error?.stack ?? ''}`;
  return place.includes(`/modules/${name}/`);
}
