/** Names of modules that run on other machines: `laptop/shell_tools` is the module `shell_tools` of the host `laptop`. */
import {href} from './router.js';

/** Return the host on another machine that a module runs on; `''` if it is the server's own. @param {string} module */
export function hostIn(module) {
  const at = module.indexOf('/');
  return at < 0 ? '' : module.slice(0, at);
}

/** Return the link to a module: to its page, or to the hosts if it runs on another machine. @param {string} module */
export function moduleHref(module) {
  return hostIn(module) ? href(['hosts']) : href(['modules', module]);
}
