export {join} from '../../lit.js';
