import {css} from 'lit';

/** The list of what is wrong with a skill or a folder: `<ul class="problems">` of `problemItem`. */
export const problemStyles = css`
  .problems { display: grid; gap: var(--ac-space-2); font-size: var(--ac-text-s); }
  .problems li { display: grid; grid-template-columns: auto minmax(0, 1fr); align-items: baseline; gap: var(--ac-space-2); overflow-wrap: anywhere; }
  .problems .error { color: var(--ac-danger); }
  .problems .warning { color: var(--ac-warn); }
  .problems code { color: var(--ac-text-muted); }
`;
