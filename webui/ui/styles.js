/**
 * Style snippets shared by components: `static styles = [base, buttons, css`…`]`. Style sheets of the document do not reach
 * into components; custom properties do.
 */
import {css} from 'lit';

/** Box model, focus ring, links, headings: the base of every component. */
export const base = css`
  :host { display: block; }
  :host([hidden]), [hidden] { display: none !important; }
  *, *::before, *::after { box-sizing: border-box; }
  :focus-visible { outline: 2px solid var(--ac-focus); outline-offset: 2px; }
  h1, h2, h3, h4, p, dl, dd, ul, ol, pre, figure { margin: 0; padding: 0; }
  h1, h2, h3, h4 { font-weight: var(--ac-weight-bold); line-height: var(--ac-line-tight); text-wrap: balance; }
  h1 { font-size: var(--ac-text-xxl); letter-spacing: -0.02em; overflow-wrap: anywhere; }
  h2 { font-size: var(--ac-text-xl); letter-spacing: -0.01em; }
  h3 { font-size: var(--ac-text-l); }
  h4 { font-size: var(--ac-text-m); }
  ul, ol { list-style: none; }
  a { color: var(--ac-accent); text-underline-offset: 0.2em; text-decoration-thickness: 1px; }
  a:hover { color: var(--ac-accent-strong); }
  code, pre, kbd, samp { font-family: var(--ac-font-mono); font-size: 0.92em; }
  .muted { color: var(--ac-text-muted); }
  .small { font-size: var(--ac-text-s); }
  .mono { font-family: var(--ac-font-mono); font-size: 0.92em; }
  /* what scrolls around it is positioned: else it makes what is around that scroll, too */
  .visually-hidden {
    position: absolute; width: 1px; height: 1px; margin: -1px; overflow: hidden;
    clip-path: inset(50%); white-space: nowrap;
  }
`;

/** `<button>` and `<a class="button">`: plain by default; `.primary`, `.danger`, `.quiet`, `.icon`, `.small`. */
export const buttons = css`
  button, .button {
    display: inline-flex; align-items: center; justify-content: center; gap: var(--ac-space-2);
    min-height: var(--ac-control); padding: 0 var(--ac-space-3); margin: 0;
    border: 1px solid var(--ac-border); border-radius: var(--ac-radius-m);
    background: var(--ac-surface-raised); color: var(--ac-text);
    font: inherit; font-weight: var(--ac-weight-medium); line-height: 1; white-space: nowrap; text-decoration: none;
    cursor: pointer; box-shadow: var(--ac-shadow-s);
    transition: background var(--ac-motion), border-color var(--ac-motion), color var(--ac-motion);
  }
  button:hover:not(:disabled), .button:hover { background: var(--ac-hover); color: var(--ac-text); }
  button:disabled { cursor: not-allowed; color: var(--ac-text-muted); background: var(--ac-surface-sunken); box-shadow: none; }
  button.primary, .button.primary { background: var(--ac-accent); border-color: var(--ac-accent); color: var(--ac-on-accent); }
  button.primary:hover:not(:disabled), .button.primary:hover {
    background: var(--ac-accent-strong); border-color: var(--ac-accent-strong); color: var(--ac-on-accent);
  }
  button.primary:disabled { background: var(--ac-surface-sunken); border-color: var(--ac-border); color: var(--ac-text-muted); }
  button.danger { color: var(--ac-danger); }
  button.danger.primary { background: var(--ac-danger); border-color: var(--ac-danger); color: var(--ac-on-danger); }
  button.danger.primary:hover:not(:disabled) {
    background: var(--ac-danger-strong); border-color: var(--ac-danger-strong); color: var(--ac-on-danger);
  }
  button.quiet, .button.quiet { background: none; border-color: transparent; box-shadow: none; }
  button.quiet:hover:not(:disabled), .button.quiet:hover { background: var(--ac-hover); }
  button.icon, .button.icon { width: var(--ac-control); padding: 0; flex: none; }
  button.small, .button.small { min-height: 1.75rem; padding: 0 var(--ac-space-2); font-size: var(--ac-text-s); }
  button.small.icon { width: 1.75rem; padding: 0; }
`;

/** Native inputs, their labels, hints and errors. */
export const fields = css`
  label, .label { font-weight: var(--ac-weight-medium); }
  input, select, textarea {
    min-height: var(--ac-control); padding: 0 var(--ac-space-3); margin: 0; max-width: 100%;
    border: 1px solid var(--ac-border-strong); border-radius: var(--ac-radius-m);
    background: var(--ac-surface); color: var(--ac-text); font: inherit;
    transition: border-color var(--ac-motion);
  }
  textarea { padding-block: var(--ac-space-2); line-height: var(--ac-line); resize: vertical; }
  input[type="checkbox"], input[type="radio"] {
    min-height: 0; width: 1rem; height: 1rem; padding: 0; accent-color: var(--ac-accent);
  }
  input::placeholder, textarea::placeholder { color: var(--ac-text-muted); opacity: 1; }
  input:hover:not(:disabled), select:hover:not(:disabled), textarea:hover:not(:disabled) { border-color: var(--ac-text-muted); }
  input:focus-visible, select:focus-visible, textarea:focus-visible { outline-offset: 0; border-color: var(--ac-focus); }
  input:disabled, select:disabled, textarea:disabled { background: var(--ac-surface-sunken); color: var(--ac-text-muted); }
  [aria-invalid="true"] { border-color: var(--ac-danger); }
  .hint { color: var(--ac-text-muted); font-size: var(--ac-text-s); }
  .field-error { color: var(--ac-danger); font-size: var(--ac-text-s); }
`;

/** A surface with a hairline around it. */
export const cards = css`
  .card { background: var(--ac-surface); border: 1px solid var(--ac-border); border-radius: var(--ac-radius-l); }
`;

/** Short labels of a state: `<span class="badge ok">ready</span>`. */
export const badges = css`
  .badge {
    display: inline-flex; align-items: center; gap: var(--ac-space-1); flex: none;
    padding: 0.0625rem var(--ac-space-2); border-radius: 999px;
    background: var(--ac-surface-sunken); color: var(--ac-text-muted);
    font-size: var(--ac-text-xs); font-weight: var(--ac-weight-medium); line-height: 1.5; white-space: nowrap;
  }
  .badge.ok { background: var(--ac-ok-soft); color: var(--ac-ok); }
  .badge.warn { background: var(--ac-warn-soft); color: var(--ac-warn); }
  .badge.danger { background: var(--ac-danger-soft); color: var(--ac-danger); }
  .badge.accent { background: var(--ac-accent-soft); color: var(--ac-accent); }
`;

/** Tables that scroll horizontally inside a `.table-frame`. */
export const tables = css`
  .table-frame { position: relative; overflow-x: auto; border: 1px solid var(--ac-border); border-radius: var(--ac-radius-m); }
  table { width: 100%; border-collapse: collapse; font-variant-numeric: tabular-nums; }
  th, td {
    padding: var(--ac-space-2) var(--ac-space-3); text-align: start; vertical-align: top;
    border-bottom: 1px solid var(--ac-border);
    overflow-wrap: break-word; /* a table that is too wide scrolls, and breaks no word */
  }
  th { font-size: var(--ac-text-s); font-weight: var(--ac-weight-medium); color: var(--ac-text-muted); white-space: nowrap; }
  tr:last-child > td { border-bottom: 0; }
`;

/** Code blocks, with their own scroll bars instead of the page's. */
export const code = css`
  pre.code {
    overflow: auto; padding: var(--ac-space-3); tab-size: 4;
    background: var(--ac-surface-sunken); color: var(--ac-code-text);
    border: 1px solid var(--ac-border); border-radius: var(--ac-radius-m);
    font-family: var(--ac-font-mono); font-size: var(--ac-text-s); line-height: var(--ac-line); white-space: pre;
  }
  pre.code.wrap { white-space: pre-wrap; overflow-wrap: anywhere; }
`;

/** The frame of a view: a column of readable width with a heading and actions at its end. */
export const views = css`
  :host { padding: var(--ac-space-6) var(--ac-space-6) var(--ac-space-8); max-width: 72rem; margin-inline: auto; width: 100%; }
  .view-head {
    display: flex; flex-wrap: wrap; align-items: flex-start; gap: var(--ac-space-3) var(--ac-space-4);
    margin-bottom: var(--ac-space-5);
  }
  .view-head .titles { flex: 1 1 16rem; min-width: 0; display: grid; gap: var(--ac-space-1); }
  .view-head .actions { display: flex; flex-wrap: wrap; gap: var(--ac-space-2); }
  @media (max-width: 48rem) {
    :host { padding: var(--ac-space-4) var(--ac-space-4) var(--ac-space-7); }
    h1 { font-size: var(--ac-text-xl); }
  }
`;
