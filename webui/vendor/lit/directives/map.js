export {map} from '../../lit.js';
