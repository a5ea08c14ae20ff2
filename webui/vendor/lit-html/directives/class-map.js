export {classMap} from '../../lit.js';
