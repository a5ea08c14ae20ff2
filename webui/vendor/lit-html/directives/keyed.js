export {keyed} from '../../lit.js';
