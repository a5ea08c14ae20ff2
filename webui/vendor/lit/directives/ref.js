export {createRef, ref} from '../../lit.js';
