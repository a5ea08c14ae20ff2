export {when} from '../../lit.js';
