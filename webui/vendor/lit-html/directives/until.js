export {UntilDirective, until} from '../../lit.js';
