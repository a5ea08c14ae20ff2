import {LitElement, css, html, nothing} from 'lit';
import {Localized, formatList, t} from '../../base/i18n.js';
import {client} from '../../client/client.js';
import '../../tools/ac-tool-effects.js';
import {badges, base} from '../../ui/styles.js';
import '../../ui/ac-icon.js';
import './ac-approval-actions.js';
import './ac-approval-countdown.js';
import {END, Reading} from '../guard/read-tracking.js';
import {visible, visibleLine} from '../guard/visible-text.js';
import {cardStyles} from './card-styles.js';

/** @typedef {import('../../client/tool-list.js').Effect} Effect */
/** @typedef {{name: string, description: string, effects: Effect[], definition: string}} OfferedTool */
/** @typedef {{name: string, title: string, description: string, instructions: string, tools: OfferedTool[], problems: string[]}} OfferedModule  `problems`: why definitions of tools are left out */
/**
 * @typedef {object} WaitingHost  all details but the address are reported by the host itself
 * @property {string} pairingId
 * @property {string} name
 * @property {string} address
 * @property {string} platform
 * @property {string} version
 * @property {string[]} workspace
 * @property {boolean} replaces  a host with this name is already paired, and is forgotten if this one is accepted
 * @property {number} expiresAt
 * @property {OfferedModule[]} modules
 */

/** Maximum number of tools that are shown expanded; if there are more, the user expands each module. */
const OPEN_TOOLS = 12;
/** @type {Effect[]} */
const EFFECTS = ['session', 'read', 'write', 'egress', 'execute', 'dangerous'];

/**
 * A host on another machine that has dialled in: everything it reports and offers, and the buttons to decide on it.
 * @fires ac-settled {error: import('../../client/client.js').ApiError | null, accepted: boolean}
 */
export class AcApprovalHost extends Localized(LitElement) {
  static properties = {
    waits: {attribute: false},
    _isBusy: {state: true},
    _chats: {state: true},
  };

  static styles = [badges, base, cardStyles, css`
    .modules { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--ac-space-2); }
    details { border: 1px solid var(--ac-border); border-radius: var(--ac-radius-m); }
    summary { display: flex; flex-wrap: wrap; align-items: center; gap: var(--ac-space-1) var(--ac-space-2); padding: var(--ac-space-2) var(--ac-space-3); cursor: pointer; border-radius: var(--ac-radius-m); overflow-wrap: anywhere; }
    summary::before { content: '▸' / ''; color: var(--ac-text-muted); }
    details[open] > summary::before { content: '▾' / ''; }
    summary strong { font-weight: var(--ac-weight-medium); }
    .inside { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--ac-space-3); padding: 0 var(--ac-space-3) var(--ac-space-3); font-size: var(--ac-text-s); }
    .inside > p, .tools p { color: var(--ac-text-muted); white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: isolate; }
    .tools { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--ac-space-3); }
    .tools li { display: grid; gap: var(--ac-space-1); padding-inline-start: var(--ac-space-3); border-inline-start: 2px solid var(--ac-border); }
    .tools .which { display: flex; flex-wrap: wrap; align-items: center; gap: var(--ac-space-1) var(--ac-space-2); }
    code { overflow-wrap: anywhere; unicode-bidi: isolate; direction: ltr; }
    .tools pre, .inside pre { margin: 0; color: var(--ac-text-muted); font-family: var(--ac-font-mono); font-size: var(--ac-text-s); white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: isolate; direction: ltr; }
    .chats { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: var(--ac-space-2); align-items: start; cursor: pointer; }
    .chats input { margin-top: 0.2em; }
    .chats .hint { grid-column: 2; color: var(--ac-text-muted); font-size: var(--ac-text-s); }
    .facts { grid-template-columns: minmax(0, 1fr); }
    .facts code { display: block; }
  `];

  constructor() {
    super();
    /** @type {WaitingHost | null} */
    this.waits = null;
    this._isBusy = false;
    /** True if the user allows it to use chats. */
    this._chats = false;
    this._reading = new Reading(this);
  }

  render() {
    const {waits} = this;
    if (!waits) return nothing;
    const {name, expiresAt, replaces, modules} = waits;
    const shown = visibleLine(name);
    return html`
      <article class="grave" aria-labelledby="heading" tabindex="-1">
        <div class="head"><h3 id="heading">${t('approval.host', {name: shown.text})}</h3><ac-approval-countdown .until=${expiresAt}></ac-approval-countdown></div>
        <div class="seen">${END}
        <div class="note warn"><ac-icon name="shield-alert"></ac-icon><span>${t('approval.hostText')}</span></div>
        ${replaces ? html`<div class="note danger"><ac-icon name="triangle-alert"></ac-icon><span>${t('approval.hostReplaces', {name: shown.text})}</span></div>` : nothing}
        ${this._facts(waits)}
        ${modules.length ? this._modules(modules) : html`<p class="about">${t('approval.hostOffersNothing')}</p>`}
        <label class="chats"><input type="checkbox" .checked=${this._chats} aria-describedby="chats" @change=${this._choose}><span>${t('approval.hostChats')}</span><span id="chats" class="hint">${t('approval.hostChatsHint')}</span></label>
        ${END}</div>
        <ac-approval-actions .yes=${t('approval.hostYes')} .no=${t('approval.refuse')} .subject=${shown.text} .isBusy=${this._isBusy} .isRead=${this._reading.isDone} @ac-decide=${this._decide}></ac-approval-actions>
      </article>`;
  }

  updated() {
    this._reading.watch(this.waits?.pairingId, this.renderRoot.querySelectorAll('.end'));
  }

  /** @param {WaitingHost} waits */
  _facts({address, platform, version, workspace}) {
    const row = (/** @type {string} */ name, /** @type {unknown} */ value) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`;
    return html`
      <dl class="facts">
        ${row(t('approval.hostAddress'), html`<code>${visibleLine(address).parts}</code>`)}
        ${row(t('approval.hostPlatform'), html`<code>${visibleLine(`${platform} · agentcore ${version}`).parts}</code>`)}
        ${row(t('approval.hostFolders'), workspace.length ? workspace.map((folder) => html`<code>${visibleLine(folder).parts}</code>`) : t('approval.hostNoFolders'))}
      </dl>`;
  }

  /** @param {OfferedModule[]} modules */
  _modules(modules) {
    const count = modules.reduce((sum, {tools}) => sum + tools.length, 0);
    return html`
      <div class="modules" role="group" aria-label=${t('approval.hostBrings')}>
        <p class="about">${t('approval.hostBrings')}</p>
        ${[...modules].sort((one, other) => one.name.localeCompare(other.name)).map((module) => this._module(module, count <= OPEN_TOOLS))}
      </div>`;
  }

  /** @param {OfferedModule} module @param {boolean} isOpen */
  _module({name, title, description, instructions, tools, problems}, isOpen) {
    return html`
      <details ?open=${isOpen}>
        <summary><strong><bdi>${visibleLine(title).parts}</bdi></strong> <code class="muted">${visibleLine(name).parts}</code>
          <span class="muted small">${t('hosts.tools', {n: tools.length})}</span>${effects(tools.flatMap((tool) => tool.effects))}</summary>
        <div class="inside">
          ${description ? html`<p>${visible(description)}</p>` : nothing}
          ${instructions ? html`<div><strong>${t('approval.hostInstructs')}</strong><pre>${visible(instructions)}</pre></div>` : nothing}
          <ul class="tools">${tools.map((tool) => html`
            <li><div class="which"><code>${visibleLine(tool.name).parts}</code>${effects(tool.effects)}</div>
              <pre>${visible(tool.definition)}</pre></li>`)}</ul>
          ${problems.length ? html`<div><strong>${t('approval.hostLeftOut')}</strong>${problems.map((problem) => html`<pre>${visible(problem)}</pre>`)}</div>` : nothing}
        </div>
      </details>`;
  }

  /** @param {Event} event */
  _choose(event) {
    const box = /** @type {HTMLInputElement} */ (event.target);
    if (event.isTrusted) this._chats = box.checked;
    else box.checked = this._chats;
  }

  /** @param {CustomEvent<{approved: boolean}>} event */
  async _decide({detail: {approved}}) {
    const {pairingId} = /** @type {WaitingHost} */ (this.waits);
    this._isBusy = true;
    let failure = null;
    try {
      await client.post(`/api/host-pairings/${encodeURIComponent(pairingId)}/decision`, {accept: approved, chats: approved && this._chats});
    } catch (error) {
      failure = error;
    } finally {
      this._isBusy = false;
    }
    this.dispatchEvent(new CustomEvent('ac-settled', {detail: {error: failure, accepted: approved}}));
  }
}

/** Render the effects of tools, each once; an unknown effect is shown as it is. @param {string[]} given */
function effects(given) {
  const known = EFFECTS.filter((effect) => given.includes(effect));
  const others = [...new Set(given)].filter((effect) => !EFFECTS.includes(/** @type {Effect} */ (effect)));
  return html`<ac-tool-effects .effects=${known}></ac-tool-effects>${others.length ? html`<span class="badge danger">${visibleLine(formatList(others)).parts}</span>` : nothing}`;
}

customElements.define('ac-approval-host', AcApprovalHost);
