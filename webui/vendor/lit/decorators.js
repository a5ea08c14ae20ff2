export {customElement, eventOptions, property, query, queryAll, queryAssignedElements, queryAssignedNodes, queryAsync, standardProperty, state} from '../lit.js';
