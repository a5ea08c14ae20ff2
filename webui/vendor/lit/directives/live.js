export {live} from '../../lit.js';
