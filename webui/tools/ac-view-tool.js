import {LitElement, css, html, nothing} from 'lit';
import '../ui/ac-icon.js';
import './ac-run-list.js';
import './ac-run.js';
import './ac-tool-about.js';
import './ac-tool-form.js';
import {draftOf, dropDraft, keepDraft} from './drafts.js';
import {runs} from './runs.js';
import {Localized, formatDuration, t} from '../base/i18n.js';
import {Listening} from '../base/subscriptions.js';
import {emptyValue} from '../schema/initial-values.js';
import {withoutSecrets} from '../schema/secrets.js';
import {base, buttons} from '../ui/styles.js';
import {stateOf} from './ac-run-state.js';

/** @typedef {import('../client/tool-list.js').Tool} Tool */
/** @typedef {import('./drafts.js').Draft} Draft */

const RESULT_PX = 160; // enough of the result to show how the run ended

/** Page of one tool: its description, form and runs. */
export class AcViewTool extends Localized(LitElement) {
  static properties = {
    tool: {attribute: false},
    _draft: {state: true},
    _errors: {state: true},
    _selected: {state: true},
    _announcement: {state: true},
  };

  static styles = [base, buttons, css`
    :host { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--ac-space-5); container-type: inline-size; }
    .parts { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--ac-space-5); min-width: 0; }
    .parts > * { min-width: 0; }
    .result { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--ac-space-5); align-content: start; }
    .none { padding: var(--ac-space-5); border: 1px dashed var(--ac-border); border-radius: var(--ac-radius-l); color: var(--ac-text-muted); text-align: center; }
    .result.used { min-height: 80vh; }
    @container (min-width: 62rem) { .result.used { min-height: 0; } .parts { grid-template-columns: minmax(22rem, 2fr) minmax(0, 3fr); align-items: start; } }
  `];

  constructor() {
    super();
    /** @type {Tool | null} */
    this.tool = null;
    /** @type {Draft} */
    this._draft = {args: {}};
    /** @type {{path?: string, message: string}[]} */
    this._errors = [];
    /** @type {number | null} The ID of the selected run; null selects the newest. */
    this._selected = null;
    this._announcement = '';
    /** @type {number | null} The ID of the last started run, until its end is announced. */
    this._watched = null;
    new Listening(this, () => [runs.subscribe(() => this._onRuns())]);
  }

  /** @param {Map<string, unknown>} changed */
  willUpdate(changed) {
    if (!changed.has('tool') || !this.tool) return;
    const before = /** @type {Tool | null | undefined} */ (changed.get('tool'));
    if (before?.name === this.tool.name) return; // the tool was reloaded: keep the user's input
    this._draft = draftOf(this.tool.name) ?? this._empty();
    this._errors = [];
    this._selected = null;
    this._watched = null;
  }

  render() {
    const {tool} = this;
    if (!tool) return nothing;
    const own = runs.of(tool.name);
    const shown = own.find(({id}) => id === this._selected) ?? own[0];
    return html`
      <ac-tool-about .tool=${tool}></ac-tool-about>
      <div class="parts">
        <ac-tool-form .tool=${tool} .draft=${this._draft} .errors=${this._errors} ?running=${own.some(({id, state}) => id === this._watched && state === 'running')}
          @ac-draft=${this._onDraft} @ac-run=${this._onRun} @ac-reset=${this._onReset}></ac-tool-form>
        <section class=${shown ? 'result used' : 'result'} aria-label=${t('tools.result')}>
          ${shown ? html`<ac-run .run=${shown} @ac-cancel=${() => runs.cancel(shown.id)} @ac-again=${() => this._again(shown)}></ac-run>`
            : html`<p class="none">${t('tools.noResult')}</p>`}
          ${own.length > 1 ? html`<ac-run-list .runs=${own} selected=${shown.id} @ac-select=${this._onSelect} @ac-use=${this._onUse}
            @ac-clear=${() => runs.clear(tool.name)}></ac-run-list>` : nothing}
        </section>
        <span class="visually-hidden" role="status">${this._announcement}</span>
      </div>`;
  }

  /** @returns {Draft} */
  _empty() {
    const schema = this.tool?.input_schema ?? {};
    return {args: emptyValue(schema, schema) ?? {}};
  }

  get _form() {
    return /** @type {import('./ac-tool-form.js').AcToolForm | null} */ (this.renderRoot.querySelector('ac-tool-form'));
  }

  /** @param {CustomEvent<{draft: Draft}>} event */
  _onDraft({detail: {draft}}) {
    this._draft = draft;
    const tool = /** @type {Tool} */ (this.tool);
    keepDraft(tool.name, {...draft, args: withoutSecrets(draft.args, tool.input_schema) ?? {}});
  }

  /** @param {CustomEvent<{draft: Draft}>} event */
  _onRun({detail: {draft}}) {
    this._start({...draft, sessionId: draft.sessionId ?? '', timeoutMs: draft.timeoutMs ?? null});
  }

  _onReset() {
    dropDraft(/** @type {Tool} */ (this.tool).name);
    this._draft = this._empty();
    this._errors = [];
    this._form?.focus();
  }

  /** @param {Pick<import('./runs.js').Run, 'args' | 'sessionId' | 'timeoutMs' | 'host'>} wanted */
  _start({args, sessionId, timeoutMs, host}) {
    const {name: tool, input_schema: schema} = /** @type {Tool} */ (this.tool);
    const shownArgs = withoutSecrets(args, schema) ?? {};
    this._errors = [];
    this._selected = null;
    this._announcement = t('tools.running');
    this._watched = runs.start({tool, args, shownArgs, sessionId, timeoutMs, host}).id;
    void this._showResult();
  }

  /** Scroll the result area into view if the form fills the window. The area is large enough not to move again when the result arrives. */
  async _showResult() {
    await this.updateComplete;
    const result = /** @type {HTMLElement} */ (this.renderRoot.querySelector('.result'));
    if (result.getBoundingClientRect().top > innerHeight - RESULT_PX) result.scrollIntoView({block: 'start'});
  }

  /** @param {import('./runs.js').Run} run */
  _again(run) {
    this._start(run);
  }

  /** @param {CustomEvent<{id: number}>} event */
  _onSelect({detail: {id}}) {
    this._selected = id;
  }

  /** @param {CustomEvent<{id: number}>} event */
  _onUse({detail: {id}}) {
    const run = runs.of(/** @type {Tool} */ (this.tool).name).find((one) => one.id === id);
    if (!run) return;
    this._draft = {args: run.args, sessionId: run.sessionId || undefined, timeoutMs: run.timeoutMs ?? undefined, host: run.host || undefined};
    this._errors = [];
    this._form?.focus();
  }

  /** Announce how the watched run ended, and show its argument errors at their fields. */
  async _onRuns() {
    this.requestUpdate();
    const run = runs.of(this.tool?.name ?? '').find(({id}) => id === this._watched);
    if (!run || run.state !== 'done') return;
    this._watched = null;
    this._announcement = t('tools.ended', {state: t(`tools.state.${stateOf(run)}`), time: formatDuration(run.durationMs ?? 0)});
    const error = run.envelope?.error;
    if (error?.type !== 'invalid_arguments' || !Array.isArray(error.context?.errors) || run.args !== this._draft.args) return;
    this._errors = error.context.errors;
    await this.updateComplete;
    this._form?.showErrors();
  }
}
customElements.define('ac-view-tool', AcViewTool);
