export {asyncAppend} from '../../lit.js';
