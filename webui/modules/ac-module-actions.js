import {LitElement, css, html, nothing} from 'lit';
import {client} from '../client/client.js';
import {Localized, t} from '../base/i18n.js';
import {href} from '../base/router.js';
import {base, buttons} from '../ui/styles.js';
import {toast, toastError} from '../ui/toasts.js';
import '../ui/ac-icon.js';
import {toolList} from '../client/tool-list.js';

/** @typedef {'enable' | 'disable' | 'reload'} Action */

const ICONS = {enable: 'play', disable: 'power', reload: 'refresh-cw'};

/**
 * Actions of a module. Enabling it and reloading changed code are confirmed in the approval view; opening its page, disabling it
 * and other reloads happen at once. `compact`: small and quiet, for lists.
 */
export class AcModuleActions extends Localized(LitElement) {
  static properties = {
    module: {attribute: false},
    isCompact: {type: Boolean, attribute: 'compact'},
    _running: {state: true},
  };

  static styles = [base, buttons, css`:host { display: flex; flex-wrap: wrap; gap: var(--ac-space-2); }`];

  constructor() {
    super();
    /** @type {import('../client/module-list.js').Module | null} */
    this.module = null;
    this.isCompact = false;
    /** @type {Action | ''} */
    this._running = '';
  }

  render() {
    if (!this.module) return nothing;
    const {listed, state, component, name} = this.module;
    const isUp = listed || state === 'ready';
    return html`
      ${component && state === 'ready' && !this.isCompact ? html`
        <a class="button" href=${href(['pages', name])}><ac-icon name="app-window"></ac-icon>${t('modules.open')}</a>` : nothing}
      ${isUp ? this._button('reload') : nothing}
      ${isUp ? this._button('disable') : this._button('enable')}`;
  }

  /** @param {Action} action */
  _button(action) {
    const module = /** @type {import('../client/module-list.js').Module} */ (this.module);
    const isRunning = this._running === action;
    const isBusy = this._running !== '' || module.state === 'stopping' || module.state === 'loading';
    const look = action === 'enable' && !this.isCompact ? 'primary' : '';
    return html`
      <button class="${this.isCompact ? 'small quiet' : ''} ${look}" ?disabled=${isBusy} aria-busy=${isRunning}
        aria-label=${t(`modules.${action}Named`, {name: toolList.saidOf(module).title})} @click=${() => this._run(action)}>
        <ac-icon name=${isRunning ? 'loader-circle' : ICONS[action]}></ac-icon>${t(`modules.${action}`)}
      </button>`;
  }

  /** @param {Action} action */
  async _run(action) {
    const module = /** @type {import('../client/module-list.js').Module} */ (this.module);
    const {name} = module;
    this._running = action;
    try {
      const ended = action === 'enable' ? 0 : await this._callsIn(name);
      await client.post(`/api/modules/${encodeURIComponent(name)}/${action}`);
      if (ended) toast(t('modules.callsEnded', {n: ended}), {kind: 'info'});
    } catch (error) {
      const waits = /** @type {import('../client/client.js').ApiError} */ (error).type === 'confirmation_required';
      if (waits) toast(t('approval.waits'), {detail: t('approval.waitsText')});
      else toastError(t(`modules.${action}Failed`, {name: toolList.saidOf(module).title}), error);
    } finally {
      this._running = '';
    }
  }

  /** Return how many calls in flight the action would end. @param {string} name @returns {Promise<number>} */
  async _callsIn(name) {
    return (await client.get(`/api/modules/${encodeURIComponent(name)}`)).callsInFlight;
  }
}

customElements.define('ac-module-actions', AcModuleActions);
