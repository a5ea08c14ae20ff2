export {unsafeSVG} from '../../lit.js';
