export {ifDefined} from '../../lit.js';
