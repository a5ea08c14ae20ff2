export {range} from '../../lit.js';
