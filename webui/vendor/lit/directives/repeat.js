export {repeat} from '../../lit.js';
