export * from '../lit/static-html.js';
