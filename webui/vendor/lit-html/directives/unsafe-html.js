export {UnsafeHTMLDirective, unsafeHTML} from '../../lit.js';
