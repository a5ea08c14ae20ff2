/** Names of modules that run on other machines: `laptop/shell_tools` is the module `shell_tools` of the host `laptop`. */
import {href} from './router.js';

/** The host on another machine whose module this is; `''`: it is the server's own. @param {string} module */
export function hostIn(module) {
  const at = module.indexOf('/');
  return at < 0 ? '' : module.slice(0, at);
}

/** Where a person finds a module: on its page, or with the host that has it. @param {string} module */
export function moduleHref(module) {
  return hostIn(module) ? href(['hosts']) : href(['modules', module]);
}
