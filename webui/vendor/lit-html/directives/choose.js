export {choose} from '../../lit.js';
