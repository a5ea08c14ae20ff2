export {_$LH, html, mathml, noChange, nothing, render, svg} from '../lit.js';
