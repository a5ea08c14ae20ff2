export {guard} from '../../lit.js';
