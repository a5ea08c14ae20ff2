export {AsyncReplaceDirective, asyncReplace} from '../../lit.js';
