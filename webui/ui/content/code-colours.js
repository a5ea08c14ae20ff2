import {css} from 'lit';

/** Colours of highlighted code, for the classes of highlight.js. */
export const codeColours = css`
  .hljs-comment, .hljs-quote, .hljs-meta { color: var(--ac-code-comment); }
  .hljs-keyword, .hljs-selector-tag, .hljs-doctag, .hljs-name { color: var(--ac-code-keyword); }
  .hljs-string, .hljs-regexp, .hljs-addition, .hljs-selector-attr { color: var(--ac-code-string); }
  .hljs-number, .hljs-literal, .hljs-symbol, .hljs-bullet, .hljs-selector-pseudo { color: var(--ac-code-number); }
  .hljs-title, .hljs-section, .hljs-attr, .hljs-attribute, .hljs-selector-id, .hljs-selector-class { color: var(--ac-code-name); }
  .hljs-type, .hljs-built_in, .hljs-variable, .hljs-template-variable, .hljs-params .hljs-type { color: var(--ac-code-type); }
  .hljs-deletion { color: var(--ac-danger); }
  .hljs-emphasis { font-style: italic; }
  .hljs-strong { font-weight: var(--ac-weight-bold); }
`;
