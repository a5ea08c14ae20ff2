export {templateContent} from '../../lit.js';
