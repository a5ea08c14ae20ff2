export {CSSResult, ReactiveElement, adoptStyles, css, defaultConverter, getCompatibleStyle, notEqual, supportsAdoptingStyleSheets, unsafeCSS} from '../../lit.js';
