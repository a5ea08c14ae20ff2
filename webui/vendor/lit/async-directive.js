export {AsyncDirective, Directive, PartType, directive} from '../lit.js';
