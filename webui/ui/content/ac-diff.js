import {LitElement, css, html, nothing} from 'lit';
import {Localized, t} from '../../base/i18n.js';
import {parseDiff} from './unified-diff.js';
import {base, buttons} from '../styles.js';
import {FOLDED_LINES, MORE_LINES, foldStyles, isFoldedAt, showMore} from './folding.js';

const SIGNS = {added: '+', removed: '-', context: ' ', note: ' '};

/**
 * A unified diff, file by file, with line numbers. `whole`: it does not scroll in a frame of its own, and long lines wrap.
 * `folds`: only the beginning of a long diff is shown at first. `unnumbered`: the line numbers in the file are unknown.
 */
export class AcDiff extends Localized(LitElement) {
  static properties = {
    text: {attribute: false},
    isWhole: {type: Boolean, attribute: 'whole'},
    folds: {type: Boolean},
    isUnnumbered: {type: Boolean, attribute: 'unnumbered'},
    _shown: {state: true},
  };

  static styles = [base, buttons, foldStyles, css`
    :host { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--ac-space-3); min-width: 0; }
    section { border: 1px solid var(--ac-border); border-radius: var(--ac-radius-m); overflow: hidden; background: var(--ac-surface); }
    header { display: flex; gap: var(--ac-space-3); align-items: baseline; padding: var(--ac-space-2) var(--ac-space-3); border-bottom: 1px solid var(--ac-border); background: var(--ac-surface-sunken); font-size: var(--ac-text-s); }
    header .name { flex: 1; min-width: 0; overflow-wrap: anywhere; font-family: var(--ac-font-mono); }
    .plus { color: var(--ac-ok); }
    .minus { color: var(--ac-danger); }
    .frame { overflow-x: auto; max-height: min(70vh, 48rem); }
    table { border-collapse: collapse; min-width: 100%; font-family: var(--ac-font-mono); font-size: var(--ac-text-s); line-height: 1.5; }
    td { padding: 0 var(--ac-space-2); vertical-align: top; }
    .n { width: 1%; min-width: 2.5rem; text-align: end; color: var(--ac-text-muted); -webkit-user-select: none; user-select: none; font-variant-numeric: tabular-nums; }
    .unnumbered .n { display: none; }
    .sign { width: 1%; -webkit-user-select: none; user-select: none; padding-inline-end: 0; }
    .text { white-space: pre; tab-size: 4; }
    .added td { background: var(--ac-code-added); }
    .removed td { background: var(--ac-code-removed); }
    .added .sign { color: var(--ac-ok); }
    .removed .sign { color: var(--ac-danger); }
    .added .n, .removed .n { color: var(--ac-text); }
    .note .text, .hunk td { color: var(--ac-text-muted); }
    .hunk td { background: var(--ac-surface-sunken); padding-block: var(--ac-space-1); }
    .frame.whole { max-height: none; overflow: visible; }
    .whole .text { white-space: pre-wrap; overflow-wrap: anywhere; }
    /* one number a line is enough where there is little room: where it stands now, or stood */
    @media (max-width: 36rem) { .whole :is(tr:not(.removed) .before, .removed .after) { display: none; } .whole td { padding-inline: var(--ac-space-1); } }
  `];

  constructor() {
    super();
    this.text = '';
    this.isWhole = false;
    this.folds = false;
    this.isUnnumbered = false;
    /** Number of lines shown of each file. */
    this._shown = FOLDED_LINES;
  }

  /** @param {Map<string, unknown>} changed */
  willUpdate(changed) {
    if (changed.has('text')) this._shown = FOLDED_LINES;
  }

  render() {
    return parseDiff(this.text).map((file) => this._renderFile(file));
  }

  /** @param {import('./unified-diff.js').FileDiff} file */
  _renderFile({before, after, hunks}) {
    const lines = hunks.flatMap((hunk) => hunk.lines);
    const number = (/** @type {string} */ kind) => lines.filter((line) => line.kind === kind).length;
    const limit = this.folds && isFoldedAt(this._shown, lines.length) ? this._shown : Infinity;
    const name = before && after && before !== after ? `${before} → ${after}` : after || before;
    return html`
      <section>
        <header>
          <span class="name">${name || t('ui.diff')}</span>
          <span class="plus"><span aria-hidden="true">+${number('added')}</span><span class="visually-hidden">${t('ui.linesAdded', {n: number('added')})}</span></span>
          <span class="minus"><span aria-hidden="true">−${number('removed')}</span><span class="visually-hidden">${t('ui.linesRemoved', {n: number('removed')})}</span></span>
        </header>
        <div class=${this.isWhole ? 'frame whole' : 'frame'} tabindex=${this.isWhole ? nothing : 0} role=${this.isWhole ? 'group' : 'region'} aria-label=${t('ui.diffOf', {name})}>
          <table class=${this.isUnnumbered ? 'unnumbered' : ''}>${cutTo(hunks, limit).map((hunk, index) => html`
            ${index > 0 || hunk.title ? html`<tbody><tr class="hunk"><td class="n before">⋯</td><td class="n after">⋯</td><td class="sign"></td><td>${hunk.title}</td></tr></tbody>` : nothing}
            <tbody>${hunk.lines.map(renderLine)}</tbody>`)}
          </table>
        </div>
        ${limit === Infinity ? nothing : showMore(limit, lines.length, () => { this._shown += MORE_LINES; })}
      </section>`;
  }
}
customElements.define('ac-diff', AcDiff);

/** Return the hunks cut to a total number of lines. @param {import('./unified-diff.js').Hunk[]} hunks @param {number} limit */
function cutTo(hunks, limit) {
  let left = limit;
  return hunks.flatMap((hunk) => {
    const lines = hunk.lines.slice(0, Math.max(left, 0));
    left -= hunk.lines.length;
    return lines.length ? [{...hunk, lines}] : [];
  });
}

/** @param {import('./unified-diff.js').DiffLine} line */
function renderLine({kind, before, after, text}) {
  return html`<tr class=${kind}><td class="n before">${before ?? ''}</td><td class="n after">${after ?? ''}</td><td class="sign">${SIGNS[kind]}</td><td class="text">${text || ' '}</td></tr>`;
}
