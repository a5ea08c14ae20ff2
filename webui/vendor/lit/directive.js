export {Directive, PartType, directive} from '../lit.js';
