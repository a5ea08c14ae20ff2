export {cache} from '../../lit.js';
