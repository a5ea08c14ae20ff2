export {styleMap} from '../../lit.js';
