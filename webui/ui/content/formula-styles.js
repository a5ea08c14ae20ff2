import {css} from 'lit';

/** Formulas in a text, typeset or as source. */
export const formulaStyles = css`
  .tex { font-family: var(--ac-font-mono); font-size: 0.9em; color: var(--ac-text-muted); white-space: pre-wrap; direction: ltr; unicode-bidi: isolate; }
  ac-formula { direction: ltr; unicode-bidi: isolate; }
  ac-formula[failed] .tex { text-decoration: underline wavy var(--ac-danger) 1px; text-underline-offset: 0.25em; cursor: help; }
  ac-formula .shown { -webkit-user-select: none; user-select: none; }
  ac-formula .source { font-size: 0; }
  ac-formula .katex { font-size: 1.125em; overflow-wrap: normal; }
  ac-formula[display] { display: block; position: relative; text-align: center; }
  /* the source behind it must not take up a line */
  ac-formula[display][typeset] { line-height: 0; }
  ac-formula[display][typeset] > .shown { display: block; line-height: normal; overflow: auto clip; padding-block: var(--ac-space-1); scrollbar-width: thin; }
  ac-formula[display] .katex-display { margin: 0; }
  ac-formula > ac-copy { position: absolute; top: 0; inset-inline-end: 0; background: var(--ac-surface); border-radius: var(--ac-radius-m); }
  @media (hover: hover) { ac-formula:not(:hover, :focus-within) > ac-copy { opacity: 0; } }
  @media (hover: none) { ac-formula[display][typeset] > .shown { padding-inline-end: 2rem; } }
`;
