import {LitElement, css, html, nothing} from 'lit';
import {repeat} from 'lit/directives/repeat.js';
import {Localized, formatTime, t} from '../../base/i18n.js';
import {Listening} from '../../base/subscriptions.js';
import {href} from '../../base/router.js';
import {SteadyItems} from '../../base/steady-items.js';
import {badges, base, buttons, cards} from '../../ui/styles.js';
import '../../ui/ac-empty.js';
import '../../ui/ac-error-card.js';
import '../../ui/ac-icon.js';
import {deciderText} from '../../tools/decider-text.js';
import {visible, visibleText} from '../guard/visible-text.js';
import {callsText} from './grant-text.js';
import {grantList} from './grant-list.js';

const TONES = {allow: 'ok', ask: 'warn', deny: 'danger'};

/** What runs without asking because the user allowed it along with an approval, and the rules of app.json. */
export class AcGrants extends Localized(LitElement) {
  static styles = [badges, base, buttons, cards, css`
    .content { display: grid; grid-template-columns: minmax(0, 1fr); gap: var(--ac-space-4); }
    p { max-width: 42rem; }
    li { display: flex; flex-wrap: wrap; gap: var(--ac-space-2) var(--ac-space-3); align-items: center; padding: var(--ac-space-3) var(--ac-space-4); }
    li + li { border-top: 1px solid var(--ac-border); }
    .about { flex: 1 1 16rem; display: grid; gap: var(--ac-space-1); min-width: 0; overflow-wrap: anywhere; }
    .about > span { font-weight: var(--ac-weight-medium); }
    .facts { display: flex; flex-wrap: wrap; gap: var(--ac-space-1) var(--ac-space-3); color: var(--ac-text-muted); font-size: var(--ac-text-s); }
    .facts span { min-width: 0; overflow-wrap: anywhere; }
  `];

  constructor() {
    super();
    // a new grant is the first one
    new SteadyItems(this, () => this.renderRoot.querySelectorAll('li[data-id]'));
    new Listening(this, () => {
      void grantList.load();
      return [grantList.subscribe(() => this.requestUpdate())];
    });
  }

  render() {
    const {grants, rules, isLoaded, error} = grantList;
    return html`
      <div class="content">
        <p class="muted">${t('approval.grants.text')}</p>
        ${error && !isLoaded ? html`
          <ac-error-card heading=${t('approval.grants.notLoaded')} .error=${error}>
            <button slot="actions" @click=${() => grantList.load()}>${t('ui.again')}</button>
          </ac-error-card>` : nothing}
        ${isLoaded ? this._renderGrants(grants) : nothing}
        ${isLoaded && rules.length ? this._renderRules(rules) : nothing}
      </div>`;
  }

  /** @param {import('./grant-list.js').Grant[]} grants */
  _renderGrants(grants) {
    if (!grants.length) return html`<div class="card"><ac-empty icon="shield" heading=${t('approval.grants.none')}>${t('approval.grants.noneText')}</ac-empty></div>`;
    return html`<ul class="card" aria-label=${t('approval.grants.heading')}>${repeat(grants, ({id}) => id, (grant) => this._renderGrant(grant))}</ul>`;
  }

  /** @param {import('./grant-list.js').Grant} grant */
  _renderGrant(grant) {
    const {scope, caller, lastUsedAt, grantedAt, grantedBy} = grant;
    const what = callsText(grant.tool, grant.arguments);
    return html`
      <li data-id=${grant.id}>
        <div class="about">
          <span>${visible(what)}</span>
          <div class="facts">
            <span class="badge ${scope === 'always' ? 'warn' : ''}">${t(`approval.grants.scope.${scope}`)}</span>
            <span>${t('approval.grants.givenAt', {time: formatTime(grantedAt, {seconds: false}), by: deciderText(grantedBy)})}</span>
            ${caller === 'chat' ? html`<span>${this._renderChat(grant)}</span>` : html`<span>${t('approval.grants.callers', {caller})}</span>`}
            <span>${lastUsedAt ? t('approval.grants.used', {time: formatTime(lastUsedAt, {seconds: false})}) : t('approval.grants.unused')}</span>
            <span>${t(scope === 'always' ? 'approval.grants.neverExpires' : 'approval.grants.expiresWithChat')}</span>
          </div>
        </div>
        <button class="small danger" aria-label=${t('approval.grants.revokeNamed', {what: visibleText(what)})} @click=${() => grantList.revoke(grant.id)}>${t('approval.revoke')}</button>
      </li>`;
  }

  /** Render the chat in which it was given. @param {import('./grant-list.js').Grant} grant */
  _renderChat({givenIn, sessionId, givenTitle}) {
    if (givenTitle === null) return t('approval.grants.chatGone');
    return html`<a href=${href(['chats', givenIn || sessionId || ''])}>${givenTitle ? t('approval.inChat', {name: givenTitle}) : t('approval.grants.untitled')}</a>`;
  }

  /** @param {import('./grant-list.js').Rule[]} rules */
  _renderRules(rules) {
    return html`
      <h3>${t('approval.grants.rules')}</h3>
      <p class="muted">${t('approval.grants.rulesText')} <a href=${href(['settings'])}>${t('approval.grants.rulesChange')}</a></p>
      <ul class="card">${rules.map(({decision, reason, place, criteria}) => html`
        <li>
          <span class="badge ${TONES[decision]}">${t(`approval.grants.decision.${decision}`)}</span>
          <div class="about"><span>${visible(callsText(criteria.tool ?? '*', criteria))}</span><div class="facts"><code>${place}</code>${reason ? html`<span>${reason}</span>` : nothing}</div></div>
        </li>`)}</ul>`;
  }
}

customElements.define('ac-grants', AcGrants);
